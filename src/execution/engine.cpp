// Keeps track of the engines whose stages the calling thread is running.
#include "execution/engine.hpp"

namespace stereopsis {

thread_local const Engine::Running* Engine::Running::innermost = nullptr;

void add_work(StageTime& time, const Work& work) {
  time.bytes += work.bytes;
  time.path_operations += work.path_ops;
  time.popcounts += work.popcounts;
  time.operations += work.int_ops;
}

bool Engine::runs_here() const {
  for (const Running* r = Running::innermost; r != nullptr; r = r->outer_)
    if (&r->engine_ == this) return true;
  return false;
}

}  // namespace stereopsis
