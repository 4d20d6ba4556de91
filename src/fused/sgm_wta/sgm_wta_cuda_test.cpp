#include "fused/sgm_wta/sgm_wta_cuda.hpp"
#include "fused/sgm_wta/sgm_wta_cuda_problem.hpp"

#include <deque>

#include "support/devices.hpp"
#include "support/recording_queue.hpp"
#include "support/selected.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::sgm_wta_cuda_test {
namespace {

using namespace test;

// Sizes and ranges close to the widths of tiles (4, 8, 16, 32), to their height (8), and to the ranges (64, 128, 256, 512,
// 1024) of the kernels.
const std::vector<Size> sizes = {{1, 1},  {1, 9},  {9, 1},   {5, 7},    {7, 70},
                                 {31, 8}, {33, 9}, {67, 13}, {131, 37}, {257, 17}};
const std::vector<DisparityRange> ranges = {{0, 1},    {-2, 5},  {3, 63},    {0, 64},  {-40, 65},
                                            {0, 100},  {0, 128}, {-7, 129},  {2, 200}, {0, 256},
                                            {500, 12}, {0, 257}, {-30, 512}, {0, 513}, {-300, 1024}};

// Returns a left view, and a right view that is a shifted copy with noise. The costs resemble those of a scene, and
// include ties.
template <class Word>
std::pair<Image<Word>, Image<Word>> features(Size size, int shift, Word max) {
  std::mt19937_64 random(3);
  Image<Word> left(size), right(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      left(x, y) = max == Word(~Word{0}) ? Word(random()) : Word(random() % (max + Word{1}));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Word noisy = Word(left(x, y) ^ (random() & 7));
      right(x, y) = random() % 4 == 0 ? std::min(noisy, max) : left.view().clamped(x + shift, y);
    }
  return {std::move(left), std::move(right)};
}

// Returns views in which any two pixels of different views differ by nearly the maximum.
template <class Word>
std::pair<Image<Word>, Image<Word>> far_apart(Size size, Word max) {
  std::mt19937 random(4);
  Image<Word> left(size), right(size);
  left.fill(0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) right(x, y) = Word(max - random() % 8);
  return {std::move(left), std::move(right)};
}

// Returns the selection of the oracles.
template <class Kind>
Selected selected_by_oracles(const sgm_wta::Parameters& p, const sgm_wta::Input<Kind>& in) {
  const Size size = in.source.left.size();
  Selected selected(size);
  Volume<std::uint16_t> sums(size, in.disparities);
  sgm::oracle<Kind>(p.sgm, in.source, in.guide, in.select.min_disparity, sums.view());
  wta::oracle(p.select, in.select, sums, selected.view());
  return selected;
}

template <class Kind>
void expect_equals_oracles(gpu::Device& device, gpu::Queue& queue, const sgm_wta::Parameters& p, const Kind& kind,
                           typename Kind::Word max_word, Size size, DisparityRange range, bool masked,
                           bool apart = false, int stripe_rows = 0) {
  using Word = typename Kind::Word;
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", disparities from " << range.min << ": "
                                  << range.count << ", paths " << p.sgm.paths << ", p1 " << p.sgm.p1 << ", p2 "
                                  << p.sgm.p2 << ", stripes of " << stripe_rows);
  auto [left, right] =
      apart ? far_apart<Word>(size, max_word) : features<Word>(size, range.min + range.count / 3, max_word);
  PitchedImage<Word> left_pitched(left.view()), right_pitched(right.view());
  PitchedImage<std::uint8_t> guide(random_image<std::uint8_t>(size, 11, 0, 60).view());
  PitchedImage<std::uint8_t> mask_left(random_image<std::uint8_t>(size, 12, 0, 9).view());
  PitchedImage<std::uint8_t> mask_right(random_image<std::uint8_t>(size, 13, 0, 3).view());

  wta::Input select{range.min, {}, {}};
  if (masked) select = {range.min, mask_left, mask_right};
  Selected expected = selected_by_oracles<Kind>(p, {{left_pitched, right_pitched, kind}, guide, select, range.count});

