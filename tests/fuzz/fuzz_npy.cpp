#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_npy(fuzz::bytes(data, size)).image); });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {io::encode_npy(Image<std::uint8_t>({7, 5}, 3, 9)), io::encode_npy(Image<std::uint16_t>({3, 4}, 1, 999)),
          io::encode_npy(Image<float>({5, 2}, 1, 0.5F))};
}
