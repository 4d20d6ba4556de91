// Tokeniser for the text headers of PNM and PFM: tokens between white space and comments.
#pragma once

#include <string_view>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {

class Tokens {
 public:
  Tokens(const char* format, std::string_view text) : format_(format), rest_(text) {}

  // Returns the next token. If there is no token, throws an error. The error states that `what` was expected.
  std::string_view next(const char* what) {
    skip_space();
    std::size_t length = 0;
    while (length < rest_.size() && !is_space(rest_[length]) && rest_[length] != '#') ++length;
    if (length == 0)
      throw Error(ErrorCategory::format, text("the ", format_, " file ends before the ", what, "; it is cut off"));
    const std::string_view token = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return token;
  }

  int integer(const char* what, int low, int high) {
    const std::string_view token = next(what);
    const auto value = parse_number<int>(token);
    if (!value || *value < low || *value > high)
      throw Error(ErrorCategory::format, text("the ", what, " of the ", format_, " file is '", printable(token),
                                              "'; it must be an integer from ", low, " to ", high));
    return *value;
  }

  // Returns the data after the single white-space character at the end of a header.
  std::string_view data() const { return rest_.substr(rest_.empty() ? 0 : 1); }

  // Returns at most `most` characters of a token, with unprintable characters replaced.
  static std::string printable(std::string_view token, std::size_t most = 20) {
    std::string shown(token.substr(0, most));
    for (char& c : shown)
      if (c < ' ' || c > '~') c = '?';
    return shown;
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  void skip_space() {
    while (!rest_.empty() && (is_space(rest_.front()) || rest_.front() == '#')) {
      const std::size_t length = rest_.front() == '#' ? rest_.find('\n') : 1;
      rest_.remove_prefix(std::min(length, rest_.size()));
    }
  }

  const char* format_;
  std::string_view rest_;
};

}  // namespace stereopsis::io
