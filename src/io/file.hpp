// Reads whole files with a size limit, and replaces files atomically.
#pragma once

#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {

// Limit of the size of a file. The largest accepted image, 2^28 float RGB pixels, fits in such a file.
inline constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 32;

// The mark with which some editors begin UTF-8 files.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string read_file(const std::filesystem::path& file, std::uintmax_t limit = largest_file);

// Writes to a temporary name next to the target and renames the file. A target that is not a regular file (a pipe, a
// device) is written directly.
void write_file(const std::filesystem::path& file, std::string_view contents);

// Returns the extension in lower case: ".png" for "LEFT.PNG".
std::string lower_extension(const std::filesystem::path& file);

// Calls f. Prepends the name of the file to the message of any error that f throws.
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
