#include "stages/checked_map/checked_map.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::checked_map_test {
namespace {

using namespace test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

// Returns values in and around the range, at its limits, and such as no map should have.
Image<float> values(Size size, float low, float high, int seed) {
  const float special[] = {nan, infinity, -infinity, low, high, std::nextafter(low, -1e9f), std::nextafter(high, 1e9f)};
  std::mt19937 dice(static_cast<unsigned>(seed));
  Image<float> made(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const unsigned kind = dice() % 16;
      const float share = static_cast<float>(dice() % 1024) / 1024;
      made(x, y) = kind < std::size(special) ? special[kind] : low - 2 + share * (high - low + 4);
    }
  return made;
}

Image<std::uint8_t> random_mask(Size size) {
  std::mt19937 dice(9);
  Image<std::uint8_t> mask(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) mask(x, y) = dice() % 4 == 0 ? 0 : 255;
  return mask;
}

struct Given {
  checked_map::Parameters parameters;
  Image<float> disparity, confidence;
  Image<std::uint8_t> mask;
};

template <class F>
void for_each_given(F&& f) {
  for (const Size size : awkward_sizes)
    for (const bool from_right : {false, true})
      for (const bool has_mask : {false, true})
        for (const bool rates : {false, true}) {
          const int first = -3, last = 40;
          f(size, Given{{first, last, from_right},
                        values(size, first - 0.5f, last + 0.5f, 4),
                        rates ? values(size, 0, 1, 5) : Image<float>(),
                        has_mask ? random_mask(size) : Image<std::uint8_t>()});
        }
}

void expect_same(const Given& expected, const Image<std::uint8_t>& validity, const Given& got,
                 const Image<std::uint8_t>& got_validity) {
  EXPECT_TRUE(same_bits(expected.disparity.view(), got.disparity.view()));
  EXPECT_TRUE(same_bits(expected.confidence.view(), got.confidence.view()));
  EXPECT_TRUE(same_bits(validity.view(), got_validity.view()));
}

TEST(CheckedMap, CpuEqualsOracle) {
  for_each_given([&](Size size, const Given& given) {
    Given expected = given;
    Image<std::uint8_t> validity(size);
    checked_map::oracle(given.parameters,
                        {expected.disparity.view(), validity.view(), expected.confidence.view(), given.mask.view()});
    for_each_thread_count([&](Threads& threads) {
      Given got = given;
      Image<std::uint8_t> got_validity(size);
      checked_map::cpu(given.parameters,
                       {got.disparity.view(), got_validity.view(), got.confidence.view(), given.mask.view()}, threads);
      expect_same(expected, validity, got, got_validity);
    });
  });
}

TEST(CheckedMap, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for_each_given([&](Size size, const Given& given) {
      Given expected = given;
      Image<std::uint8_t> validity(size);
      checked_map::oracle(given.parameters,
                          {expected.disparity.view(), validity.view(), expected.confidence.view(), given.mask.view()});
      PitchedImage<float> disparity(given.disparity.view()), confidence(given.confidence.view());
      PitchedImage<std::uint8_t> bits(size), mask(given.mask.view());
      OnDevice<float> disparity_there(device, queue, disparity), confidence_there(device, queue, confidence);
      OnDevice<std::uint8_t> bits_there(device, queue, bits), mask_there(device, queue, mask);
      checked_map::gpu(given.parameters, {disparity_there, bits_there, confidence_there, mask_there}, queue);
      disparity_there.download();
      confidence_there.download();
      bits_there.download();
      EXPECT_TRUE(same_bits(disparity.view(), expected.disparity.view()));
      EXPECT_TRUE(same_bits(confidence.view(), expected.confidence.view()));
      EXPECT_TRUE(same_bits(bits.view(), validity.view()));
      EXPECT_TRUE(disparity.guard_intact() && confidence.guard_intact() && bits.guard_intact());
    });
  });
}

// The definition, by hand: a row of 8 pixels, the range 0 to 3.
TEST(CheckedMapOracle, GivesReasons) {
  const float row[] = {0.5f, 0.6f, 3.5f, 3.6f, -0.5f, nan, infinity, 7};
  const std::uint8_t reasons[] = {0,
                                  0,
                                  validity::filled,
                                  validity::no_candidate,
                                  0,
                                  validity::no_candidate,
                                  validity::no_candidate,
                                  validity::no_candidate};
  Image<float> disparity(8, 1), confidence(8, 1);
  Image<std::uint8_t> found(8, 1), mask(8, 1);
  std::copy_n(row, 8, disparity.row(0));
  std::fill_n(confidence.row(0), 8, 2.0f);
  std::fill_n(mask.row(0), 8, std::uint8_t{255});
  mask(1, 0) = 0;
  checked_map::oracle({0, 3, false}, {disparity.view(), found.view(), confidence.view(), mask.view()});
  for (int x = 0; x < 8; ++x) {
    const int reason = x == 1 ? validity::masked : reasons[x];
    EXPECT_EQ(found(x, 0), reason) << x;
    EXPECT_EQ(std::isnan(disparity(x, 0)), reason != 0 && reason != validity::filled) << x;
    EXPECT_EQ(confidence(x, 0), reason != 0 ? 0.0f : 1.0f) << x;
  }
}

}  // namespace
}  // namespace stereopsis::checked_map_test
