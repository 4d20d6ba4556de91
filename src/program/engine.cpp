// The engines whose stages the calling thread is running.
#include "program/engine.hpp"

namespace stereopsis {

thread_local const Engine::Running* Engine::Running::innermost = nullptr;

bool Engine::runs_here() const {
  for (const Running* r = Running::innermost; r != nullptr; r = r->outer_)
    if (&r->engine_ == this) return true;
  return false;
}

}  // namespace stereopsis
