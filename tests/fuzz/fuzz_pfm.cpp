#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_pfm(fuzz::bytes(data, size))); });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {io::encode_pfm(Image<float>({7, 5}, 1, 1.5F)), io::encode_pfm(Image<float>({3, 4}, 3, -2.0F)),
          std::string("Pf\n2 1\n1.0\n\x3f\x80\0\0\x7f\x80\0\0", 19)};
}
