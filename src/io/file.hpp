// Whole files: read with a limit, written whole or not at all.
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

// Room for the largest image that is read at all: 2^28 float RGB pixels.
inline constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 32;

std::string read_file(const std::filesystem::path& file, std::uintmax_t limit = largest_file);

// To a temporary name beside the target, then renamed; what is no regular file (a pipe, a device) is written directly.
void write_file(const std::filesystem::path& file, std::string_view contents);

// ".png" for "LEFT.PNG".
std::string lower_extension(const std::filesystem::path& file);

// Calls f; what it throws gets the file's name in front.
template <class F>
decltype(auto) naming(const std::filesystem::path& file, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.category(), text(file.string(), ": ", error.what()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCategory::memory, text(file.string(), ": there is not enough memory for this file"));
  }
}

}  // namespace stereopsis::io
