// What every function of the C interface begins with: errors become a status and a sentence, and nothing is thrown to the caller.
#pragma once

#include <new>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "stereopsis.h"
#include "stereopsis/error.hpp"

namespace stereopsis::c {

[[noreturn]] inline void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

// Keeps the sentence of the error that is being handled for sp_last_error().
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

// Where a result of a call goes.
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
