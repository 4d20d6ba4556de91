#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"
#include "io/pictures.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_tiff(io::FileBytes(fuzz::bytes(data, size))).image); });
  return 0;
}

// A little-endian TIFF with the given tags, each one short or long, and after them 256 bytes of data at offset 8.
static std::string tiff_with(std::vector<std::pair<std::uint16_t, std::uint32_t>> tags) {
  std::string file("II*\0", 4);
  const auto put = [&](auto value) { io::append(file, value, std::endian::little); };
  put(std::uint32_t{8 + 256});
  file.append(256, '\x40');
  put(static_cast<std::uint16_t>(tags.size()));
  for (const auto& [tag, value] : tags) {
    put(tag);
    put(std::uint16_t{4});
    put(std::uint32_t{1});
    put(value);
  }
  put(std::uint32_t{0});
  return file;
}

std::vector<std::string> fuzz_seeds() {
  return {
      io::encode_tiff(Image<std::uint8_t>({7, 5}, 3, 9)), io::encode_tiff(Image<std::uint16_t>({3, 4}, 1, 999)),
      io::encode_tiff(Image<float>({5, 2}, 1, 0.5F)),
      // One 16×16 tile of a 13×11 image; LZW and PackBits strips.
      tiff_with(
          {{256, 13}, {257, 11}, {258, 8}, {259, 1}, {262, 1}, {277, 1}, {322, 16}, {323, 16}, {324, 8}, {325, 256}}),
      tiff_with({{256, 13}, {257, 11}, {258, 8}, {259, 5}, {262, 0}, {273, 8}, {277, 1}, {278, 11}, {279, 256}}),
      tiff_with({{256, 13}, {257, 5}, {258, 8}, {259, 32773}, {262, 1}, {273, 8}, {277, 1}, {278, 5}, {279, 256}})};
}
