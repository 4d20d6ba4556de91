#include "stages/window_confidence/window_confidence.hpp"

#include "support/devices.hpp"
#include "support/targets.hpp"

namespace stereopsis::window_confidence_test {
namespace {

using namespace test;
using window_confidence::Measure;

constexpr Measure measures[] = {Measure::pkr, Measure::fd, Measure::msm, Measure::msm_fd};
constexpr window_sad::Window windows[] = {{1, 1}, {3, 3}, {5, 5}, {7, 7}, {3, 9}, {21, 25}};

struct Scene {
  explicit Scene(Size size)
      : left(random_image<std::uint32_t>(size, 1, 0, 0x7FFFFFFF).view()),
        right(random_image<std::uint32_t>(size, 2, 0, 0x7FFFFFFF).view()),
        disparity(random_map(size, 3, -20, 30, 20).disparity.view()) {}
  PitchedImage<std::uint32_t> left, right;
  PitchedImage<float> disparity;
};

TEST(Confidence, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const Measure measure : measures)
      for (const auto& window : windows) {
        Scene scene(size);
        for_each_engine([&](Threads& threads) {
          expect_equals_oracle<float>(
              size,
              [&](auto out) {
                window_confidence::oracle({measure}, window, {scene.left, scene.right, {}}, scene.disparity, out);
              },
              [&](auto out) {
                window_confidence::cpu({measure}, window, {scene.left, scene.right, {}}, scene.disparity, out, threads);
              });
        });
      }
}

TEST(Confidence, GpuEqualsOracle) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const Measure measure : measures)
        for (const auto& window : windows) {
          Scene scene(size);
          const OnDevice<std::uint32_t> left(device, queue, scene.left), right(device, queue, scene.right);
          const OnDevice<float> disparity(device, queue, scene.disparity);
          expect_gpu_equals_oracle<float>(
              device, queue, size,
              [&](auto out) {
                window_confidence::oracle({measure}, window, {scene.left, scene.right, {}}, scene.disparity, out);
              },
              [&](auto out) {
                window_confidence::gpu({measure}, window, {left, right, {}}, disparity, out, queue);
              });
        }
  });
}

// A step edge at x = 20, at disparity 5.
struct Step {
  Step() : left(Size{40, 9}), right(Size{40, 9}), disparity({40, 9}, 1, 5.0f) {
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 40; ++x) {
        left(x, y) = x < 20 ? 0x40000000u : 0x80000000u;
        right(x, y) = x + 5 < 20 ? 0x40000000u : 0x80000000u;
      }
  }
  float at(Measure measure, int x) {
    Image<float> out(disparity.size());
    window_confidence::oracle({measure}, {3, 3}, {left, right, {}}, disparity, out);
    return out(x, 4);
  }
  Image<std::uint32_t> left, right;
  Image<float> disparity;
};

TEST(ConfidenceOracle, TextureAndPeaksAreConfident) {
  Step step;
  EXPECT_EQ(step.at(Measure::fd, 10), 0);
  EXPECT_GT(step.at(Measure::fd, 20), 0.5f);
  EXPECT_EQ(step.at(Measure::pkr, 10), 0);
  EXPECT_GT(step.at(Measure::pkr, 20), 0.5f);
  EXPECT_EQ(step.at(Measure::msm, 10), 1);
  EXPECT_EQ(step.at(Measure::msm, 20), 1);
  step.disparity.fill(4);
  EXPECT_LT(step.at(Measure::msm, 20), 0.5f);
  EXPECT_EQ(step.at(Measure::msm_fd, 20), step.at(Measure::msm, 20) * step.at(Measure::fd, 20));
  step.disparity.fill(invalid_disparity);
  EXPECT_EQ(step.at(Measure::msm, 10), 0);
}

}  // namespace
}  // namespace stereopsis::window_confidence_test
