// A fuzz target is one file: it defines LLVMFuzzerTestOneInput, which hands arbitrary bytes to one reader, and
// fuzz_seeds(), small valid inputs to start from. driver.cpp runs it in the test suite, with a fixed number of
// deterministic mutations. `./dev fuzz` searches without an end: it links the target with clang's libFuzzer, by the script
// for OSS-Fuzz (oss-fuzz/build.sh).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"
#include "stereopsis/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::vector<std::string> fuzz_seeds();

namespace stereopsis::fuzz {

// The number of inputs that were read, not rejected.
inline int results = 0;

// Calls a reader. It may succeed or refuse the input in one line; anything else it throws ends the program.
template <class Reader>
void expect_result_or_refusal(Reader&& reader) {
  try {
    reader();
    ++results;
  } catch (const Error& error) {
    const std::string sentence = error.what();
    const bool expected = error.category() == ErrorCategory::format || error.category() == ErrorCategory::unsupported ||
                          error.category() == ErrorCategory::call;
    if (!expected || sentence.empty() || sentence.find('\n') != std::string::npos) throw;
  }
}

// Reads every pixel: a tool that watches memory then finds those that were never written.
inline void touch(const AnyImageView& image) {
  with_pixels(image, [](auto pixels) {
    double sum = 0;
    for (int y = 0; y < pixels.height; ++y)
      for (int i = 0; i < pixels.width * pixels.channels; ++i) sum += static_cast<double>(pixels.row(y)[i]);
    volatile double sink = sum;
    static_cast<void>(sink);
  });
}

inline int write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int n = 0;
  for (const std::string& seed : fuzz_seeds())
    std::ofstream(folder / ("seed" + std::to_string(n++)), std::ios::binary) << seed;
  return 0;
}

inline std::span<const std::byte> bytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

}  // namespace stereopsis::fuzz
