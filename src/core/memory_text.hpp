// Formats amounts of memory for error messages.
#pragma once

#include <cstddef>
#include <string>

namespace stereopsis {

// Formats `bytes` as in "1.4 MiB" or, below 0.1 MiB, in bytes. A needed amount of memory is rounded up, and an
// available amount is rounded down.
std::string needed_memory(std::size_t bytes);
std::string given_memory(std::size_t bytes);

}  // namespace stereopsis
