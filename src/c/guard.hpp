// The wrapper of every function of the C interface, which converts exceptions to a status and a message.
#pragma once

#include <new>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "stereopsis.h"
#include "stereopsis/error.hpp"

namespace stereopsis::c {

[[noreturn]] inline void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

// Stores the message of the current exception for sp_last_error(), and returns its status.
sp_status status_of_current_error() noexcept;

template <class F>
sp_status guarded(F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return SP_OK;
  } catch (...) {
    return status_of_current_error();
  }
}

// Returns a reference to the variable for a result. Throws an Error if the pointer is null.
template <class T>
T& given(T* place, const char* name) {
  if (place == nullptr) refuse(text(name, " is null; pass the address of a variable for the result"));
  return *place;
}
inline const char* given_text(const char* s, const char* name) {
  if (s == nullptr) refuse(text(name, " is null; pass a string"));
  return s;
}

}  // namespace stereopsis::c
