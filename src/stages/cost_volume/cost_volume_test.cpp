#include "stages/cost_volume/cost_volume.hpp"

#include "stages/colour_gradient/colour_gradient.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"
#include "support/words.hpp"

namespace stereopsis::cost_volume_test {
namespace {

using namespace test;

// Views a volume as an image, in which a row of pixels is one row of bytes.
ImageView<std::uint8_t> flat(VolumeView<std::uint8_t> v) {
  return {v.data, v.width * v.disparities, v.height, 1, v.row_pitch};
}

struct Range {
  int min, count;
};
constexpr Range ranges[] = {{0, 1}, {0, 16}, {-3, 7}, {2, 61}, {-40, 65}, {300, 4}};

template <class Kind>
void expect_all_equal_oracle(const Kind& kind, auto&& words_of) {
  using Word = typename Kind::Word;
  for (const Size size : awkward_sizes)
    for (const Range range : ranges) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << range.count << " from "
                                      << range.min);
      const Image<Word> left_words = words_of(size, 1), right_words = words_of(size, 2);
      PitchedImage<Word> left(left_words.view()), right(right_words.view());
      const cost::Source<Kind> source{left, right, kind};
      Volume<std::uint8_t> expected(size, range.count);
      cost_volume::oracle(source, range.min, expected.view());
      for_each_engine([&](Threads& threads) {
        Volume<std::uint8_t> got(size, range.count);
        std::fill_n(got.view().data, static_cast<std::size_t>(size.width) * size.height * range.count, 0xA5);
        std::vector<std::byte> scratch(cost_volume::scratch_bytes(kind, size.width, range.count, threads.count()) + 64,
                                       std::byte{0xA5});
        auto* const start =
            reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
        cost_volume::cpu(source, range.min, got.view(), {start, scratch.size() - 64}, threads);
        EXPECT_TRUE(same_bits(flat(got.view()), ImageView<const std::uint8_t>(flat(expected.view()))));
      });
      for (gpu::Device* device : gpu::usable_devices()) {
        SCOPED_TRACE(device->name());
        const auto queue = device->make_queue();
        const OnDevice<Word> left_there(*device, *queue, left), right_there(*device, *queue, right);
        const auto cells = static_cast<std::size_t>(size.width) * size.height * range.count;
        const gpu::Buffer buffer = poisoned(*device, *queue, cells);
        cost_volume::gpu(cost::Source<Kind, gpu::View>{left_there, right_there, kind}, range.min,
                         {{buffer.handle(), 0}, size.width, size.height, range.count}, *queue);
        Volume<std::uint8_t> got(size, range.count);
        const auto bytes = flat(got.view());
        queue->download(gpu::View<std::uint8_t>{buffer.handle(), 0, bytes.width, bytes.height, 1, bytes.pitch}, bytes);
        queue->wait();
        EXPECT_TRUE(same_bits(bytes, ImageView<const std::uint8_t>(flat(expected.view()))));
      }
    }
}

TEST(CostVolume, Rank) { expect_all_equal_oracle(cost::Rank{9}, random_words<std::uint8_t>); }
TEST(CostVolume, Census32) { expect_all_equal_oracle(cost::Census<std::uint32_t>{24}, random_words<std::uint32_t>); }
TEST(CostVolume, Census64) { expect_all_equal_oracle(cost::Census<std::uint64_t>{62}, random_words<std::uint64_t>); }
TEST(CostVolume, Census128) { expect_all_equal_oracle(cost::Census<Word128>{120}, random_words<Word128>); }
TEST(CostVolume, CensusGradient) { expect_all_equal_oracle(cost::CensusGradient{2, 10}, random_words<std::uint32_t>); }
TEST(CostVolume, ColourGradient) {
  expect_all_equal_oracle(colour_gradient::kind({}), random_colours);
  expect_all_equal_oracle(colour_gradient::kind({.border = 3}), random_colours);
  expect_all_equal_oracle(colour_gradient::kind({.alpha = 0, .colour_limit = 255}), random_colours);
  expect_all_equal_oracle(colour_gradient::kind({.alpha = 1, .gradient_limit = 127.5, .border = 255}), random_colours);
}

TEST(CostVolume, Differences) {
  for (const int limit : {1, 40, 255}) {
    expect_all_equal_oracle(cost::AbsoluteDifference{limit}, random_words<std::uint32_t>);
    expect_all_equal_oracle(cost::SquaredDifference{limit}, random_words<std::uint32_t>);
    // Similar colours, so that only some differences are truncated.
    const auto alike = [](Size size, unsigned seed) {
      Image<std::uint32_t> words = random_words<std::uint32_t>(size, seed);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) words(x, y) &= 0x07070707;
      return words;
    };
    expect_all_equal_oracle(cost::SquaredDifference{limit}, alike);
  }
}

TEST(CostVolume, CostsThatDoNotFitAreRefused) { EXPECT_THROW(cost_volume::check(cost::CensusGradient{12, 10}), Error); }

}  // namespace
}  // namespace stereopsis::cost_volume_test
