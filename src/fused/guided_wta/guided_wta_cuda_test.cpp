#include "fused/guided_wta/guided_wta_cuda.hpp"

#include "stages/colour_gradient/colour_gradient.hpp"
#include "stages/cost_volume/cost_volume.hpp"
#include "support/devices.hpp"
#include "support/recording_queue.hpp"
#include "support/stage_test.hpp"
#include "support/words.hpp"

namespace stereopsis::guided_wta_cuda_test {
namespace {

using namespace test;

struct Case {
  Size size;
  int disparities, at_a_time, min_disparity;
  guided::Parameters p;
  guided::Rows rows;
  int channels;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3}) list.push_back({size, 5, 5, -2, {.radius = 2}, {0, size.height}, channels});
  list.push_back({{131, 37}, 1, 1, 0, {.radius = 9}, {0, 37}, 3});
  list.push_back({{131, 37}, 37, 19, 3, {.radius = 9}, {5, 30}, 3});
  list.push_back({{300, 80}, 18, 5, -9, {.radius = 32, .epsilon = 0.1}, {40, 41}, 1});
  list.push_back({{300, 80}, 9, 9, 0, {.radius = 17}, {3, 80}, 3});
  list.push_back({{129, 260}, 5, 5, 1, {.radius = 9}, {0, 260}, 1});  // the pieces have fewer rows than a window
  // Widths with warps that have neighbours on both sides, where the columns of the last warp end at the end of the
  // image, and beyond it.
  for (const int channels : {1, 3})
    for (const int width : {641, 384 + 128, 513, 259})
      list.push_back({{width, 9}, 2, 2, 0, {.radius = channels == 1 ? 32 : 27}, {0, 9}, channels});
  return list;
}

// Compares filtered costs and winners with those of the oracles that run one after the other.
template <class Kind>
void expect_equals_oracles(const Kind& kind, auto&& words_of) {
  using Word = typename Kind::Word;
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Case& c : cases()) {
      SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << "x" << c.disparities << ", radius "
                                      << c.p.radius << ", " << c.channels << " channels");
      PitchedImage<std::uint8_t> guide(random_image<std::uint8_t>(c.size, 3, 0, 255, c.channels).view());
      const Image<Word> left_words = words_of(c.size, 1), right_words = words_of(c.size, 2);
      PitchedImage<Word> left(left_words.view()), right(right_words.view());
      Volume<std::uint8_t> costs(c.size, c.disparities);
      cost_volume::oracle(cost::Source<Kind>{left, right, kind}, c.min_disparity, costs.view());
      const Size size{c.size.width, c.rows.count()};
      Volume<float> filtered(size, c.disparities);
      guided::oracle(c.p, guide, costs.view(), c.rows, filtered.view());
      Image<float> disparity(size), confidence(size);
      Image<std::uint8_t> validity(size);
      const wta::Parameters select{wta::Subpixel::parabola, 2, false};
      wta::oracle(select, {c.min_disparity, {}, {}}, filtered.view(), {disparity, validity, {}, confidence});

      const OnDevice<std::uint8_t> guide_there(device, queue, guide);
      const OnDevice<Word> left_there(device, queue, left), right_there(device, queue, right);
      PitchedImage<float> got_disparity(size), got_confidence(size);
      PitchedImage<std::uint8_t> got_validity(size);
      OnDevice<float> disparity_there(device, queue, got_disparity), confidence_there(device, queue, got_confidence);
      OnDevice<std::uint8_t> validity_there(device, queue, got_validity);
      const gpu::Buffer planes = poisoned(device, queue, guided_wta::cuda_plane_bytes(size, c.disparities));
      const gpu::Buffer scratch =
          poisoned(device, queue, guided_wta::cuda_filter_bytes(c.size, c.channels, c.at_a_time));
      const gpu::Array<float> cells{planes.handle(), 0};
      guided_wta::cuda_filter(c.p, cost::Source<Kind, gpu::View>{left_there, right_there, kind}, c.min_disparity,
                              c.disparities, c.at_a_time, guide_there, c.rows, cells, scratch.span(), queue);
      const guided_wta::Plane level{cells, size.width, size.height, c.rows.first, c.min_disparity, 1};
      guided_wta::cuda_select(select, {c.min_disparity, {}, {}}, std::span(&level, 1), c.disparities,
                              {disparity_there.view(), validity_there.view(), {}, confidence_there.view()},
                              wta::Reference::left, queue);
      disparity_there.download();
      validity_there.download();
      confidence_there.download();
      EXPECT_TRUE(same_bits(got_disparity.view(), disparity) && got_disparity.guard_intact());
      EXPECT_TRUE(same_bits(got_validity.view(), validity) && got_validity.guard_intact());
      EXPECT_TRUE(same_bits(got_confidence.view(), confidence) && got_confidence.guard_intact());
      const auto pitch = static_cast<int>(guided_wta::cuda_plane_bytes({size.width, 1}, 1) / sizeof(float));
      Image<float> plane(size.width, size.height * c.disparities);
      queue.download(gpu::View<float>{planes.handle(), 0, plane.width(), plane.height(), 1, pitch}, plane.view());
      queue.wait();
      for (int k = 0; k < c.disparities; ++k)
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            ASSERT_EQ(plane(x, k * size.height + y), filtered(x, y, k)) << x << ", " << y << ", " << k;
    }
  });
}

TEST(GuidedWtaCuda, Census32) { expect_equals_oracles(cost::Census<std::uint32_t>{32}, random_words<std::uint32_t>); }
TEST(GuidedWtaCuda, Census64) { expect_equals_oracles(cost::Census<std::uint64_t>{62}, random_words<std::uint64_t>); }
TEST(GuidedWtaCuda, Census128) { expect_equals_oracles(cost::Census<Word128>{120}, random_words<Word128>); }
TEST(GuidedWtaCuda, ColourGradient) {
  expect_equals_oracles(colour_gradient::kind({}), random_colours);
  expect_equals_oracles(colour_gradient::kind({.border = 3}), random_colours);
}

TEST(GuidedWtaCuda, HasPiecesThatFillAllMultiprocessors) {
  const auto launch = [](const gpu::Properties& device, Size size, int disparities, int channels) {
    RecordingQueue queue(device);
    const auto words = absent_image<const std::uint64_t>(size);
    guided_wta::cuda_filter<cost::Census<std::uint64_t>>({.radius = 9}, {words, words, {62}}, 0, disparities,
                                                         disparities, absent_image<const std::uint8_t>(size, channels),
                                                         {0, size.height}, {next_address(), 0}, absent_memory(), queue);
    EXPECT_TRUE(queue.is_possible());
    return queue.last("coefficients");
  };
  EXPECT_EQ(launch(h100, {450, 375}, 60, 1), "grey: 510 × 1 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {450, 375}, 60, 3), "colour: 525 × 1 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}, 128, 1), "grey: 2112 × 1 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}, 128, 3), "colour: 4160 × 1 blocks of 128 × 1");
  launch(geforce, {1280, 960}, 128, 1);
  launch(orin, {1, 1}, 1, 3);
}

}  // namespace
}  // namespace stereopsis::guided_wta_cuda_test
