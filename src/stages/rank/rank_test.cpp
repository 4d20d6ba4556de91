#include "stages/rank/rank.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::rank_test {
namespace {

using namespace test;

template <class T>
class Rank : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Rank, PixelTypes);

TYPED_TEST(Rank, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const int window : {1, 3, 5, 9, 15}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", window " << window);
      PitchedImage<TypeParam> grey(random_image<TypeParam>(size, 7, 0, 40).view());
      for_each_engine([&](Threads& threads) {
        expect_equals_oracle<std::uint8_t>(
            size, [&](auto out) { rank::oracle<TypeParam>({window}, grey, out); },
            [&](auto out) { rank::cpu<TypeParam>({window}, grey, out, threads); });
      });
    }
}

TYPED_TEST(Rank, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int window : {1, 3, 9, 15}) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", window " << window);
        PitchedImage<TypeParam> grey(random_image<TypeParam>(size, 7, 0, 40).view());
        const OnDevice<TypeParam> there(device, queue, grey);
        expect_gpu_equals_oracle<std::uint8_t>(
            device, queue, size, [&](auto out) { rank::oracle<TypeParam>({window}, grey, out); },
            [&](auto out) { rank::gpu<TypeParam>({window}, there, out, queue); });
      }
  });
}

TYPED_TEST(Rank, BothViewsAtOnceEqualOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : {Size{1, 1}, Size{33, 31}, Size{70, 65}}) {
      PitchedImage<TypeParam> grey(random_image<TypeParam>(size, 7, 0, 40).view());
      PitchedImage<TypeParam> other(random_image<TypeParam>(size, 8, 0, 40).view());
      const OnDevice<TypeParam> there(device, queue, grey), other_there(device, queue, other);
      PitchedImage<std::uint8_t> other_ranks_here(size);
      const OnDevice<std::uint8_t> other_ranks(device, queue, other_ranks_here);
      for (const bool first : {true, false})
        expect_gpu_equals_oracle<std::uint8_t>(
            device, queue, size, [&](auto out) { rank::oracle<TypeParam>({9}, grey, out); },
            [&](auto out) {
              if (first)
                rank::gpu<TypeParam>({9}, {there, other_there}, {out, other_ranks}, queue);
              else
                rank::gpu<TypeParam>({9}, {other_there, there}, {other_ranks, out}, queue);
            });
    }
  });
}

// Tests devices on which a kernel may start before the previous kernel has ended. Each kernel reads the output of the
// previous kernel, and writes to the input of the previous kernel. The function calls check(enqueue, expect_equal,
// queue) for every GPU.
template <class F>
void for_each_chain_of_ranks(F&& check) {
  constexpr Size size{640, 480};
  constexpr int times = 17;  // an odd number, so that the result is in the first of two images
  PitchedImage<std::uint8_t> grey(random_image<std::uint8_t>(size, 7, 0, 40).view());
  Image<std::uint8_t> expected(size), before(size);
  rank::oracle<std::uint8_t>({5}, grey, expected.view());
  for (int i = 1; i < times; ++i) {
    std::swap(before, expected);
    rank::oracle<std::uint8_t>({5}, before.view(), expected.view());
  }
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    PitchedImage<std::uint8_t> got(size), unused(size);
    const OnDevice<std::uint8_t> there(device, queue, grey), other(device, queue, unused);
    OnDevice<std::uint8_t> result(device, queue, got);
    const gpu::Buffer scratch(device, 1);
    const gpu::View<std::uint8_t> images[] = {result, other};
    const auto enqueue = [&] {
      rank::gpu<std::uint8_t>({5}, there, images[0], queue);
      for (int i = 1; i < times; ++i) {
        if (i == times / 2) queue.fill({scratch.handle(), 0}, 1, 0);  // kernels must also wait for other commands
        rank::gpu<std::uint8_t>({5}, images[(i + 1) % 2], images[i % 2], queue);
      }
    };
    const auto expect_equal = [&] {
      result.download();
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
    };
    check(enqueue, expect_equal, queue);
  });
}

TEST(RankOfRanks, IsThatOfAllRanksBefore) {
  for_each_chain_of_ranks([](auto& enqueue, auto& expect_equal, gpu::Queue&) {
    enqueue();
    expect_equal();
  });
}

TEST(RankOfRanks, IsTheSameRecorded) {
  bool any = false;
  for_each_chain_of_ranks([&](auto& enqueue, auto& expect_equal, gpu::Queue& queue) {
    enqueue();  // loads the kernels before a graph is recorded
    if (!queue.begin_recording()) return;
    any = true;
    enqueue();
    const auto graph = queue.end_recording();
    for (int i = 0; i < 3; ++i) queue.replay(*graph);
    expect_equal();
  });
  if (!any && !testing::Test::IsSkipped()) GTEST_SKIP() << "no GPU here has a queue that can be recorded";
}

TEST(RankOracle, CountsDarkerPixelsOfTheWindow) {
  Image<std::uint8_t> grey({3, 3}, 1, 10);
  grey(0, 0) = 3;
  grey(2, 1) = 4;
  Image<std::uint8_t> ranks({3, 3}, 1, 99);
  rank::oracle<std::uint8_t>({3}, grey, ranks);
  EXPECT_EQ(ranks(1, 1), 2);
  EXPECT_EQ(ranks(0, 0), 0);  // this is the darkest pixel of its window
  EXPECT_EQ(ranks(0, 1), 2);  // its window contains the dark corner twice, because borders replicate
}

TEST(RankParameters, EvenOrTooLargeWindowsAreRefused) {
  EXPECT_THROW(check_ranges("rank", rank::Parameters{8}), Error);
  EXPECT_THROW(check_ranges("rank", rank::Parameters{17}), Error);
  EXPECT_NO_THROW(check_ranges("rank", rank::Parameters{15}));
}

}  // namespace
}  // namespace stereopsis::rank_test
