#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"
#include "support/small_pictures.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_bmp(fuzz::bytes(data, size))); });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {test::bitmap(3, 2, 8, std::string(1024, 7), "abcdefgh"), test::bitmap(3, -2, 24, "", std::string(24, 7)),
          test::bitmap(9, 2, 1, std::string(8, 7), "abcdefgh"), test::bitmap(2, 1, 32, "", "abcdefgh")};
}
