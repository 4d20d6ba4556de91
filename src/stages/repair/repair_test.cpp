#include "stages/repair/repair.hpp"

#include "support/devices.hpp"
#include "support/targets.hpp"

namespace stereopsis::repair_test {
namespace {

using namespace test;

const repair::Parameters parameters[] = {
    {}, {.reach = 31, .gain = 0, .tolerance = 2}, {.reach = 11}, {.reach = 1, .gain = 50, .tolerance = 0}};

struct Maps {
  explicit Maps(const Map& map, ImageView<const float> trust)
      : disparity(map.disparity.view()),
        repaired(map.disparity.size()),
        confidence(trust),
        scratch(map.disparity.size()),
        validity(map.validity.view()) {}
  repair::MapsOf<ImageView> view() {
    return {disparity.view(), repaired.view(), confidence.view(), scratch.view(), validity.view()};
  }

  PitchedImage<float> disparity, repaired, confidence, scratch;
  PitchedImage<std::uint8_t> validity;
};

void expect_same(Maps& got, Maps& expected) {
  EXPECT_TRUE(same_bits(got.repaired.view(), expected.repaired.view()));
  EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
  EXPECT_TRUE(got.disparity.guard_intact() && got.repaired.guard_intact() && got.confidence.guard_intact() &&
              got.scratch.guard_intact() && got.validity.guard_intact());
}

// Calls f(parameters, map, confidence, expected) for each case.
template <class F>
void for_each_case(F&& f) {
  std::vector<Size> sizes = awkward_sizes;
  sizes.push_back({37, 150});  // larger than the tiles of all devices
  sizes.push_back({300, 21});
  for (const Size size : sizes)
    for (const auto& p : parameters) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", reach " << p.reach);
      const Map map = random_map(size, 4, 0, 2, 10);
      Image<float> trust = random_image<float>(size, 5, 0, 100);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) trust(x, y) = std::isnan(map.disparity(x, y)) ? 0.0f : trust(x, y) / 100;
      Maps expected(map, trust);
      repair::oracle(p, expected.view());
      f(p, map, trust, expected);
    }
}

TEST(Repair, CpuEqualsOracle) {
  for_each_case([](const auto& p, const Map& map, const Image<float>& trust, Maps& expected) {
    for_each_engine([&](Threads& threads) {
      Maps got(map, trust);
      repair::cpu(p, got.view(), threads);
      expect_same(got, expected);
    });
  });
}

TEST(Repair, GpuEqualsOracle) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for_each_case([&](const auto& p, const Map& map, const Image<float>& trust, Maps& expected) {
      Maps got(map, trust);
      OnDevice<float> disparity(device, queue, got.disparity), repaired(device, queue, got.repaired),
          confidence(device, queue, got.confidence), scratch(device, queue, got.scratch);
      OnDevice<std::uint8_t> validity(device, queue, got.validity);
      repair::gpu(p, {disparity, repaired, confidence, scratch, validity}, queue);
      for (auto* there : {&disparity, &repaired, &confidence, &scratch}) there->download();
      validity.download();
      expect_same(got, expected);
    });
  });
}

TEST(RepairOracle, AnOutlierBetweenConfidentPixelsGoes) {
  Image<float> trust({7, 1}, 1, 0.8f);
  trust(3, 0) = 0.5f;
  Maps maps(map_of({{5, 5, 5, 40, 5, 5, 5}}), trust);
  repair::oracle({}, maps.view());
  EXPECT_EQ(maps.repaired.view()(3, 0), 5);
  EXPECT_EQ(maps.validity.view()(3, 0), validity::repaired);
  EXPECT_FLOAT_EQ(maps.confidence.view()(3, 0), 0.5f * 1.1f * 1.1f);  // both passes along the row raise the confidence
  EXPECT_EQ(maps.validity.view()(2, 0), 0);
}

TEST(RepairOracle, OneSideOrLittleConfidenceIsNotEnough) {
  Image<float> trust({5, 1}, 1, 0.5f);
  trust(0, 0) = trust(1, 0) = 0.9f;
  Maps maps(map_of({{5, 5, 40, 5, 5}}), trust);
  repair::oracle({}, maps.view());
  EXPECT_EQ(maps.repaired.view()(2, 0), 40);
}

TEST(RepairOracle, InvalidPixelsAreRepairedAndMaskedOnesAreNot) {
  Image<float> trust({3, 1}, 1, 0.5f);
  trust(1, 0) = 0;
  Map map = map_of({{5, invalid_disparity, 5}}, validity::left_right);
  Maps maps(map, trust);
  repair::oracle({}, maps.view());
  EXPECT_EQ(maps.repaired.view()(1, 0), 5);
  EXPECT_EQ(maps.validity.view()(1, 0), validity::repaired);
  map.validity(1, 0) = validity::masked;
  Maps masked(map, trust);
  repair::oracle({}, masked.view());
  EXPECT_TRUE(std::isnan(masked.repaired.view()(1, 0)));
}

}  // namespace
}  // namespace stereopsis::repair_test
