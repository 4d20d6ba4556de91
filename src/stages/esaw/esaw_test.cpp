#include "stages/esaw/esaw.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::esaw_test {
namespace {

using namespace test;

// Returns colours that are often similar, so that weights of all sizes occur.
Image<std::uint32_t> lab_words(Size size, unsigned seed) {
  std::mt19937 generator(seed);
  Image<std::uint32_t> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto near = [&](std::uint32_t centre) {
        return centre + generator() % (generator() % 4 == 0 ? 120u : 16u);
      };
      image(x, y) = near(200) | near(500) << 10 | near(480) << 20;
    }
  return image;
}

const std::vector<esaw::Parameters> all_parameters = {
    {},
    {.iterations = 1},
    {.iterations = 8, .base = 1.9},
    {.iterations = 3, .base = 40},
    {.iterations = 4, .gamma_colour = 1, .gamma_distance = 1000},
    {.iterations = 6, .base = 1.0, .gamma_colour = 300},
    {.normalise = esaw::Normalise::end},
    {.iterations = 12, .base = 1.5, .gamma_colour = 500, .gamma_distance = 1000, .normalise = esaw::Normalise::end}};

template <class F>
void for_each_case(F&& f) {
  for (const Size size : awkward_sizes)
    for (std::size_t i = 0; i < all_parameters.size(); ++i) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", parameters " << i);
      f(size, all_parameters[i]);
    }
}

TEST(Esaw, CpuWeightsEqualOracle) {
  for_each_case([](Size size, const esaw::Parameters& p) {
    PitchedImage<std::uint32_t> lab(lab_words(size, 5).view());
    for_each_engine([&](Threads& threads) {
      Image<float> sums(size), other_sums(size);
      expect_equals_oracle<std::uint32_t>(
          esaw::weights_size(p, size), [&](auto out) { esaw::oracle_weights(p, lab, out); },
          [&](auto out) { esaw::cpu_weights(p, lab, out, sums, other_sums, threads); });
    });
  });
}

TEST(Esaw, GpuWeightsEqualOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for_each_case([&](Size size, const esaw::Parameters& p) {
      PitchedImage<std::uint32_t> lab(lab_words(size, 5).view());
      PitchedImage<float> sums(size), other_sums(size);
      const OnDevice<std::uint32_t> there(device, queue, lab);
      const OnDevice<float> sums_there(device, queue, sums), other_there(device, queue, other_sums);
      expect_gpu_equals_oracle<std::uint32_t>(
          device, queue, esaw::weights_size(p, size), [&](auto out) { esaw::oracle_weights(p, lab, out); },
          [&](auto out) { esaw::gpu_weights(p, there, out, sums_there, other_there, queue); });
    });
  });
}

TEST(Esaw, CpuEqualsOracle) {
  for_each_case([&](Size size, const esaw::Parameters& p) {
    for (const int disparities : {1, 5, 37}) {
      PitchedImage<std::uint32_t> weights(esaw::weights_size(p, size));
      esaw::oracle_weights(p, lab_words(size, 5), weights);
      const auto costs = random_volume<std::uint8_t>(size, disparities, 9, 0, 255);
      Volume<std::uint16_t> expected(size, disparities);
      esaw::oracle(p, weights, costs, expected);
      for_each_engine([&](Threads& threads) {
        auto got = poisoned_volume<std::uint16_t>(size, disparities),
             other = poisoned_volume<std::uint16_t>(size, disparities);
        esaw::cpu(p, weights, costs, got, other, threads);
        EXPECT_TRUE(same_cells(got, expected));
      });
    }
  });
}

TEST(Esaw, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for_each_case([&](Size size, const esaw::Parameters& p) {
      for (const int disparities : {1, 5, 16}) {
        PitchedImage<std::uint32_t> weights(esaw::weights_size(p, size));
        esaw::oracle_weights(p, lab_words(size, 5), weights);
        const auto costs = random_volume<std::uint8_t>(size, disparities, 9, 0, 255);
        Volume<std::uint16_t> expected(size, disparities);
        esaw::oracle(p, weights, costs, expected);

        const OnDevice<std::uint32_t> weights_there(device, queue, weights);
        const VolumeOnDevice<std::uint8_t> costs_there(device, queue, costs);
        for (int run = 0; run < 2; ++run) {
          VolumeOnDevice<std::uint16_t> got(device, queue, size, disparities), other(device, queue, size, disparities);
          esaw::gpu(p, weights_there, costs_there.volume(), got.volume(), other.volume(), queue);
          EXPECT_TRUE(same_cells<std::uint16_t>(got.download(), expected));
        }
      }
    });
  });
}

