#include "stages/census/census.hpp"

#include <bit>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::census_test {
namespace {

using namespace test;
using census::Window;

constexpr Window windows[] = {Window::w3x3, Window::w5x5, Window::w7x5, Window::w7x7, Window::w9x7};
constexpr Window wide_windows[] = {Window::w9x9, Window::w11x9, Window::w11x11};

template <class T>
class Census : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(Census, PixelTypes);

template <class T, class Word>
void expect_cpu_equals_oracle(Window window, Size size) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", window " << detail::value_text(window));
  // Few distinct values result in ties, and the extremes reveal signed comparisons.
  Image<T> image = random_image<T>(size, 7, 0, 20);
  const T low = std::is_same_v<T, float> ? static_cast<T>(-1e30) : std::numeric_limits<T>::max();
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (image(x, y) == 20) image(x, y) = low;
  PitchedImage<T> grey(image.view());
  for_each_engine([&](Threads& threads) {
    expect_equals_oracle<Word>(
        size, [&](auto out) { census::oracle<T, Word>({window}, grey, out); },
        [&](auto out) { census::cpu<T, Word>({window}, grey, out, threads); });
  });
}

TYPED_TEST(Census, CpuEqualsOracle) {
  for (const Size size : awkward_sizes) {
    expect_cpu_equals_oracle<TypeParam, std::uint32_t>(Window::w5x5, size);
    for (const Window window : windows) expect_cpu_equals_oracle<TypeParam, std::uint64_t>(window, size);
    for (const Window window : wide_windows) expect_cpu_equals_oracle<TypeParam, Word128>(window, size);
  }
}

template <class T, class Word>
void expect_gpu_census(gpu::Device& device, gpu::Queue& queue, Window window, Size size) {
  SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", window " << detail::value_text(window));
  PitchedImage<T> grey(random_image<T>(size, 7, 0, 20).view());
  const OnDevice<T> there(device, queue, grey);
  expect_gpu_equals_oracle<Word>(
      device, queue, size, [&](auto out) { census::oracle<T, Word>({window}, grey, out); },
      [&](auto out) { census::gpu<T, Word>({window}, there, out, queue); });
  // Transforms the image as the left and as the right view of a pair.
  PitchedImage<T> other(random_image<T>(size, 8, 0, 20).view());
  PitchedImage<Word> other_words(size);
  const OnDevice<T> other_there(device, queue, other);
  const OnDevice<Word> other_words_there(device, queue, other_words);
  for (const bool is_left : {true, false})
    expect_gpu_equals_oracle<Word>(
        device, queue, size, [&](auto out) { census::oracle<T, Word>({window}, grey, out); },
        [&](auto out) {
          if (is_left)
            census::gpu<T, Word>({window}, {there, other_there}, {out, other_words_there}, queue);
          else
            census::gpu<T, Word>({window}, {other_there, there}, {other_words_there, out}, queue);
        });
}

TYPED_TEST(Census, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes) {
      expect_gpu_census<TypeParam, std::uint32_t>(device, queue, Window::w5x5, size);
      for (const Window window : windows) expect_gpu_census<TypeParam, std::uint64_t>(device, queue, window, size);
      for (const Window window : wide_windows) expect_gpu_census<TypeParam, Word128>(device, queue, window, size);
    }
  });
}

// Checks that each neighbour has a bit at the position given in the header: a window whose only darker pixel is number
// n must yield with_bit(n).
template <class Word>
void expect_own_bits(Window window, Word (*with_bit)(int)) {
  const census::Shape shape = census::shape_of(window);
  int bit = shape.bits();
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      if (x == shape.width / 2 && y == shape.height / 2) continue;
      Image<std::uint8_t> grey({shape.width, shape.height}, 1, 200);
      grey(x, y) = 199;
      Image<Word> words(shape.width, shape.height);
      census::oracle<std::uint8_t, Word>({window}, grey, words);
      EXPECT_EQ(words(shape.width / 2, shape.height / 2), with_bit(--bit)) << x << ", " << y;
    }
  EXPECT_EQ(bit, 0);
}

