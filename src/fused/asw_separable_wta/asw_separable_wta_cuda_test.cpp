#include "fused/asw_separable_wta/asw_separable_wta_cuda.hpp"

#include "fused/support_weight_wta/support_weight_wta_cuda.hpp"
#include "support/devices.hpp"
#include "support/recording_queue.hpp"
#include "support/volumes.hpp"

namespace stereopsis::asw_separable_wta_cuda_test {
namespace {

using namespace test;

struct Case {
  Size size;
  int disparities, min_disparity;
};

const std::vector<Case> cases = {{{1, 1}, 1, 0},      {{1, 9}, 3, 0},      {{9, 1}, 33, -3}, {{67, 45}, 37, -11},
                                 {{131, 70}, 65, 60}, {{150, 23}, 300, 3}, {{64, 64}, 32, 0}};

constexpr std::uint32_t dim = 0x7F << 2 | 0x1F << 12 | 0x1F << 22;  // bits for words with similar colours
constexpr std::uint32_t wide = 0x3FFFFFFF;

// `rgb` and `lab` are masks of the bits that pixels may have.
template <class Serves, class Bytes, class Run>
void expect_equals_oracle(const support_weight_wta::Parameters& p, const Case& c, std::uint32_t rgb, std::uint32_t lab,
                          gpu::Queue& queue, gpu::Device& device, Serves&& serves, Bytes&& bytes, Run&& run) {
  SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << "x" << c.disparities << " from "
                                  << c.min_disparity);
  PitchedImage<std::uint32_t> left(random_words(c.size, 1, rgb).view()), right(random_words(c.size, 2, rgb).view());
  Image<std::uint32_t> colours = random_words(c.size, 3, lab);
  for (int y = 0; y < c.size.height; ++y)  // runs of equal colour result in large weights
    for (int x = 1; x < c.size.width; ++x)
      if (x % 5 != 0) colours(x, y) = colours(x - 1, y);
  PitchedImage<std::uint32_t> lab_left(colours.view());

  Image<float> disparity(c.size);
  Image<std::uint8_t> validity(c.size);
  support_weight_wta::oracle(p, {left, right, lab_left, {}, {c.min_disparity, {}, {}}, c.disparities},
                             {disparity, validity, {}, {}});

  const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right),
      lab_there(device, queue, lab_left);
  const support_weight_wta::InputOf<gpu::View> there{
      left_there, right_there, lab_there, {}, {c.min_disparity, {}, {}}, c.disparities};
  const gpu::Buffer workspace = poisoned(device, queue, bytes(p, c.size, c.disparities));
  for (int time = 0; time < 2; ++time) {
    PitchedImage<float> got(c.size);
    PitchedImage<std::uint8_t> got_validity(c.size);
    OnDevice<float> got_there(device, queue, got);
    OnDevice<std::uint8_t> got_validity_there(device, queue, got_validity);
    const wta::OutputOf<gpu::View> out{got_there, got_validity_there, {}, {}};
    ASSERT_TRUE(serves(p, there, out));
    run(p, there, out, workspace.span(), queue);
    got_there.download();
    got_validity_there.download();
    EXPECT_TRUE(same_bits(got.view(), disparity.view())) << "disparity, time " << time;
    EXPECT_TRUE(same_bits(got_validity.view(), validity.view())) << "validity, time " << time;
    EXPECT_TRUE(got.guard_intact() && got_validity.guard_intact());
  }
}

TEST(AswSeparableWtaCuda, EqualsTheOracles) {
  for_each_tuned_gpu([](gpu::Queue& queue, gpu::Device& device) {
    const auto expect = [&](const support_weight_wta::Parameters& p, const Case& c, std::uint32_t rgb,
                            std::uint32_t lab) {
      expect_equals_oracle(p, c, rgb, lab, queue, device, asw_separable_wta::cuda_serves,
                           asw_separable_wta::cuda_workspace_bytes, asw_separable_wta::cuda);
    };
    for (const Case& c : cases)
      for (const int window : {1, 7, 33, 35, 63}) {
        SCOPED_TRACE(testing::Message() << "window " << window);
        expect({{}, asw_separable::Parameters{.window = window}, {.border_candidates = true}}, c, 0x1F1F1F, dim);
      }
    // Cases with the largest sums, and with constant weights.
    const asw_separable::Parameters flat{.window = 63, .gamma_colour = 1000, .gamma_distance = 1000};
    expect({{.truncation = 255}, flat, {.border_candidates = true}}, cases[4], 0xFFFFFF, wide);
    expect({{.truncation = 255}, asw_separable::Parameters{.gamma_colour = 1}, {.border_candidates = true}}, cases[3],
           0xFFFFFF, wide);
  });
}

TEST(SupportWeightWtaCuda, EqualsTheOracles) {
  for_each_tuned_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for (const Case& c : cases)
      for (const esaw::Parameters& p :
           {esaw::Parameters{}, esaw::Parameters{.iterations = 1}, esaw::Parameters{.iterations = 4, .base = 7},
            esaw::Parameters{.iterations = 7, .base = 1.9, .normalise = esaw::Normalise::end}})
        expect_equals_oracle({{}, p, {.border_candidates = true}}, c, 0x1F1F1F, dim, queue, device,
                             support_weight_wta::cuda_serves, support_weight_wta::cuda_workspace_bytes,
                             support_weight_wta::cuda);
  });
}

TEST(AswSeparableWtaCuda, HasRunsOfTilesThatFillAllMultiprocessors) {
  const auto launch = [](const gpu::Properties& device, Size size, int disparities, int window) {
    RecordingQueue queue(device);
    const auto words = absent_image<const std::uint32_t>(size);
    asw_separable_wta::cuda(
        {{}, asw_separable::Parameters{.window = window}, {}}, {words, words, words, {}, {}, disparities},
        {absent_image<float>(size), absent_image<std::uint8_t>(size), {}, {}}, absent_memory(), queue);
    EXPECT_TRUE(queue.is_possible());
    return queue.last("vertical");
  };
  EXPECT_EQ(launch(h100, {450, 375}, 60, 33), "3: 113 × 3 blocks of 256 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}, 128, 33), "3: 640 × 3 blocks of 256 × 1");
  EXPECT_EQ(launch(h100, {2880, 1980}, 256, 63), "5: 2880 × 2 blocks of 256 × 1");
  launch(geforce, {1280, 960}, 128, 33);
  launch(orin, {1, 1}, 1, 63);
}

}  // namespace
}  // namespace stereopsis::asw_separable_wta_cuda_test
