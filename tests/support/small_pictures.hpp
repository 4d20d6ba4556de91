// Pictures of 5×4 pixels in formats that are only read, for tests and fuzz targets. The channel values at (x, y) are
// 40x, 50y and 255 − 10xy. The values of the 12-bit picture are 200 (5y + x).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/codecs.hpp"

namespace stereopsis::test {

inline std::string from_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(16 * value(digits[i]) + value(digits[i + 1]));
  return bytes;
}

// Lossless file, written by libwebp 1.2.4.
inline std::string small_webp() {
  return from_hex(
      "5249464632000000574542505650384c260000002f04c00000993244f43f365184e87f1808b26dc6747fbe333483222448fc3f986a442e4c"
      "8107");
}

// Lossless file, written by OpenJPEG 2.5.0.
inline std::string small_jpeg2000_grey_12_bits() {
  return from_hex(
      "0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a70326800000016696864720000000400000005"
      "0001"
      "0b0700000000000f636f6c72010000000000110000009d6a703263ff4fff5100290000000000050000000400000000000000000000000500"
      "0000"
      "04000000000000000000010b0101ff52000c00000001000004040001ff5c00044060ff640025000143726561746564206279204f70656e4a"
      "5045"
      "472076657273696f6e20322e352e30ff90000a00000000002b0001ff93dfe06812150506824e394793584118af577bf681155d75d1e4a6fd"
      "043f"
      "ffd9");
}
inline std::string small_jpeg2000_rgb() {
  return from_hex(
      "0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a70326800000016696864720000000400000005"
      "0003"
      "070700000000000f636f6c7201000000000010000000bf6a703263ff4fff51002f0000000000050000000400000000000000000000000500"
      "0000"
      "0400000000000000000003070101070101070101ff52000c00000001000004040001ff5c00044040ff640025000143726561746564206279"
      "204f"
      "70656e4a5045472076657273696f6e20322e352e30ff90000a0000000000470001ff93df80681163f556f505b5205371f2380fdf80901287"
      "1eb5"
      "5e209ce28cb8f4ed51bd2301847fcfb444140045d46f1ca7d8c7fbb32758b54fad5fffd9");
}

// A bitmap with the information header of 40 bytes. `palette` has 4 bytes per colour: blue, green, red, 0. Rows are
// stored from the bottom to the top. If `height` is negative, rows are stored from the top to the bottom.
inline std::string bitmap(int width, int height, int bits, const std::string& palette, const std::string& rows,
                          std::uint32_t compression = 0) {
  std::string file = "BM";
  const auto add = [&file](auto value) { io::append(file, value, std::endian::little); };
  const auto start = static_cast<std::uint32_t>(54 + palette.size());
  add(static_cast<std::uint32_t>(start + rows.size()));
  add(std::uint32_t{0});
  add(start);
  add(std::uint32_t{40});
  add(static_cast<std::int32_t>(width));
  add(static_cast<std::int32_t>(height));
  add(std::uint16_t{1});
  add(static_cast<std::uint16_t>(bits));
  add(compression);
  for (int i = 0; i < 3; ++i) add(std::uint32_t{0});
  add(static_cast<std::uint32_t>(palette.size() / 4));
  add(std::uint32_t{0});
  return file + palette + rows;
}

}  // namespace stereopsis::test
