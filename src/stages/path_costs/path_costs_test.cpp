#include "stages/path_costs/path_costs.hpp"

#include "support/cost_volumes.hpp"
#include "support/words.hpp"

namespace stereopsis::path_costs_test {
namespace {

using namespace test;

// The words of a view; for given costs those of the volume, with a channel for each disparity.
template <class Kind>
PitchedImage<typename Kind::Word> words_of(Size size, int disparities, unsigned seed) {
  if constexpr (std::is_same_v<Kind, cost::Given>)
    return PitchedImage<std::uint8_t>(random_image<std::uint8_t>(size, seed, 0, 255, disparities).view());
  else
    return PitchedImage<typename Kind::Word>(random_words<typename Kind::Word>(size, seed).view());
}

template <class Kind>
void expect_equal_oracle(const path_costs::Parameters& p, const Kind& kind, Size size, int disparities,
                         bool from_edge) {
  SCOPED_TRACE(testing::Message() << p.sgm.paths << " paths, " << size.width << "x" << size.height << "x" << disparities
                                  << (p.up ? ", up" : ", down") << (from_edge ? ", from an edge" : ""));
  using Word = typename Kind::Word;
  PitchedImage<Word> left = words_of<Kind>(size, disparities, 1), right = words_of<Kind>(size, disparities, 2);
  PitchedImage<std::uint8_t> guide(random_image<std::uint8_t>(size, 3, 0, 60).view());
  const Size edge{size.width, sgm::kinds_of(p.sgm)};
  PitchedImage<std::uint16_t> before(random_path_costs(edge, disparities, 4, p.sgm.p2).view());
  path_costs::Input<Kind> in{{left, right, kind}, guide, {}, -3, disparities};
  if constexpr (std::is_same_v<Kind, cost::Given>)
    in.source.kind.volume = {left.view().data, size.width, size.height, disparities, left.view().pitch};
  if (from_edge) in.before = before;
  Image<std::uint16_t> expected(edge, disparities);
  path_costs::oracle(p, in, expected.view());
  for_each_engine([&](Threads& threads) {
    expect_equals_oracle<std::uint16_t>(
        edge, [&](ImageView<std::uint16_t> behind) { path_costs::oracle(p, in, behind); },
        [&](ImageView<std::uint16_t> behind) {
          Scratch scratch(path_costs::scratch_bytes(p, kind, size, disparities, threads.count()));
          path_costs::cpu(p, in, behind, scratch.span(), threads);
        },
        disparities);
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const OnDevice<Word> left_there(device, queue, left), right_there(device, queue, right);
    const OnDevice<std::uint8_t> guide_there(device, queue, guide);
    const OnDevice<std::uint16_t> before_there(device, queue, before);
    PitchedImage<std::uint16_t> got(edge, disparities);
    OnDevice<std::uint16_t> behind(device, queue, got);
    const gpu::Buffer scratch = poisoned(device, queue, sgm::gpu_scratch_bytes(size, disparities) + 256);
    path_costs::Input<Kind, gpu::View> there{{left_there, right_there, kind}, guide_there, {}, -3, disparities};
    if (from_edge) there.before = before_there;
    path_costs::gpu(p, there, behind, scratch.span(), queue);
    behind.download();
    EXPECT_TRUE(same_bits(got.view(), expected.view()));
    EXPECT_TRUE(got.guard_intact());
  });
}

template <class Kind>
void expect_all_equal_oracle(sgm::Parameters sgm, const Kind& kind) {
  for (const int paths : {4, 8})
    for (const bool up : {false, true})
      for (const bool from_edge : {false, true}) {
        sgm.paths = paths;
        for (const Size size : awkward_sizes) expect_equal_oracle({sgm, up}, kind, size, 37, from_edge);
        for (const int disparities : {1, 64, 130})
          expect_equal_oracle({sgm, up}, kind, {37, 19}, disparities, from_edge);
      }
}

TEST(PathCosts, OfEightBitsEqualTheOracle) {
  expect_all_equal_oracle({.p1 = 10, .p2 = 60}, cost::Census<std::uint32_t>{32});
  expect_all_equal_oracle({.p1 = 10, .p2 = 90, .gradient = 8, .p2_min = 20}, cost::CensusGradient{2, 10});
  skip_without_gpu();
}

TEST(PathCosts, OfSixteenBitsEqualTheOracle) {
  expect_all_equal_oracle({.p1 = 10, .p2 = 60}, cost::Rank{15});
  expect_all_equal_oracle({.p1 = 30, .p2 = 400}, cost::Census<std::uint64_t>{64});
  expect_all_equal_oracle({.p1 = 30, .p2 = 900, .gradient = 8, .p2_min = 100}, cost::CensusGradient{2, 10});
  skip_without_gpu();
}

TEST(PathCosts, OfAVolumeEqualTheOracle) {
  expect_all_equal_oracle({.p1 = 10, .p2 = 60}, cost::Given{175});
  expect_all_equal_oracle({.p1 = 30, .p2 = 400, .gradient = 8, .p2_min = 100}, cost::Given{210});
  skip_without_gpu();
}

TEST(PathCosts, OfWideRangesEqualTheOracle) {
  for (const int disparities : {257, 1025}) {
    expect_equal_oracle({{.p1 = 10, .p2 = 60}}, cost::Rank{15}, {13, 7}, disparities, true);
    expect_equal_oracle({{.p1 = 10, .p2 = 60}}, cost::Given{200}, {13, 7}, disparities, true);
  }
  skip_without_gpu();
}

}  // namespace
}  // namespace stereopsis::path_costs_test