  const OnDevice<Word> left_there(device, queue, left_pitched), right_there(device, queue, right_pitched);
  const OnDevice<std::uint8_t> guide_there(device, queue, guide), mask_left_there(device, queue, mask_left),
      mask_right_there(device, queue, mask_right);
  sgm_wta::Input<Kind, gpu::View> in{{left_there, right_there, kind}, guide_there, {range.min, {}, {}}, range.count};
  if (masked) in.select = {range.min, mask_left_there, mask_right_there};
  in.stripe_rows = stripe_rows;
  ASSERT_TRUE(sgm_wta::cuda_serves(p, kind, range.count));
  const gpu::Buffer workspace = poisoned(
      device, queue,
      sgm_wta::cuda_workspace_bytes(p, kind, size, range.count,
                                    sgm_wta::cuda_is_compact(queue.cuda_capability(), stripe_rows), stripe_rows));
  for (const bool all_wanted : {true, true, false}) {
    Selected got(size);
    SelectedOnDevice got_there(device, queue, got);
    sgm_wta::cuda(p, in, got_there.view(all_wanted), workspace.span(), queue);
    got_there.download();
    expect_same(got, expected, all_wanted);
  }
}

template <class Kind>
void expect_all_equal(const sgm_wta::Parameters& p, const Kind& kind, typename Kind::Word max_word,
                      bool masked = false) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : sizes)
      for (const DisparityRange range : ranges)
        expect_equals_oracles(device, queue, p, kind, max_word, size, range, masked);
  });
}

using enum wta::Subpixel;
constexpr cost::Rank rank9{9};
constexpr cost::Census<std::uint32_t> census5x5{24};
constexpr cost::Census<std::uint64_t> census9x7{62};
constexpr cost::CensusGradient census_gradient{2, 10};

sgm::Parameters adaptive(int paths, int p1, int p2, int p2_min) {
  return {.paths = paths, .p1 = p1, .p2 = p2, .gradient = 8, .p2_min = p2_min};
}

TEST(SgmWtaCuda, RankEqualsOracles) {
  for (const int paths : {4, 8}) {
    expect_all_equal({{.paths = paths, .p1 = 10, .p2 = 60}, {}}, rank9, std::uint8_t{80});
    expect_all_equal({{.paths = paths, .p1 = 30, .p2 = 255}, {.subpixel = parabola}}, rank9, std::uint8_t{80});
    expect_all_equal({adaptive(paths, 10, 120, 20), {.subpixel = equiangular}}, rank9, std::uint8_t{80});
  }
}

// With so many disparities and this P2, the first pass stores contributions of paths along rows for most strips, unless
// rows are long or the compact layout is used.
TEST(SgmWtaCuda, KeptRowsEqualOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const auto& [paths, disparities] : {std::pair{8, 128}, {8, 256}, {4, 256}})
      for (const int p2 : {80, 127, 128}) {
        const sgm_wta::Parameters p{{.paths = paths, .p1 = 20, .p2 = p2}, {.subpixel = parabola}};
        const auto expect_rank = [&](Size size, int first, bool masked, bool apart, bool compact) {
          expect_equals_oracles(device, queue, p, rank9, std::uint8_t{80}, size, {first, disparities}, masked, apart,
                                compact ? size.height : 0);
        };
        for (const Size size : {Size{10, 5}, Size{17, 9}, Size{33, 17}, Size{64, 40}, Size{67, 34}, Size{50, 200},
                                Size{200, 100}, Size{201, 100}}) {
          expect_rank(size, -3, true, false, false);
          expect_rank(size, 0, false, true, false);
        }
        expect_rank({130, 129}, 0, false, false, false);
        expect_rank({130, 129}, 0, false, false, true);
      }
  });
}

TEST(SgmWtaCuda, KeptRowsTakeLessThanThreeBytesACell) {
  for (const auto& [paths, disparities] : {std::pair{8, 128}, {8, 256}, {4, 256}}) {
    const sgm_wta::Parameters p{{.paths = paths, .p1 = 20, .p2 = 100}, {}};
    const auto bytes = [&](Size size, bool compact) {
      return sgm_wta::cuda_workspace_bytes(p, rank9, size, disparities, compact) /
             (static_cast<double>(disparities) * size.width * size.height);
    };
    for (const Size size : {Size{640, 480}, Size{1280, 960}, Size{1920, 1080}, Size{2880, 1980}}) {
      EXPECT_GT(bytes(size, false), 1.8);
      EXPECT_LT(bytes(size, false), 2.95);
      EXPECT_LT(bytes(size, true), 1.6);
    }
    EXPECT_LT(bytes({1242, 375}, false), 1.6);  // without kept rows
  }
}

