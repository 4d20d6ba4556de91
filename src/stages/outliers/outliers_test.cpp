#include "stages/outliers/outliers.hpp"

#include "support/devices.hpp"
#include "support/threads.hpp"

namespace stereopsis::outliers_test {
namespace {

using namespace test;

constexpr float nan = invalid_disparity;

// Compares disparities, validity and kinds with those of the oracle.
template <class Device>
void expect_equal(const Map& input, const outliers::Parameters& p, const Image<float>& right, Device&& device) {
  Map expected = input;
  Image<std::uint8_t> kinds(input.disparity.size());
  outliers::oracle(p, right, {expected.disparity, expected.validity, kinds});
  for (int run = 0; run < 2; ++run) {
    PitchedImage<float> disparity(input.disparity.view());
    PitchedImage<std::uint8_t> validity(input.validity.view()), got(input.disparity.size());
    device(disparity, validity, got);
    EXPECT_TRUE(same_bits(disparity.view(), expected.disparity));
    EXPECT_TRUE(same_bits(validity.view(), expected.validity));
    EXPECT_TRUE(same_bits(got.view(), kinds));
    EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact() && got.guard_intact());
  }
}

TEST(Outliers, DevicesEqualOracle) {
  for (const Size size : awkward_sizes)
    for (const double threshold : {0.0, 1.5}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", threshold " << threshold);
      const outliers::Parameters p{threshold};
      const Map map = random_map(size, 1, -2, 6, 20);
      PitchedImage<float> right(random_map(size, 2, -2, 6, 20).disparity.view());
      if (size.width > 5) right.view()(3, 0) = std::numeric_limits<float>::infinity();
      const Image<float> right_map{ImageView<const float>(right.view())};
      for_each_thread_count([&](Threads& threads) {
        expect_equal(map, p, right_map, [&](auto& disparity, auto& validity, auto& kinds) {
          outliers::cpu(p, right, {disparity, validity, kinds}, threads);
        });
      });
      for (gpu::Device* device : gpu::usable_devices()) {
        SCOPED_TRACE(device->name());
        const auto queue = device->make_queue();
        const OnDevice<float> right_there(*device, *queue, right);
        expect_equal(map, p, right_map, [&](auto& disparity, auto& validity, auto& kinds) {
          OnDevice<float> disparity_there(*device, *queue, disparity);
          OnDevice<std::uint8_t> validity_there(*device, *queue, validity), kinds_there(*device, *queue, kinds);
          outliers::gpu(p, right_there, {disparity_there, validity_there, kinds_there}, *queue);
          disparity_there.download();
          validity_there.download();
          kinds_there.download();
        });
      }
    }
  if (gpu::usable_devices().empty())
    GTEST_SKIP() << "on the processor alone; no GPU: " << gpu::cuda_devices().reason << "; "
                 << gpu::opencl_devices().reason;
}

TEST(OutliersOracle, TellsOcclusionsFromMismatches) {
  Map map = map_of({{nan, 1, 3, 1, 1}});
  const Map right = map_of({{1, nan, 1, 1, nan}});  // these right pixels correspond to the left pixels 1, 3 and 4
  Image<std::uint8_t> kinds(5, 1);
  outliers::oracle({}, right.disparity, {map.disparity, map.validity, kinds});
  EXPECT_EQ(kinds(0, 0), outliers::occluded);  // the pixel was invalid, and no right pixel corresponds to the pixel
  EXPECT_EQ(kinds(1, 0), outliers::reliable);
  EXPECT_EQ(kinds(2, 0), outliers::occluded);  // 2 − 3 is outside
  EXPECT_EQ(kinds(3, 0), outliers::reliable);
  EXPECT_EQ(kinds(4, 0), outliers::reliable);
  EXPECT_TRUE(std::isnan(map.disparity(2, 0)));
  EXPECT_EQ(map.validity(2, 0), validity::left_right);
  EXPECT_EQ(map.validity(0, 0), validity::no_candidate);

  map = map_of({{1, 1, 1, 2}});
  outliers::oracle({}, map_of({{nan, 0, 1, nan}}).disparity,
                   {map.disparity, map.validity, kinds.view().crop({0, 0, 4, 1})});
  EXPECT_EQ(kinds(1, 0), outliers::mismatched);  // right pixel 1 corresponds to the pixel, but has another disparity
  EXPECT_EQ(kinds(3, 0), outliers::mismatched);
  EXPECT_EQ(kinds(2, 0), outliers::occluded);
}

TEST(OutliersParameters, TheThresholdHasAnEffectAndSizesMustAgree) {
  const Map left = map_of({{0, 1, 1.5f}});
  const Map right = map_of({{1, 1, 1}});
  Image<std::uint8_t> kinds(3, 1);
  for (const double threshold : {0.0, 1.0}) {
    Map map = left;
    outliers::oracle({threshold}, right.disparity, {map.disparity, map.validity, kinds});
    EXPECT_EQ(std::isnan(map.disparity(2, 0)), threshold == 0);
  }
  Map map = left;
  EXPECT_THROW(outliers::oracle({}, map_of({{1, 1}}).disparity, {map.disparity, map.validity, kinds}), Error);
}

}  // namespace
}  // namespace stereopsis::outliers_test
