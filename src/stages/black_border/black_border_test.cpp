#include "stages/black_border/black_border.hpp"

#include <cmath>
#include <functional>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::black_border_test {
namespace {

using namespace test;

using IsBlack = std::function<bool(int x, int y, Size)>;

bool is_in_spiral(int x, int y, Size size) {
  const int ring = std::min({x, y, size.width - 1 - x, size.height - 1 - y});
  return ring % 2 == 0 ? !(x == ring - 1 && y == ring) : (x == ring && y == ring + 1);
}

// Shapes of black: none, all, noise of several densities, the surroundings of a disc, a comb, and rings that form a
// spiral.
const std::vector<IsBlack>& shapes() {
  static const auto noise = [](unsigned percent) {
    return [percent](int x, int y, Size) {
      const auto n = static_cast<unsigned>(x * 7919 + y * 104729);
      return (n * 2654435761u >> 16) % 100 < percent;
    };
  };
  static const std::vector<IsBlack> all{
      [](int, int, Size) { return false; },
      [](int, int, Size) { return true; },
      noise(40),
      noise(60),
      noise(90),
      [](int x, int y, Size s) {
        const double dx = (x + 0.5) / s.width - 0.5, dy = (y + 0.5) / s.height - 0.5;
        return dx * dx + dy * dy > 0.24;
      },
      [](int x, int y, Size s) { return x % 4 == 0 || y == s.height - 1; },
      is_in_spiral,
  };
  return all;
}

template <class T>
class BlackBorder : public testing::Test {
 protected:
  // Calls f(parameters, image, mask or an empty view, expected) for each case.
  template <class F>
  static void for_each_case(F&& f) {
    for (const Size size : {Size{1, 1}, Size{1, 90}, Size{90, 1}, Size{9, 7}, Size{9, 8}, Size{67, 43}, Size{130, 61}})
      for (std::size_t shape = 0; shape < shapes().size(); ++shape)
        for (const int channels : {1, 3, 4})
          for (const bool part : {false, true}) {
            SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", shape " << shape << ", "
                                            << channels << (part ? " channels, a part" : " channels"));
            run(size, shapes()[shape], channels, part, f);
          }
  }

 private:
  template <class F>
  static void run(Size size, const IsBlack& is_black, int channels, bool part, F&& f) {
    Image<T> made(size, channels);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < channels; ++c)
          made(x, y, c) = static_cast<T>(c == 3 ? 255 : is_black(x, y, size) ? (x + y) % 3 : c == 2 ? 3 : 0);
    if constexpr (std::is_same_v<T, float>) made(size.width - 1, size.height / 2) = std::nanf("");
    PitchedImage<T> image(made.view());
    const Rect seen = part ? Rect{size.width / 3, size.height / 4, size.width - size.width / 3, size.height / 2 + 1}
                           : Rect{0, 0, size.width, size.height};
    const black_border::Parameters p{2, {seen.x, seen.y}};
    PitchedImage<std::uint8_t> mask(random_image<std::uint8_t>(seen.size(), 4, 0, 3).view());
    for (const bool masked : {false, true}) {
      const ImageView<const std::uint8_t> given = masked ? mask.view() : ImageView<const std::uint8_t>();
      PitchedImage<std::uint8_t> expected(seen.size());
      black_border::oracle<T>(p, {image, given}, expected);
      f(p, image, given, expected);
    }
  }
};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(BlackBorder, PixelTypes);

TYPED_TEST(BlackBorder, CpuEqualsOracle) {
  using T = TypeParam;
  this->for_each_case([&](const auto& p, auto& image, const auto& mask, auto& expected) {
    const Size size = image.view().size();
    for_each_thread_count([&](Threads& threads) {
      std::vector<std::int64_t> scratch((black_border::scratch_bytes(size) + 7) / 8, -1);
      PitchedImage<std::uint8_t> got(expected.view().size());
      for (int run = 0; run < 2; ++run) {
        black_border::cpu<T>(p, {image, mask}, got, std::as_writable_bytes(std::span(scratch)), threads);
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(got.guard_intact());
      }
    });
  });
}

TYPED_TEST(BlackBorder, GpuEqualsOracle) {
  using T = TypeParam;
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    this->for_each_case([&](const auto& p, auto& image, const auto& mask, auto& expected) {
      const Size size = image.view().size();
      const OnDevice<T> image_there(device, queue, image);
      PitchedImage<std::uint8_t> given =
          mask.empty() ? PitchedImage<std::uint8_t>(Size{1, 1}) : PitchedImage<std::uint8_t>(mask);
      const OnDevice<std::uint8_t> mask_there(device, queue, given);
      PitchedImage<std::uint8_t> got(expected.view().size());
      OnDevice<std::uint8_t> got_there(device, queue, got);
      const std::size_t bytes = black_border::gpu_scratch_bytes(size);
      const gpu::Buffer scratch(device, bytes);
      for (int run = 0; run < 2; ++run) {
        black_border::gpu<T>(p, {image_there, mask.empty() ? gpu::View<const std::uint8_t>() : mask_there.view()},
                             got_there, {scratch.handle(), 0, bytes}, queue);
        got_there.download();
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(got.guard_intact());
      }
    });
  });
}

TYPED_TEST(BlackBorder, HasARegionIfTheOracleMasksAPixel) {
  using T = TypeParam;
  this->for_each_case([&](const auto& p, auto& image, const auto&, auto&) {
    PitchedImage<std::uint8_t> usable(image.view().size());
    black_border::oracle<T>({p.level, {}}, {image, {}}, usable);
    bool masks = false;
    for (int y = 0; y < usable.view().height; ++y)
      for (int x = 0; x < usable.view().width; ++x) masks |= usable.view()(x, y) == 0;
    EXPECT_EQ(black_border::has_region(p, AnyView::of(ImageView<const T>(image))), masks);
  });
}

// Of two black rectangles, only the one at the border is without data, and only if it has 64 pixels.
TEST(BlackBorderOracle, MasksLargeRegionsAtTheBorder) {
  for (const int rows : {7, 8}) {
    Image<std::uint8_t> image(40, 40), usable(40, 40);
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 40; ++x) {
        const bool at_border = x < 8 && y < rows, inside = x >= 20 && x < 30 && y >= 20 && y < 30;
        image(x, y) = at_border || inside ? 0 : 1;
      }
    black_border::oracle<std::uint8_t>({}, {image, {}}, usable);
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 40; ++x) EXPECT_EQ(usable(x, y), rows == 8 && x < 8 && y < 8 ? 0 : 255) << x << "," << y;
  }
}

}  // namespace
}  // namespace stereopsis::black_border_test