TEST(SgmWtaCuda, CensusEqualsOracles) {
  expect_all_equal({{.paths = 8, .p1 = 5, .p2 = 40}, {.subpixel = parabola}}, census5x5, 0xFFFFFF);
  expect_all_equal({{.paths = 4, .p1 = 5, .p2 = 40}, {.subpixel = equiangular}}, census9x7, ~0ull >> 2);
  expect_all_equal({{.paths = 4, .p1 = 30, .p2 = 100}, {.subpixel = parabola}}, census9x7, ~0ull >> 2);
  expect_all_equal({{.paths = 8, .p1 = 30, .p2 = 100}, {.subpixel = equiangular}}, census9x7, ~0ull >> 2);
  expect_all_equal({{.paths = 4, .p1 = 5, .p2 = 24}, {.subpixel = parabola}}, census5x5, 0xFFFFFF);
  expect_all_equal({adaptive(8, 5, 60, 10), {.subpixel = parabola}}, census9x7, ~0ull >> 2);
}

TEST(SgmWtaCuda, CensusGradientEqualsOracles) {
  expect_all_equal({adaptive(4, 20, 100, 30), {.subpixel = equiangular}}, census_gradient, 0xFFFFFFFF);
  expect_all_equal({adaptive(8, 20, 100, 30), {.subpixel = equiangular}}, census_gradient, 0xFFFFFFFF);
  expect_all_equal({{.paths = 8, .p1 = 20, .p2 = 217}, {.subpixel = parabola}}, census_gradient,
                   0xFFFFFFFF);  // the largest P2
  expect_all_equal({{.paths = 4, .p1 = 0, .p2 = 0}, {}}, census_gradient, 0xFFFFFFFF);
}

TEST(SgmWtaCuda, MasksUniquenessAndBorderCandidatesEqualOracles) {
  for (const bool border : {false, true}) {
    const wta::Parameters select{.subpixel = parabola, .uniqueness = 7, .border_candidates = border};
    expect_all_equal({{.paths = 8, .p1 = 10, .p2 = 60}, select}, rank9, std::uint8_t{80}, true);
    for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {  // with kept rows
      for (const int disparities : {128, 256})
        expect_equals_oracles(device, queue, {{.paths = 8, .p1 = 10, .p2 = 90}, select}, rank9, std::uint8_t{80},
                              {67, 41}, {-3, disparities}, true);
    });
    expect_all_equal({{.paths = 4, .p1 = 5, .p2 = 40}, select}, census5x5, 0xFFFFFF, true);
    expect_all_equal({adaptive(4, 20, 100, 30), select}, census_gradient, 0xFFFFFFFF, false);
  }
}

// Cases in which a cost volume has so many warps in the first pass that its blocks have one warp each, or that one
// direction of y follows the other.
TEST(SgmWtaCuda, HighVolumesEqualOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const int paths : {4, 8}) {
      const sgm_wta::Parameters constant{{.paths = paths, .p1 = 30, .p2 = 100}, {}};
      const auto expect_census = [&](Size size, DisparityRange range) {
        expect_equals_oracles(device, queue, constant, census9x7, ~0ull >> 2, size, range, false);
      };
      expect_census({9, 12100}, {0, 64});
      expect_census({40, 2100}, {0, 128});
      expect_census({41, 3300}, {0, 256});
      expect_census({9, 4000}, {0, 250});
      expect_equals_oracles(device, queue, {adaptive(paths, 20, 100, 30), {}}, census_gradient, 0xFFFFFFFFu, {9, 4000},
                            {0, 250}, false);
    }
  });
}

