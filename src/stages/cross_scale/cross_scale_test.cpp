#include "stages/cross_scale/cross_scale.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/threads.hpp"

namespace stereopsis::cross_scale_test {
namespace {

using namespace test;

TEST(CrossScale, HalvesLikeTheOracle) {
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << channels << " channels");
      PitchedImage<std::uint8_t> image(random_image<std::uint8_t>(size, 8, 0, 255, channels).view());
      const Size half = cross_scale::half(size);
      Image<std::uint8_t> expected(half, channels);
      cross_scale::oracle_halve(image, expected);
      for_each_thread_count([&](Threads& threads) {
        PitchedImage<std::uint8_t> got(half, channels);
        cross_scale::cpu_halve(image, got, threads);
        EXPECT_TRUE(same_bits(got.view(), expected) && got.guard_intact());
      });
      for (gpu::Device* device : gpu::usable_devices()) {
        const auto queue = device->make_queue();
        const OnDevice<std::uint8_t> there(*device, *queue, image);
        PitchedImage<std::uint8_t> got(half, channels);
        OnDevice<std::uint8_t> out(*device, *queue, got);
        cross_scale::gpu_halve(there, out, *queue);
        out.download();
        EXPECT_TRUE(same_bits(got.view(), expected) && got.guard_intact()) << device->name();
      }
    }
}

struct Case {
  Size whole;
  int rows, disparities;
  cross_scale::Level level;
};

// Returns a coarse volume that has only the cells that are read.
Volume<float> coarse_of(Case& c) {
  auto& l = c.level;
  const int last_row = (l.first_row + c.rows - 1) >> l.s,
            last = cross_scale::at_level(l.min_disparity + c.disparities - 1, l.s, l.from_right);
  l.coarse_first_row = l.first_row >> l.s;
  l.coarse_min_disparity = cross_scale::at_level(l.min_disparity, l.s, l.from_right);
  return {{((c.whole.width - 1) >> l.s) + 1, last_row - l.coarse_first_row + 1}, last - l.coarse_min_disparity + 1};
}

void fill_randomly(VolumeView<float> v, unsigned seed) {
  std::mt19937 generator(seed);
  for (std::ptrdiff_t i = 0; i < v.row_pitch * v.height; ++i)
    v.data[i] = 0.01f * static_cast<float>(generator() % 10000);
}

ImageView<float> flat(VolumeView<float> v) { return {v.data, static_cast<int>(v.row_pitch), v.height}; }

TEST(CrossScale, CombinesLikeTheOracle) {
  for (Case c : {Case{{1, 1}, 1, 1, {.s = 1}}, Case{{17, 9}, 9, 16, {.s = 1}},
                 Case{{33, 20}, 7, 37, {.s = 3, .min_disparity = -19, .first_row = 6}},
                 Case{{33, 20}, 7, 37, {.s = 2, .from_right = true, .min_disparity = -36, .first_row = 13}},
                 Case{{5, 4}, 4, 9, {.s = 5, .from_right = true, .min_disparity = 3}}}) {
    Volume<float> coarse = coarse_of(c), start({c.whole.width, c.rows}, c.disparities),
                  expected({c.whole.width, c.rows}, c.disparities);
    fill_randomly(coarse.view(), 1);
    fill_randomly(start.view(), 2);
    fill_randomly(expected.view(), 2);
    cross_scale::oracle_combine(c.level, 0.7f, 0.3f, coarse.view(), expected.view());
    for_each_thread_count([&](Threads& threads) {
      Volume<float> got({c.whole.width, c.rows}, c.disparities);
      fill_randomly(got.view(), 2);
      cross_scale::cpu_combine(c.level, 0.7f, 0.3f, coarse.view(), got.view(), threads);
      EXPECT_TRUE(same_bits(flat(got.view()), ImageView<const float>(flat(expected.view()))));
    });
    for (gpu::Device* device : gpu::usable_devices()) {
      const auto queue = device->make_queue();
      const auto there = [&](VolumeView<float> v) {
        gpu::Buffer buffer(*device, sizeof(float) * v.row_pitch * v.height);
        queue->upload<float>(
            flat(v), gpu::View<float>{buffer.handle(), 0, static_cast<int>(v.row_pitch), v.height, 1, v.row_pitch});
        queue->wait();
        return buffer;
      };
      const gpu::Buffer coarse_cells = there(coarse.view()), cells = there(start.view());
      const auto volume_of = [](const gpu::Buffer& buffer, VolumeView<float> v) {
        return gpu::Volume<float>{{buffer.handle(), 0}, v.width, v.height, v.disparities};
      };
      cross_scale::gpu_combine(c.level, 0.7f, 0.3f, volume_of(coarse_cells, coarse.view()),
                               volume_of(cells, start.view()), *queue);
      Volume<float> got({c.whole.width, c.rows}, c.disparities);
      const auto out = flat(got.view());
      queue->download(gpu::View<float>{cells.handle(), 0, out.width, out.height, 1, out.pitch}, out);
      queue->wait();
      EXPECT_TRUE(same_bits(out, ImageView<const float>(flat(expected.view())))) << device->name();
    }
  }
}

// Checks A · Ĉ = C, where Ĉ_0 comes from the weights for each unit vector. A is symmetric, so that w solves A w = (1,
// 0, …).
TEST(CrossScaleWeights, SolveTheCoupledSystem) {
  for (const double lambda : {0.1, 0.3, 1.0, 20.0})
    for (const int levels : {2, 3, 5, 9}) {
      const auto w = cross_scale::weights({lambda, levels});
      ASSERT_EQ(static_cast<int>(w.size()), levels);
      for (int s = 0; s < levels; ++s) {
        const int neighbours = (s > 0) + (s < levels - 1);
        const double left = (1 + lambda * neighbours) * w[s] - (s > 0 ? lambda * w[s - 1] : 0) -
                            (s < levels - 1 ? lambda * w[s + 1] : 0);
        EXPECT_NEAR(left, s == 0 ? 1 : 0, 1e-5) << "lambda " << lambda << ", level " << s << " of " << levels;
      }
    }
  EXPECT_EQ(cross_scale::weights({0, 5}), std::vector<float>{1.0f});
}

TEST(CrossScaleLevels, DisparitiesRoundUpAsInTheProgramOfThePaper) {
  for (int d = 0; d < 100; ++d)
    for (int s = 0, halved = d; s < 6; ++s, halved = (halved + 1) / 2) {
      EXPECT_EQ(cross_scale::at_level(d, s, false), halved);
      EXPECT_EQ(cross_scale::at_level(-d, s, true), -halved);
    }
}

}  // namespace
}  // namespace stereopsis::cross_scale_test
