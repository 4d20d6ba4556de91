#include "fuzz/fuzz.hpp"
#include "stereopsis/io.hpp"

using namespace stereopsis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string json(reinterpret_cast<const char*>(data), size);
  fuzz::expect_result_or_refusal([&] { to_json(pipeline_from_json(json)); });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  return {to_json(Pipeline("sgm")), to_json(Pipeline("banz-sgm")),
          R"({"method": "mine", "cost": {"stage": "rank", "window": [1, 2.5e1]}, "median": {"enabled": false}})",
          "[[[[{}]]]]"};
}