TEST(CensusOracle, EveryDarkerNeighbourSetsItsOwnBit) {
  for (const Window window : windows)
    expect_own_bits<std::uint64_t>(window, [](int bit) { return std::uint64_t{1} << bit; });
}

TEST(CensusOracle, WideWindowsReachBeyondTheLowerHalfOfTheirWords) {
  for (const Window window : wide_windows)
    expect_own_bits<Word128>(window, [](int bit) {
      return Word128{bit < 64 ? std::uint64_t{1} << bit : 0, bit < 64 ? 0 : std::uint64_t{1} << (bit - 64)};
    });
}

TEST(CensusOracle, BitsOfThePaper) {
  EXPECT_EQ(census::shape_of(Window::w5x5).bits(), 24);
  EXPECT_EQ(census::shape_of(Window::w7x7).bits(), 48);
  EXPECT_EQ(census::shape_of(Window::w9x7).bits(), 62);
}

TEST(CensusOracle, EqualNeighboursSetNoBitAndBordersReplicate) {
  Image<std::uint8_t> grey({9, 7}, 1, 10);
  Image<std::uint32_t> words(9, 7);
  census::oracle<std::uint8_t, std::uint32_t>({Window::w5x5}, grey, words);
  EXPECT_EQ(words(4, 3), 0u);
  grey(0, 0) = 3;
  census::oracle<std::uint8_t, std::uint32_t>({Window::w5x5}, grey, words);
  EXPECT_EQ(words(0, 0), 0u);                // no pixel is darker than this one
  EXPECT_EQ(std::popcount(words(1, 0)), 6);  // its window contains the corner pixel in 2 columns and 3 rows
}

TEST(CensusOracle, OrderAloneCounts) {  // gain and offset between the views have no effect
  const auto grey = random_image<std::uint8_t>({40, 20}, 5, 0, 100);
  Image<std::uint8_t> brighter(grey.size());
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) brighter(x, y) = static_cast<std::uint8_t>(2 * grey(x, y) + 30);
  Image<std::uint64_t> a(grey.size()), b(grey.size());
  census::oracle<std::uint8_t, std::uint64_t>({Window::w9x7}, grey, a);
  census::oracle<std::uint8_t, std::uint64_t>({Window::w9x7}, brighter, b);
  EXPECT_TRUE(same_bits(a.view(), b));
}

TEST(CensusParameters, TheWindowHasAnEffect) {
  const auto grey = random_image<std::uint8_t>({40, 20}, 5, 0, 100);
  Image<std::uint64_t> small(grey.size()), middle(grey.size()), large(grey.size());
  census::oracle<std::uint8_t, std::uint64_t>({Window::w5x5}, grey, small);
  census::oracle<std::uint8_t, std::uint64_t>({Window::w7x7}, grey, middle);
  census::oracle<std::uint8_t, std::uint64_t>({Window::w9x7}, grey, large);
  EXPECT_FALSE(same_bits(small.view(), middle));
  EXPECT_FALSE(same_bits(middle.view(), large));
  EXPECT_EQ(census::required_input({Window::w9x7}, {10, 10, 1, 1}), (Rect{6, 7, 9, 7}));
}

TEST(CensusParameters, UnknownWindowsAndNarrowWordsAreRefused) {
  census::Parameters p;
  EXPECT_TRUE(set_parameter("census", p, "window", "5x5"));
  EXPECT_EQ(p.window, Window::w5x5);
  EXPECT_THROW(set_parameter("census", p, "window", "6x6"), Error);
  const Image<std::uint8_t> grey({9, 7}, 1, 10);
  Image<std::uint32_t> words(9, 7);
  Threads threads(1);
  for (const Window window : {Window::w7x7, Window::w9x7}) {
    EXPECT_THROW((census::oracle<std::uint8_t, std::uint32_t>({window}, grey, words)), Error);
    EXPECT_THROW((census::cpu<std::uint8_t, std::uint32_t>({window}, grey, words, threads)), Error);
  }
}

}  // namespace
}  // namespace stereopsis::census_test
