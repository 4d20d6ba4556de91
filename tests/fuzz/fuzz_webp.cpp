#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"
#include "support/small_pictures.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_webp(fuzz::bytes(data, size))); });
  return 0;
}

std::vector<std::string> fuzz_seeds() { return {test::small_webp()}; }
