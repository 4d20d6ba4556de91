// Helpers for file tests: a temporary folder, raw bytes, checks of errors.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>

#include "io/codecs.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    do path_ = std::filesystem::temp_directory_path() / ("stereopsis_test_" + std::to_string(random()));
    while (!std::filesystem::create_directory(path_));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::filesystem::path path() const { return path_; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path put(const std::filesystem::path& file, const std::string& contents) {
  std::ofstream(file, std::ios::binary) << contents;
  return file;
}

inline std::string get(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline bool contains(const std::string& s, const std::string& part) { return s.find(part) != std::string::npos; }

// Returns `s` with `to` in place of the first `from`, which must be there.
inline std::string replaced(std::string s, const std::string& from, const std::string& to) {
  const std::size_t at = s.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return s.replace(at, from.size(), to);
}

// Returns whether f throws an Error of this category whose message is one line that contains `part`.
inline testing::AssertionResult refuses(const std::function<void()>& f, ErrorCategory category,
                                        const std::string& part) {
  try {
    f();
  } catch (const Error& error) {
    const std::string sentence = error.what();
    if (error.category() != category)
      return testing::AssertionFailure() << "category " << static_cast<int>(error.category()) << ": " << sentence;
    if (sentence.find(part) == std::string::npos || sentence.find('\n') != std::string::npos)
      return testing::AssertionFailure() << "'" << sentence << "' is not one line with '" << part << "'";
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "nothing was thrown; expected '" << part << "'";
}

// Builds a PNG file by the specification, with data that is stored without compression.
class RawPng {
 public:
  RawPng(int width, int height, int depth, int colour_type, bool interlaced = false) {
    std::string header;
    io::append(header, static_cast<std::uint32_t>(width), std::endian::big);
    io::append(header, static_cast<std::uint32_t>(height), std::endian::big);
    header += {static_cast<char>(depth), static_cast<char>(colour_type), 0, 0, static_cast<char>(interlaced)};
    chunk("IHDR", header);
  }
  RawPng& chunk(const std::string& type, const std::string& data) {
    io::append(file_, static_cast<std::uint32_t>(data.size()), std::endian::big);
    file_ += type + data;
    io::append(file_, crc32(type + data), std::endian::big);
    return *this;
  }
  // Adds `rows`, each of which includes the filter byte before the row.
  std::string with(const std::string& rows) {
    std::string data = "\x78\x01\x01";
    io::append(data, static_cast<std::uint16_t>(rows.size()), std::endian::little);
    io::append(data, static_cast<std::uint16_t>(~rows.size()), std::endian::little);
    data += rows;
    std::uint32_t a = 1, b = 0;
    for (const char c : rows) {
      a = (a + static_cast<std::uint8_t>(c)) % 65521;
      b = (b + a) % 65521;
    }
    io::append(data, b << 16 | a, std::endian::big);
    chunk("IDAT", data).chunk("IEND", "");
    return file_;
  }

 private:
  static std::uint32_t crc32(const std::string& bytes) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (const char c : bytes) {
      crc ^= static_cast<std::uint8_t>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
  }

  std::string file_ = "\x89PNG\r\n\x1a\n";
};

}  // namespace stereopsis::test
