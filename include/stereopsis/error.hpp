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

// An exception whose message is one full sentence, which states the fault with its value, the allowed values, and the
// remedy.
class Error : public std::runtime_error {
 public:
  // `sentence` is the complete message.
  Error(ErrorCategory category, const std::string& sentence) : std::runtime_error(sentence), category_(category) {}

  // The kind of the error, for programs; what() returns the sentence for users.
  ErrorCategory category() const { return category_; }

 private:
  ErrorCategory category_;
};

}  // namespace stereopsis