// Tests rank, whose lines wrap around the image repeatedly. The lines precede the rows if not all warps run at once.
// Rows are kept with the larger P2, except with 64 disparities.
TEST(SgmWtaCuda, HighImagesEqualOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const int paths : {4, 8}) {
      const auto expect_rank = [&](Size size, DisparityRange range, int p2) {
        expect_equals_oracles(device, queue, {{.paths = paths, .p1 = 10, .p2 = p2}, {}}, rank9, std::uint8_t{80}, size,
                              range, false);
      };
      for (const int disparities : {60, 64, 100, 128}) expect_rank({9, 700}, {0, disparities}, 60);
      expect_rank({9, 10700}, {0, 64}, 60);
      for (const int p2 : {60, 90}) {
        expect_rank({33, 5400}, {0, 128}, p2);
        expect_rank({40, 3300}, {-3, 256}, p2);
      }
    }
  });
}

// Rows precede lines if they take longer.
TEST(SgmWtaCuda, WideImagesEqualOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const DisparityRange range : {DisparityRange{0, 60}, DisparityRange{0, 128}, DisparityRange{-7, 250}})
      for (const int paths : {4, 8}) {
        expect_equals_oracles(device, queue, {{.paths = paths, .p1 = 10, .p2 = 60}, {}}, rank9, std::uint8_t{80},
                              {2100, 10}, range, false);
        expect_equals_oracles(device, queue, {{.paths = paths, .p1 = 30, .p2 = 100}, {}}, census9x7, ~0ull >> 2,
                              {2100, 10}, range, false);
        expect_equals_oracles(device, queue, {adaptive(paths, 20, 100, 30), {}}, census_gradient, 0xFFFFFFFFu,
                              {2100, 10}, range, false);
      }
  });
}

// Paths of all kinds cross the borders of stripes, whose heights are a multiple of a tile's height or not.
TEST(SgmWtaCuda, StripesEqualOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const DisparityRange range :
         {DisparityRange{0, 64}, DisparityRange{-7, 100}, DisparityRange{0, 128}, DisparityRange{3, 250},
          DisparityRange{0, 256}, DisparityRange{0, 300}, DisparityRange{0, 600}})
      for (const int paths : {4, 8})
        for (const Size size : {Size{5, 9}, Size{67, 41}, Size{131, 37}})
          for (const int rows : {1, 8, 13, 24}) {
            const auto expect_stripes = [&](const sgm_wta::Parameters& p, const auto& kind, auto max_word) {
              expect_equals_oracles(device, queue, p, kind, max_word, size, range, rows == 8, false, rows);
            };
            expect_stripes({{.paths = paths, .p1 = 10, .p2 = 60}, {.subpixel = parabola}}, rank9, std::uint8_t{80});
            expect_stripes({{.paths = paths, .p1 = 30, .p2 = 100}, {.subpixel = equiangular}}, census9x7, ~0ull >> 2);
            expect_stripes({adaptive(paths, 20, 100, 30), {}}, census_gradient, 0xFFFFFFFFu);
          }
  });
}

// The memory that stripes need is about that of their share of the rows.
TEST(SgmWtaCuda, StripesTakeTheMemoryOfTheirRows) {
  const sgm_wta::Parameters p{{.paths = 8, .p1 = 20, .p2 = 100}, {}};
  const auto bytes = [&](int stripe_rows) {
    return sgm_wta::cuda_workspace_bytes(p, census9x7, {2880, 1980}, 256, true, stripe_rows);
  };
  for (const int stripes : {2, 4, 8}) EXPECT_LT(bytes(1980 / stripes), bytes(0) * 1.1 / stripes);
}

// Every cost is nearly the largest cost, so that path costs grow as fast as possible.
TEST(SgmWtaCuda, ViewsWithNothingInCommonEqualOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const DisparityRange range :
         {DisparityRange{0, 64}, DisparityRange{0, 100}, DisparityRange{0, 128}, DisparityRange{0, 256}})
      for (const int paths : {4, 8}) {
        const auto with = [&](int p2) {
          return sgm_wta::Parameters{{.paths = paths, .p1 = 10, .p2 = p2}, {.subpixel = parabola}};
        };
        expect_equals_oracles(device, queue, with(80), rank9, std::uint8_t{80}, {67, 21}, range, false, true);
        expect_equals_oracles(device, queue, with(62), census9x7, ~0ull >> 2, {67, 21}, range, false, true);
      }
  });
}

