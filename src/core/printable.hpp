// Text of a file, a caller or a library that goes into a message.
#pragma once

#include <string>
#include <string_view>

namespace stereopsis {

// Returns the text with control characters (except line ends), characters that change the direction of text, and bytes
// that are not UTF-8 as \xNN.
std::string printable(std::string_view text);

}  // namespace stereopsis
