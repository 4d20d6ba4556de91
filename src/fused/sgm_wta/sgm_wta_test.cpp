#include "fused/sgm_wta/sgm_wta.hpp"

#include "support/cost_volumes.hpp"
#include "support/devices.hpp"
#include "support/selected.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::sgm_wta_test {
namespace {

using namespace test;

struct Case {
  Size size;
  DisparityRange range;
};

const std::vector<Case> cases = {
    {{1, 1}, {0, 1}},     {{1, 9}, {0, 4}},      {{9, 1}, {-2, 5}},     {{5, 7}, {0, 33}},
    {{17, 6}, {-40, 64}}, {{67, 13}, {0, 1}},    {{67, 13}, {3, 70}},   {{67, 13}, {0, 96}},
    {{131, 37}, {0, 64}}, {{131, 37}, {-7, 97}}, {{40, 21}, {500, 12}},
};

// Composes the oracles of the stages, which define the result of the fused run.
template <class Kind>
void oracle(const sgm_wta::Parameters& p, const sgm_wta::Input<Kind>& in, const wta::Output& out) {
  Volume<std::uint16_t> sums(in.source.left.size(), in.disparities);
  if constexpr (std::is_same_v<Kind, cost::Given>) {
    sgm::oracle<std::uint8_t>(p.sgm, in.source.kind.volume, in.source.kind.largest, in.guide, {}, sums.view());
  } else {
    sgm::oracle(p.sgm, in.source, in.guide, in.select.min_disparity, sums.view());
  }
  wta::oracle(p.select, in.select, sums, out);
}

template <class Kind>
void expect_equals_oracles(const sgm_wta::Parameters& p, sgm_wta::Input<Kind> in, int stripe_rows = 0) {
  in.stripe_rows = stripe_rows;
  const Size size = in.source.left.size();
  Selected expected(size);
  oracle(p, in, expected.view());
  for_each_engine([&](Threads& threads) {
    std::vector<std::byte> memory(
        64 + sgm_wta::workspace_bytes(p, in.source.kind, size, in.disparities, threads.count(), stripe_rows));
    for (int run = 0; run < 2; ++run) {
      Selected got(size);
      std::fill(memory.begin(), memory.end(), std::byte{0xA5});
      void* start = memory.data();
      std::size_t space = memory.size();
      std::align(64, memory.size() - 64, start, space);
      sgm_wta::cpu(p, in, got.view(), {static_cast<std::byte*>(start), memory.size() - 64}, threads);
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", disparities from "
                                      << in.select.min_disparity << ": " << in.disparities << ", paths " << p.sgm.paths
                                      << ", threads " << threads.count() << ", run " << run);
      expect_same(got, expected);
    }
  });
}

// Returns random words up to `max`.
template <class Word>
Image<Word> random_words(Size size, Word max) {
  std::mt19937_64 generator(3);
  Image<Word> words(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      words(x, y) = static_cast<Word>(max == Word(~Word{0}) ? generator() : generator() % (max + Word{1}));
  return words;
}

// Returns a left view, and a right view that is a shifted copy with noise. The costs resemble those of a scene, and
// include ties.
template <class Word>
std::pair<Image<Word>, Image<Word>> features(Size size, int shift, Word max) {
  Image<Word> left = random_words<Word>(size, max);
  Image<Word> right(size);
  std::mt19937 noise(5);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      right(x, y) =
          noise() % 4 == 0 ? static_cast<Word>(left(x, y) ^ (noise() & 7)) : left.view().clamped(x + shift, y);
  return {std::move(left), std::move(right)};
}

// Compares the result on a GPU with that of the oracles.
template <class Kind>
void expect_gpu_equals_oracles(gpu::Device& device, gpu::Queue& queue, const sgm_wta::Parameters& p, const Kind& kind,
                               typename Kind::Word max_value, const Case& c, bool masked, int stripe_rows = 0) {
  using Word = typename Kind::Word;
  const auto& [size, range] = c;
  auto [left, right] = features<Word>(size, range.min + range.count / 3, max_value);
  PitchedImage<Word> left_pitched(left.view()), right_pitched(right.view());
  PitchedImage<std::uint8_t> guide(random_image<std::uint8_t>(size, 11, 0, 60).view());
  PitchedImage<std::uint8_t> mask_left(random_image<std::uint8_t>(size, 12, 0, 9).view());
  PitchedImage<std::uint8_t> mask_right(random_image<std::uint8_t>(size, 13, 0, 9).view());
  sgm_wta::Input<Kind> in{{left_pitched, right_pitched, kind}, guide, {range.min, {}, {}}, range.count};
  if (masked) in.select = {range.min, mask_left, mask_right};
  Selected expected(size);
  oracle(p, in, expected.view());

  const OnDevice<Word> left_there(device, queue, left_pitched), right_there(device, queue, right_pitched);
  const OnDevice<std::uint8_t> guide_there(device, queue, guide), mask_left_there(device, queue, mask_left),
      mask_right_there(device, queue, mask_right);
  sgm_wta::Input<Kind, gpu::View> there{
      {left_there, right_there, kind}, guide_there, {range.min, {}, {}}, range.count, stripe_rows};
  if (masked) there.select = {range.min, mask_left_there, mask_right_there};
  const gpu::Buffer workspace =
      poisoned(device, queue, sgm_wta::gpu_workspace_bytes(p, size, range.count, stripe_rows));
  for (int run = 0; run < 2; ++run) {
    SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", disparities from " << range.min << ": "
                                    << range.count << ", paths " << p.sgm.paths << ", run " << run);
    Selected got(size);
    SelectedOnDevice there_got(device, queue, got);
    sgm_wta::gpu(p, there, there_got.view(), workspace.span(), queue);
    there_got.download();
    expect_same(got, expected);
  }
}