// One row and one step, whose result was computed by hand.
TEST(EsawOracle, TakesTheAverageOfThreePixels) {
  Image<std::uint32_t> lab(3, 1);
  lab(0, 0) = 200 | 512 << 10 | 512 << 20;
  lab(1, 0) = lab(0, 0);
  lab(2, 0) = 400 | 512 << 10 | 512 << 20;  // the colour is 50 units of L* away, so the weight is e^(−5)
  const esaw::Parameters p{.iterations = 1, .gamma_distance = 1000};
  Image<std::uint32_t> weights(3, 1);
  esaw::oracle_weights(p, lab, weights);
  EXPECT_EQ(weights(1, 0) & 255, 128u);       // the neighbours are at the smallest distance and have the same colour
  EXPECT_EQ(weights(1, 0) >> 8 & 255, 1u);    // 256 · e^(−5) / (2 + e^(−5)) = 0.86
  EXPECT_EQ(weights(1, 0) >> 16 & 255, 85u);  // the neighbours above and below replicate the pixel
  Volume<std::uint8_t> costs({3, 1}, 1);
  costs(0, 0, 0) = 10;
  costs(1, 0, 0) = 20;
  costs(2, 0, 0) = 250;
  Volume<std::uint16_t> aggregated({3, 1}, 1);
  esaw::oracle(p, weights, costs, aggregated);
  EXPECT_EQ(aggregated(1, 0, 0), (128 * (128 * 10 + 127 * 20 + 1 * 250) + 128) / 256);
}

TEST(EsawOracle, ConstantCostsStayAndAnEdgeOfColourStopsThem) {
  const Size size{40, 30};
  Image<std::uint32_t> lab(size);
  Volume<std::uint8_t> costs(size, 2);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      lab(x, y) = x < 20 ? 100 | 512 << 10 | 512 << 20 : 380 | 512 << 10 | 512 << 20;
      costs(x, y, 0) = 255;
      costs(x, y, 1) = x < 20 ? 0 : 200;
    }
  for (const auto normalise : {esaw::Normalise::step, esaw::Normalise::end}) {
    const esaw::Parameters p{.gamma_colour = 3, .normalise = normalise};
    Image<std::uint32_t> weights(esaw::weights_size(p, size));
    esaw::oracle_weights(p, lab, weights);
    Volume<std::uint16_t> aggregated(size, 2);
    esaw::oracle(p, weights, costs, aggregated);
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 40; ++x) {
        EXPECT_EQ(aggregated(x, y, 0), 255 * 128);
        EXPECT_EQ(aggregated(x, y, 1), x < 20 ? 0 : 200 * 128);
      }
  }
}

// Computes the sums of the paper in double precision and divides at the end, which `end` must approximate.
TEST(EsawOracle, NormalisedAtTheEndItIsThePapersSum) {
  const Size size{37, 23};
  const esaw::Parameters p{.iterations = 4, .normalise = esaw::Normalise::end};
  const auto lab = lab_words(size, 8);
  const auto costs = random_volume<std::uint8_t>(size, 1, 4, 0, 40);
  Image<double> cost(size), sum(size, 1, 1.0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) cost(x, y) = costs(x, y, 0);
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  const auto add = [&](const Image<double>& from, const esaw::Step& step, bool vertical) {
    Image<double> to(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        to(x, y) = from(x, y);
        for (const int o : {-step.offset, step.offset}) {
          const int qx = std::clamp(x + (vertical ? 0 : o), 0, size.width - 1),
                    qy = std::clamp(y + (vertical ? o : 0), 0, size.height - 1);
          to(x, y) +=
              std::exp(-support_weight::exponent(scales, support_weight::colour_distance(lab(x, y), lab(qx, qy)),
                                                 step.distance_part) /
                       32.0) *
              from(qx, qy);
        }
      }
    return to;
  };
  for (const esaw::Step& step : esaw::steps(p))
    for (const bool vertical : {false, true}) {
      cost = add(cost, step, vertical);
      sum = add(sum, step, vertical);
    }
  Image<std::uint32_t> weights(esaw::weights_size(p, size));
  esaw::oracle_weights(p, lab, weights);
  Volume<std::uint16_t> aggregated(size, 1);
  esaw::oracle(p, weights, costs, aggregated);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) EXPECT_NEAR(aggregated(x, y, 0) / 128.0, cost(x, y) / sum(x, y), 0.35);
}

TEST(EsawParameters, OffsetsAreThePapers) {
  std::vector<int> offsets;
  for (const esaw::Step& step : esaw::steps({})) offsets.push_back(step.offset);
  EXPECT_EQ(offsets, (std::vector{1, 2, 5, 11, 23}));
  EXPECT_EQ(esaw::required_input({}, {100, 100, 1, 1}), (Rect{58, 58, 85, 85}));
  EXPECT_THROW(check_ranges("esaw", esaw::Parameters{.iterations = 0}), Error);
  EXPECT_THROW(check_ranges("esaw", esaw::Parameters{.base = 0.9}), Error);
}

}  // namespace
}  // namespace stereopsis::esaw_test
