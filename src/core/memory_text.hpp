// Amounts of memory, as errors tell them.
#pragma once

#include <cstddef>
#include <string>

namespace stereopsis {

// "1.4 MiB", rounded up for memory that is needed, down for memory that there is; below 0.1 MiB in bytes.
std::string needed_memory(std::size_t bytes);
std::string given_memory(std::size_t bytes);

}  // namespace stereopsis