// Consecutive frames use one workspace without waiting in between. Tiles start before all paths have ended, and must
// not use data of the previous frame.
TEST(SgmWtaCuda, FramesInTurnEqualOracles) {
  for_each_tuned_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const auto& [paths, disparities] : {std::pair{4, 128}, {8, 128}, {8, 256}})
      for (const Size size : {Size{131, 137}, Size{70, 1064}}) {
        const sgm_wta::Parameters p{{.paths = paths, .p1 = 10, .p2 = 90}, {.subpixel = parabola}};
        struct Frame {
          Frame(gpu::Device& device, gpu::Queue& queue, const std::pair<Image<std::uint8_t>, Image<std::uint8_t>>& pair)
              : left(pair.first.view()),
                right(pair.second.view()),
                left_there(device, queue, left),
                right_there(device, queue, right),
                got(left.view().size()),
                got_there(device, queue, got) {}
          PitchedImage<std::uint8_t> left, right;
          OnDevice<std::uint8_t> left_there, right_there;
          Selected got;
          SelectedOnDevice got_there;
        };
        std::deque<Frame> frames;
        for (int i = 0; i < 2; ++i) {
          frames.emplace_back(device, queue, features<std::uint8_t>(size, 20, 80));
          frames.emplace_back(device, queue, far_apart<std::uint8_t>(size, 80));
          frames.emplace_back(device, queue, features<std::uint8_t>(size, 3, 80));
        }
        const gpu::Buffer workspace =
            poisoned(device, queue, sgm_wta::cuda_workspace_bytes(p, rank9, size, disparities, false));
        for (Frame& frame : frames)
          sgm_wta::cuda<cost::Rank>(p, {{frame.left_there, frame.right_there, rank9}, {}, {}, disparities},
                                    frame.got_there.view(true), workspace.span(), queue);
        for (std::size_t i = 0; i < frames.size(); ++i) {
          Frame& frame = frames[i];
          frame.got_there.download();
          SCOPED_TRACE(testing::Message() << "frame " << i << ", " << paths << " paths, " << disparities);
          Selected expected =
              selected_by_oracles<cost::Rank>(p, {{frame.left, frame.right, rank9}, {}, {}, disparities});
          expect_same(frame.got, expected);
        }
      }
  });
}

// Unsupported parameters are rejected.
TEST(SgmWtaCuda, ServesWhatItsWordsHold) {
  const sgm::Parameters paths{.paths = 8, .p1 = 10, .p2 = 100};
  EXPECT_TRUE(sgm_wta::cuda_serves({paths, {}}, rank9, 1024));
  EXPECT_FALSE(sgm_wta::cuda_serves({paths, {}}, rank9, 1025));
  EXPECT_TRUE(sgm_wta::cuda_serves({{.p1 = 10, .p2 = 255}, {}}, rank9, 64));
  EXPECT_FALSE(sgm_wta::cuda_serves({{.p1 = 10, .p2 = 256}, {}}, rank9, 64));
  EXPECT_FALSE(sgm_wta::cuda_serves({paths, {}}, cost::Rank{15}, 64));
  EXPECT_TRUE(sgm_wta::cuda_serves({{.p1 = 20, .p2 = 217}, {}}, census_gradient, 60));
  EXPECT_FALSE(sgm_wta::cuda_serves({{.p1 = 20, .p2 = 218}, {}}, census_gradient, 60));
  // If the search range fills the range of the kernel, there are no padding disparities.
  EXPECT_TRUE(sgm_wta::cuda_serves({{.p1 = 20, .p2 = 255}, {}}, census_gradient, 64));
  const sgm::Parameters four{.paths = 4, .p1 = 20, .p2 = 100};
  EXPECT_TRUE(sgm_wta::cuda_serves({four, {}}, cost::Given{175}, 60));
  EXPECT_FALSE(sgm_wta::cuda_serves({four, {}}, cost::Given{176}, 60));
  EXPECT_TRUE(sgm_wta::cuda_serves({four, {}}, cost::Given{214}, 128));
  EXPECT_FALSE(sgm_wta::cuda_serves({four, {}}, cost::Given{215}, 128));
}

