#include "fused/support_weight_wta/support_weight_wta.hpp"

#include "support/targets.hpp"
#include "support/volumes.hpp"

namespace stereopsis::support_weight_wta_test {
namespace {

using namespace test;

constexpr std::uint32_t dim = 0x7F << 2 | 0x1F << 12 | 0x1F << 22;  // bits for words with similar colours

struct Case {
  Size size;
  int disparities, min_disparity;
  bool masked = false, everything = false;
  wta::Parameters select{.border_candidates = true};
};

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const Size size : awkward_sizes) cases.push_back({size, 9, 0});
  cases.push_back({{67, 13}, 1, 0});
  cases.push_back({{67, 13}, 37, -11, true, true});
  cases.push_back({{70, 9}, 20, 60});
  cases.push_back({{67, 13}, 21, 3, false, true, {.subpixel = wta::Subpixel::parabola, .uniqueness = 10}});
  return cases;
}

struct Inputs {
  explicit Inputs(const Case& c)
      : rgb_left(random_words(c.size, 1, 0x1F1F1F)),
        rgb_right(random_words(c.size, 2, 0x1F1F1F)),
        lab_left(random_words(c.size, 3, dim)),
        lab_right(random_words(c.size, 4, dim)),
        mask(random_image<std::uint8_t>(c.size, 5, 0, 3)) {}
  support_weight_wta::Input input(const Case& c) const {
    const auto usable = c.masked ? ImageView<const std::uint8_t>(mask) : ImageView<const std::uint8_t>();
    return {rgb_left, rgb_right, lab_left, lab_right, {c.min_disparity, usable, usable}, c.disparities};
  }
  Image<std::uint32_t> rgb_left, rgb_right, lab_left, lab_right;
  Image<std::uint8_t> mask;
};

struct Results {
  explicit Results(const Case& c)
      : disparity(c.size), right(c.size), confidence(c.size), validity(c.size), everything(c.everything) {}
  wta::Output output() {
    return {disparity.view(), validity.view(), everything ? right.view() : ImageView<float>(),
            everything ? confidence.view() : ImageView<float>()};
  }
  void expect_same(const Results& expected) const {
    EXPECT_TRUE(same_bits(disparity.view(), expected.disparity.view()));
    EXPECT_TRUE(same_bits(validity.view(), expected.validity.view()));
    if (!everything) return;
    EXPECT_TRUE(same_bits(right.view(), expected.right.view()));
    EXPECT_TRUE(same_bits(confidence.view(), expected.confidence.view()));
  }
  Image<float> disparity, right, confidence;
  Image<std::uint8_t> validity;
  bool everything;
};

void expect_cpu_equals_oracle(const support_weight_wta::Aggregation& aggregation, const Case& c) {
  SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << "x" << c.disparities << " from "
                                  << c.min_disparity);
  const support_weight_wta::Parameters p{{}, aggregation, c.select};
  const Inputs inputs(c);
  Results expected(c);
  support_weight_wta::oracle(p, inputs.input(c), expected.output());
  for_each_engine([&](Threads& threads) {
    std::vector<std::byte> memory(support_weight_wta::workspace_bytes(p, c.size, c.disparities, threads.count()) + 64);
    std::byte* const start = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
    for (const int poison : {0xA5, 0xFF}) {
      std::fill(memory.begin(), memory.end(), static_cast<std::byte>(poison));
      Results got(c);
      support_weight_wta::cpu(p, inputs.input(c), got.output(), {start, memory.size() - 64}, threads);
      got.expect_same(expected);
    }
  });
}

TEST(SupportWeightWta, EsawOnTheCpuEqualsTheOracles) {
  for (const Case& c : cases())
    for (const esaw::Parameters& p :
         {esaw::Parameters{}, esaw::Parameters{.iterations = 1}, esaw::Parameters{.iterations = 4, .base = 7},
          esaw::Parameters{.iterations = 7, .base = 1.9, .normalise = esaw::Normalise::end}})
      expect_cpu_equals_oracle(p, c);
}

TEST(SupportWeightWta, TwoPassesOnTheCpuEqualTheOracles) {
  for (const Case& c : cases())
    for (const int window : {1, 7, 33, 63}) expect_cpu_equals_oracle(asw_separable::Parameters{.window = window}, c);
}

TEST(SupportWeightWta, TheFullWindowOnTheCpuEqualsTheOracles) {
  for (Case c : cases()) {
    c.size = {std::min(c.size.width, 40), std::min(c.size.height, 7)};
    for (const int window : {1, 5}) expect_cpu_equals_oracle(asw::Parameters{.window = window}, c);
  }
  expect_cpu_equals_oracle(asw::Parameters{.window = 19}, {{35, 5}, 5, -1});
}

}  // namespace
}  // namespace stereopsis::support_weight_wta_test
