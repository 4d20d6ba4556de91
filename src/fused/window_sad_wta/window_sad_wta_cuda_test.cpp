#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"
#include "fused/window_sad_wta/window_sad_wta_cuda_problem.hpp"

#include "support/devices.hpp"
#include "support/recording_queue.hpp"

namespace stereopsis::window_sad_wta_cuda_test {
namespace {

using namespace test;

constexpr Size sizes[] = {{32, 1}, {33, 9}, {59, 7}, {64, 40}, {83, 13}, {131, 37}};
constexpr DisparityRange ranges[] = {{0, 1}, {-7, 60}, {3, 64}, {0, 65}, {-40, 128}, {0, 129}, {5, 300}, {900, 33}};
constexpr window_sad::Window windows[] = {{3, 3}, {5, 1}, {7, 7}, {9, 3}, {11, 11}};

// Runs f(device, queue) on each CUDA device.
template <class F>
void for_each_cuda_device(F&& f) {
  const gpu::Found& found = gpu::cuda_devices();
  bool any = false;
  for (const auto& candidate : found.candidates) {
    if (!candidate.device) continue;
    const auto queue = candidate.device->make_queue();
    if (queue->cuda_capability() < 90) continue;
    any = true;
    f(*candidate.device, *queue);
  }
  if (!any) GTEST_SKIP() << "no CUDA device of compute capability 9.0 or later: " << found.reason;
}

Target target_of(gpu::Device& device) { return Target(device.properties()); }

struct Case {
  Size size;
  DisparityRange range;
  window_sad::Window window;
};

// Cases for the kernel for wide windows: strips and their sides, windows narrower and wider than the 24 columns of a
// warp, one band of rows and many, and disparities in several rounds.
const std::vector<Case> wide_cases = {
    {{24, 1}, {0, 1}, {13, 13}},     {{25, 9}, {-1, 3}, {7, 7}},         {{27, 7}, {-3, 4}, {31, 3}},
    {{70, 9}, {0, 65}, {13, 15}},    {{131, 37}, {-40, 128}, {13, 13}},  {{64, 13}, {0, 129}, {15, 5}},
    {{33, 5}, {3, 20}, {85, 85}},    {{150, 6}, {5, 300}, {31, 7}},      {{40, 21}, {0, 600}, {3, 3}},
    {{26, 30}, {0, 17}, {7, 7}},     {{100, 20}, {0, 64}, {11, 31}},     {{83, 13}, {-4, 33}, {1, 1}},
    {{130, 14}, {900, 40}, {33, 9}}, {{205, 11}, {-9, 70}, {85, 3}},     {{577, 150}, {0, 128}, {9, 9}},
    {{600, 17}, {-30, 77}, {49, 5}}, {{289, 140}, {-200, 131}, {25, 3}}, {{311, 5}, {1, 128}, {47, 1}}};

// Uses words with bytes up to `most`. A small value results in ties, and a large value in large sums.
void expect_equals_oracles(const Case& c, std::uint32_t most, gpu::Device& device, gpu::Queue& queue) {
  const auto& [size, range, window] = c;
  const cost::Colours kind{most == 7 ? 434 : 1020};
  PitchedImage<std::uint32_t> left(random_image<std::uint32_t>(size, 1, 0, most).view());
  PitchedImage<std::uint32_t> right(random_image<std::uint32_t>(size, 2, 0, most).view());
  const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right);
  Volume<std::uint16_t> sums(size, range.count);
  window_sad::oracle(window, {left, right, kind}, range.min, sums);
  for (const bool border : {true, false}) {
    SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", disparities from " << range.min << ": "
                                    << range.count << ", window " << window.width << "x" << window.height << ", border "
                                    << border << ", words to " << most);
    const window_sad_wta::Parameters p{window, {.border_candidates = border}};
    const window_sad_wta::Input<gpu::View> in{{left_there, right_there, kind}, {range.min, {}, {}}, range.count};
    Image<float> expected(size);
    Image<std::uint8_t> expected_validity(size);
    wta::oracle(p.select, {range.min, {}, {}}, sums, {expected, expected_validity, {}, {}});
    for (int run = 0; run < 2; ++run) {
      PitchedImage<float> disparity(size);
      PitchedImage<std::uint8_t> validity(size);
      OnDevice<float> disparity_there(device, queue, disparity);
      OnDevice<std::uint8_t> validity_there(device, queue, validity);
      const wta::OutputOf<gpu::View> out{disparity_there, validity_there, {}, {}};
      ASSERT_TRUE(window_sad_wta::cuda_serves(target_of(device), p, in, out));
      window_sad_wta::cuda(p, in, out, queue);
      disparity_there.download();
      validity_there.download();
      EXPECT_TRUE(same_bits(disparity.view(), expected.view()));
      EXPECT_TRUE(same_bits(validity.view(), expected_validity.view()));
      EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact());
    }
  }
}