template <class Kind>
void expect_all_cases(const sgm_wta::Parameters& p, const Kind& kind, typename Kind::Word max_value,
                      bool masked = false, int stripe_rows = 0) {
  using Word = typename Kind::Word;
  for (const auto& [size, range] : cases) {
    auto [left, right] = features<Word>(size, range.min + range.count / 3, max_value);
    PitchedImage<Word> left_pitched(left.view()), right_pitched(right.view());
    PitchedImage<std::uint8_t> guide(random_image<std::uint8_t>(size, 11, 0, 60).view());
    PitchedImage<std::uint8_t> mask_left(random_image<std::uint8_t>(size, 12, 0, 9).view());
    PitchedImage<std::uint8_t> mask_right(random_image<std::uint8_t>(size, 13, 0, 9).view());
    sgm_wta::Input<Kind> in{{left_pitched, right_pitched, kind}, guide, {range.min, {}, {}}, range.count};
    if (masked) {
      in.select.mask_left = mask_left;
      in.select.mask_right = mask_right;
    }
    expect_equals_oracles(p, in, stripe_rows);
  }
}

constexpr cost::Rank rank9{9};
constexpr cost::Census<std::uint32_t> census5x5{24};
constexpr cost::Census<std::uint64_t> census9x7{62};
constexpr cost::CensusGradient census_gradient{3, 15};

TEST(SgmWta, RankEqualsOracles) {
  for (const int paths : {4, 8}) expect_all_cases({{.paths = paths, .p1 = 10, .p2 = 60}, {}}, rank9, 72);
}

TEST(SgmWta, CensusEqualsOracles) {
  expect_all_cases({{.p1 = 5, .p2 = 40}, {.subpixel = wta::Subpixel::parabola}}, census5x5, 0xFFFFFF);
  expect_all_cases({{.p1 = 5, .p2 = 40}, {.subpixel = wta::Subpixel::equiangular}}, census9x7, ~0ull >> 2);
}

TEST(SgmWta, CensusGradientEqualsOracles) {
  expect_all_cases({{.p1 = 20, .p2 = 130}, {.subpixel = wta::Subpixel::parabola}}, census_gradient, 0xFFFFFFFF);
}

TEST(SgmWta, SixteenBitPathsEqualOracles) {
  const sgm_wta::Parameters p{{.p1 = 100, .p2 = 2000}, {}};
  expect_all_cases(p, rank9, 72);
  expect_all_cases(p, census5x5, 0xFFFFFF);
  expect_all_cases(p, census_gradient, 0xFFFFFFFF);
  expect_all_cases({{.paths = 4, .p1 = 100, .p2 = 2000}, {}}, census9x7, ~0ull >> 2);
}

TEST(SgmWta, AdaptivePenaltyEqualsOracles) {
  for (const int paths : {4, 8})
    expect_all_cases({{.paths = paths, .p1 = 10, .p2 = 90, .gradient = 8, .p2_min = 20}, {}}, rank9, 72);
}

TEST(SgmWta, MasksUniquenessAndBorderCandidatesEqualOracles) {
  for (const bool border : {false, true})
    expect_all_cases(
        {{.p1 = 10, .p2 = 60}, {.subpixel = wta::Subpixel::parabola, .uniqueness = 7, .border_candidates = border}},
        rank9, 72, true);
}

