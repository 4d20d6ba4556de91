// Reads whole files with a size limit, and writes files completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {

// Size limit of a file: the largest image that is accepted, 2^28 float RGB pixels, fits in it.
inline constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 32;

std::string read_file(const std::filesystem::path& file, std::uintmax_t limit = largest_file);

// Writes to a temporary name next to the target and renames the file. A target that is not a regular file (a pipe, a
// device) is written directly.
void write_file(const std::filesystem::path& file, std::string_view contents);

// Returns the extension in lower case: ".png" for "LEFT.PNG".
std::string lower_extension(const std::filesystem::path& file);

// Calls f and prepends the file's name to the message of any error that f throws.
template <class F>
decltype(auto) naming(const std::filesystem::path& file, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.category(), text(file.string(), ": ", error.what()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCategory::memory,
                text(file.string(), ": there is not enough memory for this file; use a smaller file"));
  }
}

}  // namespace stereopsis::io
