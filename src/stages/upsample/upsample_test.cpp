#include "stages/upsample/upsample.hpp"

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::upsample_test {
namespace {

using namespace test;

constexpr upsample::Parameters parameters[] = {
    {1, true, 6}, {2, true, 20}, {3, false, 1}, {4, true, 255}, {16, false, 40}};

Size reduced_size(const upsample::Parameters& p, Size size) {
  return {(size.width + p.factor - 1) / p.factor, (size.height + p.factor - 1) / p.factor};
}

struct Scene {
  Scene(const upsample::Parameters& p, Size size)
      : map(random_map(reduced_size(p, size), 2, -2, 3, 30)),
        disparity(map.disparity.view()),
        confidence(random_image<float>(reduced_size(p, size), 3, 0, 100).view()),
        validity(map.validity.view()),
        reduced_grey(random_image<std::uint8_t>(reduced_size(p, size), 4, 0, 60).view()),
        grey(random_image<std::uint8_t>(size, 5, 0, 60).view()),
        mask(random_image<std::uint8_t>(size, 6, 0, 4).view()) {}

  upsample::Input input() { return {disparity, validity, confidence, reduced_grey, grey, mask}; }

  Map map;
  PitchedImage<float> disparity, confidence;
  PitchedImage<std::uint8_t> validity, reduced_grey, grey, mask;
};

struct Result {
  explicit Result(Size size) : disparity(size), confidence(size), validity(size) {}
  upsample::Output output() { return {disparity, validity, confidence}; }
  void expect_equal(Result& expected) {
    EXPECT_TRUE(same_bits(disparity.view(), expected.disparity.view()));
    EXPECT_TRUE(same_bits(confidence.view(), expected.confidence.view()));
    EXPECT_TRUE(same_bits(validity.view(), expected.validity.view()));
    EXPECT_TRUE(disparity.guard_intact() && confidence.guard_intact() && validity.guard_intact());
  }

  PitchedImage<float> disparity, confidence;
  PitchedImage<std::uint8_t> validity;
};

TEST(Upsample, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const auto& p : parameters) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " by " << p.factor);
      Scene scene(p, size);
      Result expected(size);
      upsample::oracle(p, scene.input(), expected.output());
      for_each_thread_count([&](Threads& threads) {
        Result got(size);
        upsample::cpu(p, scene.input(), got.output(), threads);
        got.expect_equal(expected);
      });
    }
}

TEST(Upsample, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const auto& p : parameters) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " by " << p.factor);
        Scene scene(p, size);
        Result expected(size), got(size);
        upsample::oracle(p, scene.input(), expected.output());
        const OnDevice<float> disparity(device, queue, scene.disparity), confidence(device, queue, scene.confidence);
        const OnDevice<std::uint8_t> validity(device, queue, scene.validity),
            reduced_grey(device, queue, scene.reduced_grey), grey(device, queue, scene.grey),
            mask(device, queue, scene.mask);
        OnDevice<float> out_disparity(device, queue, got.disparity), out_confidence(device, queue, got.confidence);
        OnDevice<std::uint8_t> out_validity(device, queue, got.validity);
        upsample::gpu(p, {disparity, validity, confidence, reduced_grey, grey, mask},
                      {out_disparity, out_validity, out_confidence}, queue);
        out_disparity.download();
        out_confidence.download();
        out_validity.download();
        got.expect_equal(expected);
      }
  });
}

Image<float> upsampled(const upsample::Parameters& p, const std::vector<std::vector<float>>& rows,
                       const Image<std::uint8_t>& reduced_grey, const Image<std::uint8_t>& grey) {
  const Map map = map_of(rows);
  Image<float> disparity(grey.size());
  Image<std::uint8_t> validity(grey.size());
  upsample::oracle(p, {map.disparity, map.validity, {}, reduced_grey, grey, {}}, {disparity, validity, {}});
  return disparity;
}

TEST(UpsampleOracle, InterpolatesOnASurface) {
  const Image<std::uint8_t> reduced_grey({2, 1}, 1, 50), grey({4, 2}, 1, 50);
  const Image<float> d = upsampled({2, true, 6}, {{3, 4}}, reduced_grey, grey);
  EXPECT_EQ(d(0, 0), 6);
  EXPECT_EQ(d(1, 0), 6.5f);
  EXPECT_EQ(d(2, 1), 7.5f);
  EXPECT_EQ(d(3, 1), 8);
}

TEST(UpsampleOracle, FollowsTheEdgesOfTheImage) {
  Image<std::uint8_t> reduced_grey({2, 1}, 1, 10), grey({8, 1}, 1, 10);
  reduced_grey(1, 0) = 200;
  for (int x = 3; x < 8; ++x) grey(x, 0) = 200;  // the edge is one pixel before the border of the blocks
  const Image<float> d = upsampled({4, true, 6}, {{3, 9}}, reduced_grey, grey);
  for (int x = 0; x < 8; ++x) EXPECT_EQ(d(x, 0), x < 3 ? 12 : 36) << x;
}

}  // namespace
}  // namespace stereopsis::upsample_test