// Expects equality for given costs between `lowest` and `highest`.
void expect_given_costs_equal_oracles(const sgm_wta::Parameters& p, int lowest, int highest, int largest,
                                      int stripe_rows = 0) {
  SCOPED_TRACE(testing::Message() << "costs from " << lowest << " to " << highest << ", at most " << largest);
  for (const auto& [size, range] : cases) {
    // The rows have a pitch, and the last row lies elsewhere.
    const Volume<std::uint8_t> wider =
        random_volume<std::uint8_t>({size.width + 1, size.height}, range.count, 7, lowest, highest);
    const Volume<std::uint8_t> row = random_volume<std::uint8_t>({size.width, 1}, range.count, 8, lowest, highest);
    const auto [data, pitch] = std::pair(wider.view().data, wider.view().row_pitch);
    const VolumeView<const std::uint8_t> costs{data, size.width, size.height, range.count, pitch, row.view().data};
    const ImageView<const std::uint8_t> pixels(data, size.width, size.height, range.count, pitch);
    PitchedImage<std::uint8_t> guide(random_image<std::uint8_t>(size, 11, 0, 60).view());
    expect_equals_oracles(
        p, sgm_wta::Input<cost::Given>{{pixels, {}, {largest, costs}}, guide, {range.min, {}, {}}, range.count},
        stripe_rows);
  }
}

TEST(SgmWta, GivenCostsEqualOracles) {
  for (const int paths : {4, 8})
    for (const int stripe_rows : {0, 5}) {
      const sgm_wta::Parameters p{{.paths = paths, .p1 = 16, .p2 = 100, .gradient = 8, .p2_min = 30},
                                  {.subpixel = wta::Subpixel::equiangular, .uniqueness = 3}};
      expect_given_costs_equal_oracles(p, 0, 180, 168, stripe_rows);
    }
  expect_given_costs_equal_oracles({{.p1 = 10, .p2 = 60}, {}}, 0, 80, 80);
  expect_given_costs_equal_oracles({{.paths = 4, .p1 = 100, .p2 = 200}, {}}, 0, 255, 255);
}

// The costs are so large that path costs saturate, and their minima as well.
TEST(SgmWta, GivenCostsWhosePathCostsSaturateEqualOracles) {
  for (const int paths : {4, 8})
    for (const int p2 : {60, 127, 128})
      for (const int lowest : {120, 200, 255})
        expect_given_costs_equal_oracles({{.paths = paths, .p1 = 16, .p2 = p2}, {}}, lowest, 255, 255);
}

// Sums of two paths take 8 bits up to a P2 of 127.
TEST(SgmWta, SumsOf8And16BitsEqualOracles) {
  for (const int p2 : {127, 128, 183}) expect_all_cases({{.paths = 4, .p1 = 20, .p2 = p2}, {}}, rank9, 72);
}

template <class Kind>
void expect_all_gpu_cases(gpu::Device& device, gpu::Queue& queue, const sgm_wta::Parameters& p, const Kind& kind,
                          typename Kind::Word max_value, bool masked = false, int stripe_rows = 0) {
  for (const Case& c : cases) expect_gpu_equals_oracles(device, queue, p, kind, max_value, c, masked, stripe_rows);
}

TEST(SgmWta, GpuEqualsOracles) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for (const int paths : {4, 8})
      expect_all_gpu_cases(device, queue, {{.paths = paths, .p1 = 10, .p2 = 60}, {}}, rank9, 72);
    expect_all_gpu_cases(device, queue, {{.p1 = 5, .p2 = 40}, {.subpixel = wta::Subpixel::parabola}}, census5x5,
                         0xFFFFFF);
    expect_all_gpu_cases(device, queue, {{.p1 = 5, .p2 = 40}, {.subpixel = wta::Subpixel::equiangular}}, census9x7,
                         ~0ull >> 2);
    expect_all_gpu_cases(device, queue, {{.p1 = 100, .p2 = 2000}, {.subpixel = wta::Subpixel::parabola}},
                         census_gradient, 0xFFFFFFFF);
  });
}

TEST(SgmWta, GpuEqualsOraclesWithAdaptivePenaltyMasksAndUniqueness) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    const sgm::Parameters adaptive{.p1 = 10, .p2 = 90, .gradient = 8, .p2_min = 20};
    for (const bool border : {false, true})
      expect_all_gpu_cases(
          device, queue,
          {adaptive, {.subpixel = wta::Subpixel::parabola, .uniqueness = 7, .border_candidates = border}}, rank9, 72,
          true);
  });
}

const sgm::Parameters adaptive_p2{.p1 = 10, .p2 = 90, .gradient = 8, .p2_min = 20};

TEST(SgmWta, StripesEqualOracles) {
  for (const int rows : {1, 5, 8, 20}) {
    SCOPED_TRACE(testing::Message() << "stripes of " << rows << " rows");
    expect_all_cases({adaptive_p2, {.subpixel = wta::Subpixel::parabola}}, rank9, 72, true, rows);
    expect_all_cases({{.paths = 4, .p1 = 100, .p2 = 2000}, {}}, census5x5, 0xFFFFFF, false, rows);
  }
}

