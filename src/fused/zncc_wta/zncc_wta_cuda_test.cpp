// Compares the tuned kernels with the CPU kernels, which other tests compare with the oracles.
#include "fused/zncc_wta/zncc_wta_cuda.hpp"

#include "support/devices.hpp"
#include "support/recording_queue.hpp"
#include "support/stage_test.hpp"
#include "support/threads.hpp"

namespace stereopsis::zncc_wta_cuda_test {
namespace {

using namespace test;

struct Case {
  Size size;
  int window, disparities, min_disparity;
  bool masks = false;
};

void expect_cuda_equals_cpu(const Case& c, gpu::Queue& queue, gpu::Device& device) {
  SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << ", window " << c.window << ", "
                                  << c.disparities << " from " << c.min_disparity);
  Image<std::int16_t> noise = random_image<std::int16_t>(c.size, 5, -128, 127),
                      moved = random_image<std::int16_t>(c.size, 6, -128, 127);
  for (int y = 0; y < c.size.height; ++y)
    for (int x = 0; x < c.size.width; ++x) {
      // Values that result in the largest sums.
      if (x > c.size.width / 2) noise(x, y) = static_cast<std::int16_t>(y % 2 == 0 ? -128 : 127);
      if (x < c.size.width / 4) noise(x, y) = 17;                                                  // no variance
      const int from = x + c.min_disparity + c.disparities / 3;
      if (from >= 0 && from < c.size.width && y % 3 != 0) moved(x, y) = noise(from, y);
    }
  PitchedImage<std::int16_t> left(noise.view()), right(moved.view());
  PitchedImage<std::uint8_t> mask_left(random_image<std::uint8_t>(c.size, 7, 0, 9).view());
  PitchedImage<std::uint8_t> mask_right(random_image<std::uint8_t>(c.size, 8, 0, 9).view());
  const zncc_wta::Parameters p{{c.window}, {}};
  ASSERT_TRUE(zncc_wta::cuda_serves(p, 8, c.disparities, false));

  Threads threads(2);
  std::vector<std::byte> memory(zncc_wta::workspace_bytes(p, c.size, 8, c.disparities, 2) + 64);
  std::byte* start = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  Image<float> disparity(c.size), right_map(c.size);
  Image<std::uint8_t> validity(c.size);
  zncc_wta::Input<> in{left, right, 8, {c.min_disparity, {}, {}}, c.disparities};
  if (c.masks) in.select = {c.min_disparity, mask_left, mask_right};
  zncc_wta::cpu(p, in, {disparity, validity, right_map, {}}, {start, memory.size() - 64}, threads);

  const OnDevice<std::int16_t> left_there(device, queue, left), right_there(device, queue, right);
  const OnDevice<std::uint8_t> mask_left_there(device, queue, mask_left), mask_right_there(device, queue, mask_right);
  const gpu::Buffer workspace = poisoned(device, queue, zncc_wta::cuda_workspace_bytes(p, c.size));
  for (int run = 0; run < 2; ++run) {
    PitchedImage<float> got(c.size), got_right(c.size);
    PitchedImage<std::uint8_t> got_validity(c.size);
    OnDevice<float> got_there(device, queue, got), got_right_there(device, queue, got_right);
    OnDevice<std::uint8_t> got_validity_there(device, queue, got_validity);
    zncc_wta::Input<gpu::View> there{left_there, right_there, 8, {c.min_disparity, {}, {}}, c.disparities};
    if (c.masks) there.select = {c.min_disparity, mask_left_there, mask_right_there};
    zncc_wta::cuda(p, there, {got_there, got_validity_there, got_right_there, {}}, workspace.span(), queue);
    got_there.download();
    got_right_there.download();
    got_validity_there.download();
    EXPECT_TRUE(same_bits(got.view(), disparity.view())) << "disparity, run " << run;
    EXPECT_TRUE(same_bits(got_right.view(), right_map.view())) << "right, run " << run;
    EXPECT_TRUE(same_bits(got_validity.view(), validity.view())) << "validity, run " << run;
    EXPECT_TRUE(got.guard_intact() && got_right.guard_intact() && got_validity.guard_intact());
  }
}

TEST(ZnccWtaCuda, EqualsTheCpu) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Case& c : {Case{{1, 1}, 3, 1, 0},
                          {{1, 9}, 5, 3, 0},
                          {{9, 1}, 3, 7, -3, true},
                          {{17, 6}, 9, 33, -4, true},
                          {{67, 13}, 7, 65, 2, true},
                          {{131, 37}, 21, 40, 0},
                          {{131, 37}, 21, 40, -20},
                          {{67, 13}, 9, 65, 2},
                          {{300, 70}, 31, 64, -20},
                          {{300, 70}, 9, 300, 0},
                          {{700, 50}, 21, 600, -7, true},
                          {{2, 300}, 23, 2, 1},
                          {{131, 37}, 27, 50, 0},
                          {{131, 37}, 29, 50, -3, true},
                          {{140, 40}, 33, 60, 0},
                          {{140, 40}, 51, 60, -30, true},
                          {{140, 140}, 53, 47, 3},
                          {{200, 60}, 63, 96, 0, true},
                          {{200, 60}, 65, 97, -17},
                          {{200, 130}, 83, 70, 0},
                          {{150, 50}, 85, 33, 1, true},
                          {{150, 50}, 95, 150, 0},
                          {{150, 130}, 97, 60, -30, true},
                          {{90, 40}, 101, 49, 0},
                          {{1, 1}, 101, 1, 0},
                          {{1, 150}, 101, 2, -1},
                          {{333, 260}, 101, 111, -5},
                          {{1500, 700}, 21, 65, 0},  // strips with more rows
                          {{17, 6}, 3, 9, 100},
                          {{17, 6}, 3, 9, -100}})
      expect_cuda_equals_cpu(c, queue, device);
  });
}

TEST(ZnccWtaCuda, HasStripsThatFillAllMultiprocessors) {
  const auto launch = [](const gpu::Properties& device, Size size, int disparities, int window) {
    RecordingQueue queue(device);
    const auto samples = absent_image<const std::int16_t>(size);
    zncc_wta::cuda({{window}, {}}, {samples, samples, 8, {}, disparities},
                   {absent_image<float>(size), absent_image<std::uint8_t>(size), absent_image<float>(size), {}},
                   absent_memory(), queue);
    EXPECT_TRUE(queue.is_possible());
    return queue.last("correlate");
  };
  EXPECT_EQ(launch(h100, {450, 375}, 60, 9), "narrow: 8 × 47 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}, 128, 9), "narrow: 30 × 17 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}, 128, 31), "wide1: 30 × 13 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {2880, 1980}, 256, 101), "wide4: 135 × 11 blocks of 128 × 1");
  launch(geforce, {1280, 960}, 128, 9);
  launch(orin, {1, 1}, 1, 101);
}

}  // namespace
}  // namespace stereopsis::zncc_wta_cuda_test
