#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_jpeg(fuzz::bytes(data, size))); });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  Image<std::uint8_t> ramp({19, 21}, 3, 0);
  for (int y = 0; y < ramp.height(); ++y)
    for (int i = 0; i < ramp.width() * 3; ++i) ramp.row(y)[i] = static_cast<std::uint8_t>(4 * i + 7 * y);
  return {io::encode_jpeg(ramp), io::encode_jpeg(Image<std::uint8_t>({9, 3}, 1, 77))};
}