// The launch of the first pass, and the parameters that describe this launch to the kernel.
struct FirstPass {
  std::string launch;
  sgm_wta::Order order;
  bool wide_rows;

  bool operator==(const FirstPass&) const = default;
};
std::ostream& operator<<(std::ostream& out, const FirstPass& pass) {
  return out << pass.launch << ", order " << static_cast<int>(pass.order) << ", wide rows " << pass.wide_rows;
}
template <class Kind>
FirstPass first_pass(const gpu::Properties& device, const Kind& kind, Size size, int disparities, int paths) {
  RecordingQueue queue(device);
  const auto words = absent_image<const typename Kind::Word>(size);
  sgm_wta::cuda<Kind>({{.paths = paths, .p1 = 10, .p2 = 100}, {}}, {{words, words, kind}, {}, {}, disparities},
                      {absent_image<float>(size), absent_image<std::uint8_t>(size), absent_image<float>(size), {}},
                      absent_memory(), queue);
  EXPECT_TRUE(queue.is_possible());
  const auto problem = queue.problem_of<sgm_wta::Problem>("borders");
  return {queue.last("borders"), problem.order, problem.wide_rows != 0};
}

TEST(SgmWtaCuda, FollowsPathsByTheNumberOfMultiprocessors) {
  using enum sgm_wta::Order;
  const auto rank = [](const gpu::Properties& device, Size size, int disparities, int paths) {
    return first_pass(device, rank9, size, disparities, paths);
  };
  const auto census = [](const gpu::Properties& device, Size size, int disparities, int paths) {
    return first_pass(device, census9x7, size, disparities, paths);
  };
  EXPECT_EQ(rank(h100, {640, 480}, 128, 8), (FirstPass{"rank_kept_8: 192 × 1 blocks of 128 × 1", rows_first, false}));
  EXPECT_EQ(rank(h100, {1280, 960}, 64, 8), (FirstPass{"rank_8: 324 × 1 blocks of 128 × 1", rows_first, true}));
  EXPECT_EQ(rank(h100, {1280, 960}, 256, 8), (FirstPass{"rank_kept_8: 492 × 1 blocks of 128 × 1", lines_first, false}));
  EXPECT_EQ(census(h100, {1280, 960}, 64, 8),
            (FirstPass{"volume_early_8: 186 × 1 blocks of 128 × 1", lines_first, true}));
  EXPECT_EQ(census(h100, {1280, 960}, 128, 8),
            (FirstPass{"volume_early_8: 366 × 1 blocks of 128 × 1", senses_in_turn, true}));
  EXPECT_EQ(census(h100, {1920, 1080}, 256, 8),
            (FirstPass{"six_bits_8: 502 × 1 blocks of 128 × 1", senses_in_turn, false}));
  EXPECT_EQ(census(h100, {2880, 1980}, 256, 8),
            (FirstPass{"six_bits_8: 3156 × 1 blocks of 32 × 1", senses_in_turn, false}));
  EXPECT_EQ(census(h100, {2880, 1980}, 256, 4),
            (FirstPass{"six_bits_4: 3420 × 1 blocks of 32 × 1", lines_first, false}));
  // Fewer multiprocessors run fewer warps at a time.
  EXPECT_EQ(census(geforce, {1280, 960}, 64, 8).order, senses_in_turn);
  EXPECT_FALSE(rank(orin, {1280, 960}, 64, 8).order == rows_first);
  for (const gpu::Properties& device : {geforce, orin}) {
    rank(device, {1, 1}, 1, 4);
    rank(device, {2880, 1980}, 256, 8);
  }
}

TEST(SgmWtaCuda, KeepsRowsFromCapability90On) {
  EXPECT_TRUE(sgm_wta::cuda_is_compact(80, 0));
  EXPECT_TRUE(sgm_wta::cuda_is_compact(89, 0));
  EXPECT_FALSE(sgm_wta::cuda_is_compact(90, 0));
  EXPECT_FALSE(sgm_wta::cuda_is_compact(120, 0));
  EXPECT_TRUE(sgm_wta::cuda_is_compact(90, 96));
}

}  // namespace
}  // namespace stereopsis::sgm_wta_cuda_test
