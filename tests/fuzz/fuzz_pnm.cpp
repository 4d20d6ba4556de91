#include "fuzz/fuzz.hpp"
#include "io/codecs.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const auto values : {io::Values::intensities, io::Values::codes})
    fuzz::expect_result_or_refusal([&] { fuzz::touch(io::decode_pnm(fuzz::bytes(data, size), values)); });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {io::encode_pnm(Image<std::uint8_t>({7, 5}, 3, 9)), io::encode_pnm({Image<std::uint16_t>({3, 4}, 1, 999), 10}),
          "P2 # grey\n3 2 15\n0 1 2\n13 14 15\n", "P3\n# colour\n2 1\n300\n0 1 2 298 299 300\n",
          "P5\n2 2\n1\n" + std::string("\0\1\1\0", 4)};
}
