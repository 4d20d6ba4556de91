#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"

using namespace stereopsis;

static std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

// Makes the checksums of all chunks right: else nearly every changed input would be refused for them alone.
static std::string with_right_checksums(std::string file) {
  constexpr std::size_t signature = 8;
  for (std::size_t at = signature; at + 12 <= file.size();) {
    const auto length = io::load<std::uint32_t>(io::bytes_of(file).data() + at, std::endian::big);
    if (length > file.size() - at - 12) break;
    std::string crc;
    io::append(crc, crc32(std::string_view(file).substr(at + 4, 4 + length)), std::endian::big);
    file.replace(at + 8 + length, 4, crc);
    at += 12 + length;
  }
  return file;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string repaired = with_right_checksums({reinterpret_cast<const char*>(data), size});
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_png(fuzz::bytes(data, size)).image); });
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_png(io::bytes_of(repaired)).image); });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  Image<std::uint8_t> ramp({19, 21}, 3, 0);
  for (int y = 0; y < ramp.height(); ++y)
    for (int i = 0; i < ramp.width() * 3; ++i) ramp.row(y)[i] = static_cast<std::uint8_t>(4 * i + 7 * y);
  const std::string grey = io::encode_png(Image<std::uint8_t>({9, 3}, 1, 77));
  std::string interlaced = grey;
  interlaced[28] = 1;
  std::string two_bits = grey;
  two_bits[24] = 2;
  return {io::encode_png(ramp), grey, io::encode_png(Image<std::uint16_t>({3, 4}, 1, 999)),
          with_right_checksums(interlaced), with_right_checksums(two_bits)};
}
