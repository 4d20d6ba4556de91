#include "c/guard.hpp"

#include <cstring>

namespace stereopsis::c {
namespace {

std::string& last_error() {
  thread_local std::string sentence;
  return sentence;
}

// A sentence for which there is no memory is cut.
void keep(const char* sentence) noexcept {
  try {
    last_error() = sentence;
  } catch (const std::bad_alloc&) {
    last_error().assign(sentence, std::min(std::strlen(sentence), last_error().capacity()));
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
    keep("the memory of the host is not enough; match smaller images or regions, or set a memory limit");
    return SP_ERROR_MEMORY;
  } catch (const std::exception& error) {
    keep(error.what());
    return SP_ERROR_INTERNAL;
  } catch (...) {
    keep("something was thrown that is no error");
    return SP_ERROR_INTERNAL;
  }
}

}  // namespace stereopsis::c

using namespace stereopsis;

const char* sp_last_error(void) { return c::last_error().c_str(); }

const char* sp_status_name(sp_status status) {
  static constexpr const char* names[] = {"SP_OK",           "SP_ERROR_CALL",        "SP_ERROR_FILE",
                                          "SP_ERROR_FORMAT", "SP_ERROR_UNSUPPORTED", "SP_ERROR_MEMORY",
                                          "SP_ERROR_DEVICE", "SP_ERROR_INTERNAL"};
  return status >= SP_OK && status <= SP_ERROR_INTERNAL ? names[status] : "unknown";
}

int32_t sp_version_number(void) { return STEREOPSIS_VERSION_NUMBER; }
const char* sp_version(void) { return STEREOPSIS_VERSION; }
