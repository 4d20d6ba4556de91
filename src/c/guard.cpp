#include "c/guard.hpp"

#include <algorithm>

#include "core/printable.hpp"

namespace stereopsis::c {
namespace {

// The message of a thread's last error, which sp_last_error() returns.
struct LastError {
  std::string kept;
  const char* sentence = "";
};
LastError& last_error() {
  thread_local LastError error;
  return error;
}

// Keeps a string literal, which needs no memory.
void keep_literal(const char* sentence) noexcept { last_error().sentence = sentence; }

void keep(const char* sentence) noexcept {
  LastError& last = last_error();
  try {
    last.kept = printable(sentence);
    std::replace(last.kept.begin(), last.kept.end(), '\n', ' ');  // A quoted value may have several lines.
    last.sentence = last.kept.c_str();
  } catch (...) {
    keep_literal("the call failed, and there is no memory for the message that says why; free memory and call again");
  }
}

sp_status status_of(ErrorCategory category) {
  switch (category) {
    case ErrorCategory::call: return SP_ERROR_CALL;
    case ErrorCategory::file: return SP_ERROR_FILE;
    case ErrorCategory::format: return SP_ERROR_FORMAT;
    case ErrorCategory::unsupported: return SP_ERROR_UNSUPPORTED;
    case ErrorCategory::memory: return SP_ERROR_MEMORY;
    case ErrorCategory::device: return SP_ERROR_DEVICE;
  }
  return SP_ERROR_INTERNAL;
}

}  // namespace

sp_status status_of_current_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    keep(error.what());
    return status_of(error.category());
  } catch (const std::bad_alloc&) {
    keep_literal("the host is out of memory; match smaller images or regions, or set a memory limit");
    return SP_ERROR_MEMORY;
  } catch (const std::exception& error) {
    keep(error.what());
    return SP_ERROR_INTERNAL;
  } catch (...) {
    keep_literal(
        "an object was thrown that is not a std::exception; report this, unless one of your functions threw it");
    return SP_ERROR_INTERNAL;
  }
}

}  // namespace stereopsis::c

using namespace stereopsis;

const char* sp_last_error(void) { return c::last_error().sentence; }

const char* sp_status_name(sp_status status) {
  static constexpr const char* names[] = {"SP_OK",           "SP_ERROR_CALL",        "SP_ERROR_FILE",
                                          "SP_ERROR_FORMAT", "SP_ERROR_UNSUPPORTED", "SP_ERROR_MEMORY",
                                          "SP_ERROR_DEVICE", "SP_ERROR_INTERNAL"};
  return status >= SP_OK && status <= SP_ERROR_INTERNAL ? names[status] : "unknown";
}

int32_t sp_version_number(void) { return STEREOPSIS_VERSION_NUMBER; }
const char* sp_version(void) { return STEREOPSIS_VERSION; }
