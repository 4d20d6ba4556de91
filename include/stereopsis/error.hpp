// The exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

namespace stereopsis {

// The kind of an error.
enum class ErrorCategory {
  call,         // the caller requested something that is not allowed: a parameter, a size, a name
  file,         // a file cannot be opened, read or written
  format,       // a file's contents violate its format
  unsupported,  // a valid request that this build or this machine does not support
  memory,       // not enough memory, on the host or on a device
  device,       // a device failed or was lost
};

// An exception whose message is one full sentence: what is wrong, with the value; what is allowed; what to do.
class Error : public std::runtime_error {
 public:
  // `sentence` is the complete message.
  Error(ErrorCategory category, const std::string& sentence) : std::runtime_error(sentence), category_(category) {}

  ErrorCategory category() const { return category_; }  // for programs; what() is for people

 private:
  ErrorCategory category_;
};

}  // namespace stereopsis
