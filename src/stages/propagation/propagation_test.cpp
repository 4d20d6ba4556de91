#include "stages/propagation/propagation.hpp"

#include "support/devices.hpp"
#include "support/threads.hpp"

namespace stereopsis {
namespace {

using namespace test;

struct Maps {
  Maps(const Map& map, ImageView<const std::uint32_t> words)
      : colours(words),
        disparity(map.disparity.view()),
        between(map.disparity.size()),
        scratch(map.disparity.size()),
        validity(map.validity.view()) {}
  propagation::MapsOf<ImageView> view() {
    return {colours.view(), disparity.view(), between.view(), scratch.view(), validity.view()};
  }

  PitchedImage<std::uint32_t> colours;
  PitchedImage<float> disparity, between, scratch;
  PitchedImage<std::uint8_t> validity;
};

void expect_same(Maps& got, Maps& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
  EXPECT_TRUE(got.disparity.guard_intact() && got.between.guard_intact() && got.scratch.guard_intact() &&
              got.validity.guard_intact());
}

template <class F>
void for_each_case(F&& f) {
  for (const Size size : awkward_sizes)
    for (const propagation::Parameters p : {propagation::Parameters{2, 2}, {3, 4}, {4, 1020}}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", reliability " << p.reliability);
      const Map map = random_map(size, 4, 0, 1, 15);
      const Image<std::uint32_t> words = random_image<std::uint32_t>(size, 6, 0, 3);
      Maps expected(map, words);
      propagation::oracle(p, expected.view());
      f(p, map, words, expected);
    }
}

TEST(Propagation, CpuEqualsOracle) {
  for_each_case([](const auto& p, const Map& map, const auto& words, Maps& expected) {
    for_each_thread_count([&](Threads& threads) {
      Maps got(map, words);
      propagation::cpu(p, got.view(), threads);
      expect_same(got, expected);
    });
  });
}

TEST(Propagation, GpuEqualsOracle) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for_each_case([&](const auto& p, const Map& map, const auto& words, Maps& expected) {
      Maps got(map, words);
      OnDevice<std::uint32_t> colours(device, queue, got.colours);
      OnDevice<float> disparity(device, queue, got.disparity), between(device, queue, got.between),
          scratch(device, queue, got.scratch);
      OnDevice<std::uint8_t> validity(device, queue, got.validity);
      propagation::gpu(p, {colours, disparity, between, scratch, validity}, queue);
      for (auto* there : {&disparity, &between, &scratch}) there->download();
      validity.download();
      expect_same(got, expected);
    });
  });
}

TEST(PropagationOracle, SpreadsUpToAVariationAndTheLowerStays) {
  const float x = invalid_disparity;
  Image<std::uint32_t> words({12, 1}, 1, 100);
  words(9, 0) = words(10, 0) = words(11, 0) = 200;
  Maps maps(map_of({{7, 7, 7, 9, x, 5, 3, 3, 3, 1, x, 2}}), words);
  propagation::oracle({3, 5}, maps.view());
  const float expected[] = {7, 7, 7, 3, 3, 3, 3, 3, 3, 1, x, 2};
  for (int i = 0; i < 12; ++i)
    EXPECT_TRUE(maps.disparity.view()(i, 0) == expected[i] ||
                (std::isnan(expected[i]) && std::isnan(maps.disparity.view()(i, 0))))
        << i;
  EXPECT_EQ(maps.validity.view()(4, 0), validity::repaired);
  EXPECT_EQ(maps.validity.view()(10, 0), validity::no_candidate);
}

}  // namespace
}  // namespace stereopsis
