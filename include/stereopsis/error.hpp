// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

namespace stereopsis {

// What kind of thing went wrong.
enum class ErrorCategory {
  call,         // the caller asked for something that is not allowed: a parameter, a size, a name
  file,         // a file can't be opened, read or written
  format,       // a file's contents are not what its format requires
  unsupported,  // a correct request that this build or this machine can't serve
  memory,       // not enough memory, on the host or on a device
  device,       // a device failed or went away
};

// Its message is one full sentence: what, which value, what is allowed, what to do.
class Error : public std::runtime_error {
 public:
  // With the whole sentence.
  Error(ErrorCategory category, const std::string& sentence) : std::runtime_error(sentence), category_(category) {}

  ErrorCategory category() const { return category_; }  // for programs; what() is for people

 private:
  ErrorCategory category_;
};

}  // namespace stereopsis
