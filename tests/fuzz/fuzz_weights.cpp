#include "fuzz/fuzz.hpp"
#include "stages/learned_features/learned_features.hpp"

using namespace stereopsis;

namespace {

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 255);
  return text;
}

// A network of these widths, without its hash.
std::string network(const std::vector<unsigned>& widths) {
  std::string file = "STEREOLF" + number(1, 4) + number(widths.size(), 4), weights;
  unsigned before = 1;
  for (const unsigned width : widths) {
    file += number(before, 4) + number(width, 4) + number(6, 4);
    weights += std::string(std::size_t{4} * width, '\1') + std::string(std::size_t{9} * width * before, '\3');
    before = width;
  }
  return file + number(1000, 4) + number(4, 4) + number(200, 4) + weights;
}

}  // namespace

// The target appends the right hash, because changed files would otherwise be rejected before they are read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : file) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
  file += number(hash, 8);
  fuzz::expect_result_or_refusal([&] {
    const auto parsed = learned_features::parse(std::as_bytes(std::span(file)));
    static_cast<void>(learned_features::gpu_weights(parsed));
  });
  return 0;
}

std::vector<std::string> fuzz_seeds() { return {network({4}), network({8, 16}), network({2, 3, 5}), "STEREOLF"}; }
