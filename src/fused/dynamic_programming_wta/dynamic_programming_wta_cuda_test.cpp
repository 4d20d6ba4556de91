#include "stages/dynamic_programming/dynamic_programming.hpp"
#include "stages/wta/wta.hpp"
#include "support/cost_volumes.hpp"

namespace stereopsis::dynamic_programming_wta_cuda_test {
namespace {

using namespace test;

void expect_equals_oracles(const dynamic_programming::Parameters& p, Size size, int disparities, int most_cost,
                           gpu::Queue& queue, gpu::Device& device) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << "x" << disparities << ", p2 " << p.p2);
  constexpr int min_disparity = -5;
  const auto costs = random_volume<std::uint8_t>(size, disparities, 3, 0, most_cost);
  Volume<std::uint16_t> sums(size, disparities);
  Image<float> disparity(size);
  Image<std::uint8_t> validity(size);
  dynamic_programming::oracle(p, costs.view(), sums.view());
  wta::oracle({.border_candidates = true}, {min_disparity, {}, {}}, VolumeView<const std::uint16_t>(sums.view()),
              {disparity, validity, {}, {}});

  const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs.view());
  const gpu::Buffer kept = poisoned(device, queue, dynamic_programming::cuda_kept_bytes(size, disparities));
  ASSERT_TRUE(dynamic_programming::cuda_selects(p, disparities));
  for (int time = 0; time < 2; ++time) {
    PitchedImage<float> got(size);
    PitchedImage<std::uint8_t> got_validity(size);
    OnDevice<float> got_there(device, queue, got);
    OnDevice<std::uint8_t> got_validity_there(device, queue, got_validity);
    dynamic_programming::cuda_select(p, costs_there.volume(), min_disparity, got_there, got_validity_there, kept.span(),
                                     queue);
    got_there.download();
    got_validity_there.download();
    EXPECT_TRUE(same_bits(got.view(), disparity.view())) << "disparity, time " << time;
    EXPECT_TRUE(same_bits(got_validity.view(), validity.view())) << "validity, time " << time;
    EXPECT_TRUE(got.guard_intact() && got_validity.guard_intact());
  }
}

TEST(DynamicProgrammingWtaCuda, EqualsTheOracles) {
  for_each_tuned_gpu([](gpu::Queue& queue, gpu::Device& device) {
    const auto expect = [&](const dynamic_programming::Parameters& p, Size size, int disparities, int most_cost) {
      expect_equals_oracles(p, size, disparities, most_cost, queue, device);
    };
    for (const Size size : {Size{1, 1}, {1, 9}, {2, 3}, {9, 1}, {31, 7}, {130, 5}})
      for (const int disparities : {1, 2, 7, 37, 60, 64, 65, 126, 128, 129, 200, 256}) {
        expect({.p1 = 12, .p2 = 40}, size, disparities, 60);
        expect({.p1 = 255, .p2 = 255}, size, disparities, 255);
        expect({.p1 = 1, .p2 = 3}, size, disparities, 1);  // many ties
      }
  });
}

TEST(DynamicProgrammingWtaCuda, ServesPenaltiesOf8Bits) {
  EXPECT_TRUE(dynamic_programming::cuda_selects({.p1 = 1, .p2 = 255}, 256));
  EXPECT_FALSE(dynamic_programming::cuda_selects({.p1 = 1, .p2 = 256}, 256));
  EXPECT_FALSE(dynamic_programming::cuda_selects({.p1 = 1, .p2 = 255}, 257));
}

}  // namespace
}  // namespace stereopsis::dynamic_programming_wta_cuda_test
