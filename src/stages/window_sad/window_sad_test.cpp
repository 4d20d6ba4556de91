#include "stages/window_sad/window_sad.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::window_sad_test {
namespace {

using namespace test;

struct Case {
  Size size;
  DisparityRange range;
  window_sad::Window window;
};

const std::vector<Case> cases = {
    {{1, 1}, {0, 1}, {7, 7}},        {{1, 9}, {0, 4}, {3, 5}},    {{9, 1}, {-2, 5}, {1, 1}},
    {{17, 6}, {-40, 65}, {5, 1}},    {{67, 13}, {3, 70}, {7, 3}}, {{131, 37}, {-7, 97}, {1, 9}},
    {{40, 21}, {500, 12}, {85, 85}},
};

TEST(WindowSad, CpuEqualsOracle) {
  for (const Case& c : cases) {
    const Size size = c.size;
    const DisparityRange range = c.range;
    const window_sad::Window window = c.window;
    SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << window.width << "x"
                                    << window.height);
    PitchedImage<std::uint32_t> left(random_image<std::uint32_t>(size, 1, 0, 0x7FFFFFFF).view());
    PitchedImage<std::uint32_t> right(random_image<std::uint32_t>(size, 2, 0, 0x7FFFFFFF).view());
    Volume<std::uint16_t> expected(size, range.count);
    window_sad::oracle(window, {left, right, {1020}}, range.min, expected);
    for_each_engine([&](Threads& threads) {
      for (int run = 0; run < 2; ++run) {
        Scratch scratch(window_sad::scratch_bytes(size.width, range.count, threads.count()));
        auto got = poisoned_volume<std::uint16_t>(size, range.count);
        window_sad::cpu(window, {left, right, {1020}}, range.min, got, scratch.span(), threads);
        EXPECT_TRUE(same_cells(got, expected));
      }
    });
  }
}

TEST(WindowSad, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const auto& [size, range, window] : cases) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << window.width << "x"
                                      << window.height);
      PitchedImage<std::uint32_t> left(random_image<std::uint32_t>(size, 1, 0, 0x7FFFFFFF).view());
      PitchedImage<std::uint32_t> right(random_image<std::uint32_t>(size, 2, 0, 0x7FFFFFFF).view());
      const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right);
      const cost::Colours kind{1020};
      Volume<std::uint16_t> expected(size, range.count);
      window_sad::oracle(window, {left, right, kind}, range.min, expected);
      for (int run = 0; run < 2; ++run) {
        const std::size_t cells = static_cast<std::size_t>(size.width) * size.height * range.count;
        const gpu::Buffer buffer = poisoned(device, queue, sizeof(std::uint16_t) * cells);
        window_sad::gpu(window, {left_there, right_there, kind}, range.min, 0,
                        {buffer.span().as<std::uint16_t>(), size.width, size.height, range.count}, queue);
        const int row = size.width * range.count;
        Image<std::uint16_t> got(Size{row, size.height});
        queue.download(gpu::View<std::uint16_t>{buffer.handle(), 0, row, size.height, 1, row}, got.view());
        queue.wait();
        EXPECT_TRUE(same_bits(got.view(), {expected.view().data, row, size.height}));
      }
    }
  });
}

TEST(WindowSadOracle, SumsTheDifferencesOfTheWindow) {
  Image<std::uint32_t> left(Size{3, 1}), right(Size{3, 1});
  for (int x = 0; x < 3; ++x) left(x, 0) = 0x05040302u + static_cast<std::uint32_t>(x), right(x, 0) = 0x01010101u;
  Volume<std::uint16_t> sums({3, 1}, 1);
  window_sad::oracle({3, 3}, {left, right, {1020}}, 0, sums);
  EXPECT_EQ(sums(1, 0, 0), 3 * (10 + 11 + 12));  // the only row of the image counts three times
  EXPECT_EQ(sums(0, 0, 0), 3 * (10 + 10 + 11));
}

TEST(WindowSadOracle, LargeSumsAreShifted) {
  EXPECT_EQ(window_sad::shift_of({11, 11}, 434), 0);
  EXPECT_EQ(window_sad::shift_of({13, 13}, 434), 1);
  EXPECT_EQ(window_sad::shift_of({85, 85}, 765), 7);
  Image<std::uint32_t> left(Size{1, 1}), right(Size{1, 1});
  left(0, 0) = 0xFFFFFFFFu;
  right(0, 0) = 0;
  Volume<std::uint16_t> sums({1, 1}, 1);
  window_sad::oracle({9, 9}, {left, right, {1020}}, 0, sums);
  EXPECT_EQ(sums(0, 0, 0), 81 * 1020 / 2);
}

TEST(WindowSadParameters, AreChecked) {
  EXPECT_THROW(check_ranges("cost", window_sad::Parameters{.window_width = 4}), Error);
  EXPECT_THROW(check_ranges("cost", window_sad::Parameters{.window_height = 0}), Error);
  EXPECT_THROW(check_ranges("cost", window_sad::Parameters{.weights = {-1, 1, 1}}), Error);
  EXPECT_NO_THROW(check_ranges("cost", window_sad::Parameters{.window_width = 85, .window_height = 1}));
  EXPECT_EQ(window_sad::required_input({7, 3}, {10, 10, 2, 2}), (Rect{7, 9, 8, 4}));
}

}  // namespace
}  // namespace stereopsis::window_sad_test