TEST(SgmWta, StripesOnAGpuEqualOracles) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for (const int rows : {1, 5, 20}) {  // with 1 row, there are more stripes than are kept at once
      SCOPED_TRACE(testing::Message() << "stripes of " << rows << " rows");
      expect_all_gpu_cases(device, queue, {adaptive_p2, {.subpixel = wta::Subpixel::parabola}}, rank9, 72, true, rows);
      expect_all_gpu_cases(device, queue, {{.paths = 4, .p1 = 100, .p2 = 2000}, {}}, census5x5, 0xFFFFFF, false, rows);
    }
    for (const auto& [height, rows] : {std::pair{11, 4}, {23, 1}})
      expect_gpu_equals_oracles(device, queue, {{.p1 = 5, .p2 = 40}, {}}, rank9, 72, {{30, height}, {0, 1025}}, false,
                                rows);
  });
}

// Tests the number of stored rows of path costs: one per stripe if there are few stripes, else about twice the square
// root of their number. There is one kind of path with 4 paths, and three with 8.
TEST(SgmWta, StripesOnAGpuTakeLittleMemory) {
  const auto kept_rows = [](int paths, int stripes) {
    const auto bytes = [&](int rows, int height) {
      return sgm_wta::gpu_workspace_bytes({{.paths = paths}, {}}, {100, height}, 64, rows);
    };
    return static_cast<double>(bytes(8, 8 * stripes) - bytes(8, 8)) / (2 * 100 * 64);
  };
  EXPECT_EQ(kept_rows(4, 1), 0);
  EXPECT_EQ(kept_rows(4, 16), 17);
  EXPECT_EQ(kept_rows(8, 16), 3 * 17);
  EXPECT_EQ(kept_rows(4, 100), 20);
  EXPECT_EQ(kept_rows(8, 100), 3 * 20);
}

// There are more disparities than fit as path costs in local memory.
TEST(SgmWta, GpuEqualsOraclesInWideRanges) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for (const DisparityRange range : {DisparityRange{0, 1024}, DisparityRange{-20, 1025}, DisparityRange{0, 2100}}) {
      const Case wide{{30, 11}, range};
      const sgm_wta::Parameters p{{.p1 = 5, .p2 = 40},
                                  {.subpixel = wta::Subpixel::parabola, .border_candidates = true}};
      expect_gpu_equals_oracles(device, queue, p, rank9, 72, wide, false);
      expect_gpu_equals_oracles(device, queue, p, census5x5, 0xFFFFFF, wide, false);
      expect_gpu_equals_oracles(device, queue, p, census9x7, ~0ull >> 2, wide, false);
      expect_gpu_equals_oracles(device, queue, p, census_gradient, 0xFFFFFFFF, wide, false);
    }
  });
}

TEST(SgmOracle, FollowsEquation4OnOneRow) {
  // An image of two pixels with three disparities. Only paths along the row matter, with costs |l − r| and clamped
  // candidates.
  Image<std::uint8_t> left({2, 1}, 1, 0), right({2, 1}, 1, 0);
  left(0, 0) = 5;
  left(1, 0) = 9;
  right(0, 0) = 5;
  right(1, 0) = 1;
  Volume<std::uint16_t> sums({2, 1}, 2);
  sgm::oracle<cost::Rank>({.paths = 4, .p1 = 1, .p2 = 3}, {left, right, {15}}, {}, 0, sums.view());
  // C(0) = {0, 0}; C(1) = {|9−1|, |9−5|} = {8, 4}. The upward path and the downward path each cost C. Rightwards L(1) =
  // {8, 4}
  // + 0; leftwards L(0) = {0 + min(8, 4+1, 4+3) − 4, 0 + min(4, 8+1, 4+3) − 4} = {1, 0}.
  EXPECT_EQ(sums(0, 0, 0), 0 + 0 + 0 + 1);
  EXPECT_EQ(sums(0, 0, 1), 0 + 0 + 0 + 0);
  EXPECT_EQ(sums(1, 0, 0), 4 * 8);
  EXPECT_EQ(sums(1, 0, 1), 4 * 4);
}

TEST(SgmParameters, WhatCannotWorkIsRefused) {
  EXPECT_THROW(sgm::check({.paths = 5}, 80), Error);
  EXPECT_THROW(sgm::check({.p1 = 70, .p2 = 60}, 80), Error);
  EXPECT_THROW(sgm::check({.p1 = 30, .p2 = 60, .gradient = 8, .p2_min = 20}, 80), Error);
  EXPECT_NO_THROW(sgm::check({.p1 = 30, .p2 = 60}, 80));
}

}  // namespace
}  // namespace stereopsis::sgm_wta_test