TEST(WindowSadWtaCuda, NarrowWindowsEqualTheOracles) {
  for_each_cuda_device([](gpu::Device& device, gpu::Queue& queue) {
    for (const Size size : sizes)
      for (const DisparityRange range : ranges)
        for (const auto& window : windows) expect_equals_oracles({size, range, window}, 7, device, queue);
  });
}

TEST(WindowSadWtaCuda, OthersEqualTheOracles) {
  for_each_cuda_device([](gpu::Device& device, gpu::Queue& queue) {
    const auto needed = static_cast<std::size_t>(window_sad_wta::wide_tunings[0].shared_bytes);
    if (device.properties().local_bytes < needed)
      GTEST_SKIP() << "no CUDA device with " << needed << " bytes of shared memory";
    for (const Case& c : wide_cases)
      for (const std::uint32_t most : {7u, 0x7FFFFFFFu}) expect_equals_oracles(c, most, device, queue);
  });
}

TEST(WindowSadWtaCuda, LeavesToOthersWhatItCannotDo) {
  // Shared memory per block: on 8.6 and 12.0, and on 9.0 and 10.0.
  constexpr std::size_t some = 99 << 10, most = 227 << 10;
  const auto serves = [](int capability, std::size_t local_bytes, Size size, const window_sad::Window& window,
                         int disparities) {
    gpu::View<const std::uint32_t> words;
    words.width = size.width;
    words.height = size.height;
    wta::OutputOf<gpu::View> out;
    out.disparity.width = size.width;
    out.disparity.height = size.height;
    gpu::Properties device;
    device.cuda_capability = capability;
    device.local_bytes = local_bytes;
    return window_sad_wta::cuda_serves(Target(device), {window, {}},
                                       {{words, words, cost::Colours{434}}, {}, disparities}, out);
  };
  EXPECT_TRUE(serves(90, most, {24, 1}, {31, 31}, 128));
  EXPECT_FALSE(serves(90, most, {23, 9}, {31, 31}, 128));
  EXPECT_FALSE(serves(86, some, {640, 480}, {31, 31}, 128));
  EXPECT_TRUE(serves(86, some, {640, 480}, {7, 7}, 128));
  EXPECT_FALSE(serves(86, some, {640, 480}, {13, 13}, 128));
  EXPECT_FALSE(serves(75, some, {640, 480}, {7, 7}, 128));
  EXPECT_TRUE(serves(100, most, {640, 480}, {13, 13}, 128));
  EXPECT_TRUE(serves(120, some, {640, 480}, {7, 7}, 128));
  EXPECT_FALSE(serves(120, some, {640, 480}, {13, 13}, 128));
  // A device of capability 12.0 that runs code compiled for 9.0.
  EXPECT_TRUE(serves(90, some, {640, 480}, {7, 7}, 128));
  EXPECT_FALSE(serves(90, some, {640, 480}, {13, 13}, 128));
}

TEST(WindowSadWtaCuda, HasBandsThatFillAllMultiprocessors) {
  const auto launch = [](const gpu::Properties& device, Size size, int disparities, int window) {
    RecordingQueue queue(device);
    const auto words = absent_image<const std::uint32_t>(size);
    window_sad_wta::cuda({{window, window}, {}}, {{words, words, cost::Colours{434}}, {}, disparities},
                         {absent_image<float>(size), absent_image<std::uint8_t>(size), {}, {}}, queue);
    EXPECT_TRUE(queue.is_possible());
    return queue.last("match");
  };
  EXPECT_EQ(launch(h100, {450, 375}, 60, 7), "2_1_inside_3: 18 × 32 blocks of 32 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}, 128, 7), "4_1_inside_3: 50 × 30 blocks of 32 × 1");
  EXPECT_EQ(launch(h100, {2880, 1980}, 256, 7), "4_4_inside_3: 111 × 6 blocks of 32 × 2");
  EXPECT_EQ(launch(h100, {450, 375}, 60, 31), "shifted: 2 × 63 blocks of 32 × 12");
  EXPECT_EQ(launch(h100, {1280, 960}, 128, 31), "shifted: 5 × 26 blocks of 32 × 12");
  EXPECT_EQ(launch(h100, {2880, 1980}, 256, 31), "shifted: 12 × 11 blocks of 32 × 12");
  launch(geforce, {1280, 960}, 128, 7);
  launch(orin, {2880, 1}, 512, 11);
  launch(gpu_with(16), {2880, 1980}, 256, 31);
}

}  // namespace
}  // namespace stereopsis::window_sad_wta_cuda_test
