#include "stages/align_rows/align_rows.hpp"

#include <cmath>
#include <limits>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::align_rows_test {
namespace {

using namespace test;
using align_rows::Parameters;

const ImageView<const std::uint8_t> no_mask;
constexpr std::int64_t pixel = std::int64_t{1} << align_rows::plane_bits;

// Adds a field with coefficients within ± 4 px, whose knots are 9 columns and 5 rows apart.
Parameters with_field(Parameters p, int columns, int rows) {
  p.columns = columns;
  p.rows = rows;
  p.per_column = (std::int64_t{1} << 32) / 9;
  p.per_row = (std::int64_t{1} << 32) / 5;
  p.left = p.per_column / 2 - p.per_column * 3;  // the first columns lie before the field
  p.top = p.per_row / 2;
  for (std::size_t i = 0; i < p.knots.size(); ++i)
    p.knots[i] = static_cast<std::int16_t>((i * 2654435761U >> 7) % 8192 - 4096);
  return p;
}

// Identity, fractions, whole pixels, slopes of both signs that cross many rows, positions far outside, and small slopes of
// both signs, with runs of pixels that have the same position. Fields along y, and over both sides.
const std::vector<Parameters> planes = {{},
                                        {pixel / 3, 0, pixel, 0, 255},
                                        {-2 * pixel, 0, pixel, 0, 200},
                                        {pixel / 2, pixel / 17, pixel + pixel / 50, -pixel / 4000, 255},
                                        {-pixel, -pixel / 3, pixel - pixel / 9, pixel / 300, 255},
                                        {40 * pixel, pixel / 1000, pixel, 0, 255},
                                        {pixel / 5, pixel / 6000, pixel, pixel / 90000, 255},
                                        {pixel / 7, -pixel / 4000, pixel + pixel / 70, -pixel / 900000, 255},
                                        with_field({}, 1, 7),
                                        with_field({pixel / 3, pixel / 4000, pixel, 0, 255}, 1, 5),
                                        with_field({pixel / 5, pixel / 17, pixel, pixel / 90000, 255}, 16, 15),
                                        with_field({}, 4, 4)};

template <class T>
class AlignRows : public testing::Test {
 protected:
  struct Case {
    Parameters parameters;
    PitchedImage<T> image;
    PitchedImage<std::uint8_t> mask;
    Size size;
    int channels;
  };

  // Calls f(case, whether its mask is used) for each case.
  template <class F>
  static void for_each_case(F&& f) {
    for (const Size size : awkward_sizes)
      for (const int rows : {0, 4})  // rows of the given image below the aligned one
        for (const int channels : {1, 3})
          for (std::size_t plane = 0; plane < planes.size(); ++plane) {
            const Size given{size.width, size.height + rows};
            Image<T> image = random_image<T>(given, 3, 0, sizeof(T) == 2 ? 65535 : 255, channels);
            if constexpr (std::is_same_v<T, float>) {
              image.row(given.height / 2)[0] = std::nanf("");
              image.row(given.height - 1)[given.width * channels - 1] = std::numeric_limits<float>::infinity();
            }
            Case c{planes[plane], PitchedImage<T>(image.view()),
                   PitchedImage<std::uint8_t>(random_image<std::uint8_t>(given, 4, 0, 7).view()), size, channels};
            if (sizeof(T) == 2) c.parameters.white = 65535;
            for (const bool masked : {false, true}) {
              SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << channels
                                              << (masked ? " channels, mask, plane " : " channels, plane ") << plane);
              f(c, masked);
            }
          }
  }
};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(AlignRows, PixelTypes);

template <class T>
align_rows::InputOf<T, ImageView> input(auto& c, bool masked) {
  return {c.image, masked ? ImageView<const std::uint8_t>(c.mask) : no_mask};
}

TYPED_TEST(AlignRows, CpuEqualsOracle) {
  using T = TypeParam;
  this->for_each_case([&](auto& c, bool masked) {
    Image<T> expected(c.size, c.channels);
    Image<std::uint8_t> expected_usable(c.size);
    align_rows::oracle<T>(c.parameters, input<T>(c, masked), {expected, expected_usable});
    for_each_thread_count([&](Threads& threads) {
      PitchedImage<T> got(c.size, c.channels);
      PitchedImage<std::uint8_t> usable(c.size);
      align_rows::cpu<T>(c.parameters, input<T>(c, masked), {got, usable}, threads);
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
      EXPECT_TRUE(same_bits(usable.view(), expected_usable.view()));
      EXPECT_TRUE(got.guard_intact() && usable.guard_intact());
      got.poison();
      align_rows::cpu<T>(c.parameters, input<T>(c, masked), {got, {}}, threads);
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
    });
  });
}

TYPED_TEST(AlignRows, EveryTargetEqualsOracle) {
  using T = TypeParam;
  const Size size{67, 13};
  PitchedImage<T> image(random_image<T>(size, 3, 0, sizeof(T) == 2 ? 65535 : 255, 3).view());
  for (Parameters p : planes) {
    if (sizeof(T) == 2) p.white = 65535;
    Image<T> expected(size, 3);
    const align_rows::InputOf<T, ImageView> in{image, no_mask};
    align_rows::oracle<T>(p, in, {expected, {}});
    for_each_engine([&](Threads& threads) {
      Image<T> got(size, 3);
      align_rows::cpu<T>(p, in, {got, {}}, threads);
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
    });
  }
}

TYPED_TEST(AlignRows, GpuEqualsOracle) {
  using T = TypeParam;
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    this->for_each_case([&](auto& c, bool masked) {
      Image<T> expected(c.size, c.channels);
      Image<std::uint8_t> expected_usable(c.size);
      align_rows::oracle<T>(c.parameters, input<T>(c, masked), {expected, expected_usable});
      PitchedImage<T> got(c.size, c.channels);
      PitchedImage<std::uint8_t> usable(c.size);
      const OnDevice<T> image(device, queue, c.image);
      const OnDevice<std::uint8_t> mask(device, queue, c.mask);
      OnDevice<T> got_there(device, queue, got);
      OnDevice<std::uint8_t> usable_there(device, queue, usable);
      align_rows::gpu<T>(c.parameters, {image, masked ? mask : gpu::View<const std::uint8_t>()},
                         {got_there, usable_there}, queue);
      got_there.download();
      usable_there.download();
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
      EXPECT_TRUE(same_bits(usable.view(), expected_usable.view()));
      EXPECT_TRUE(got.guard_intact() && usable.guard_intact());
    });
  });
}

Image<std::int32_t> random_map(Size size) {
  Image<std::int32_t> map(size, 2);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < 2; ++c)
        map(x, y, c) = (x + 3 * y) % 11 == 0   ? std::numeric_limits<std::int32_t>::min()
                       : (x + 5 * y) % 13 == 0 ? (1 << 30) - x * y
                                               : 256 * (c == 0 ? x : y) + (x * 37 + y * 91) % 512 - 256;
  return map;
}

TEST(AlignMap, EveryDeviceEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const Parameters& p : planes) {
      PitchedImage<std::int32_t> map(random_map(size).view());
      Image<std::int32_t> expected(size, 2);
      align_rows::map_oracle(p, map, expected);
      for_each_thread_count([&](Threads& threads) {
        PitchedImage<std::int32_t> got(size, 2);
        align_rows::map_cpu(p, map, got, threads);
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(got.guard_intact());
      });
      for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        PitchedImage<std::int32_t> got(size, 2);
        const OnDevice<std::int32_t> map_there(device, queue, map);
        OnDevice<std::int32_t> got_there(device, queue, got);
        align_rows::map_gpu(p, map_there, got_there, queue);
        got_there.download();
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(got.guard_intact());
      });
    }
}

TEST(RestoreRows, EveryDeviceEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const Parameters& p : planes) {
      PitchedImage<float> map(random_image<float>(size, 5, 0, 99).view());
      Image<float> expected(size);
      align_rows::restore_oracle(p, map, expected);
      for_each_thread_count([&](Threads& threads) {
        PitchedImage<float> got(size);
        align_rows::restore_cpu(p, map, got, threads);
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(got.guard_intact());
      });
      for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
        PitchedImage<float> got(size);
        const OnDevice<float> map_there(device, queue, map);
        OnDevice<float> got_there(device, queue, got);
        align_rows::restore_gpu(p, map_there, got_there, queue);
        got_there.download();
        EXPECT_TRUE(same_bits(got.view(), expected.view()));
        EXPECT_TRUE(got.guard_intact());
      });
    }
}

TEST(AlignRowsOracle, TheIdentityCopies) {
  const Image<std::uint16_t> image = random_image<std::uint16_t>({9, 7}, 1, 0, 65535, 3);
  Image<std::uint16_t> out(Size{9, 7}, 3);
  Image<std::uint8_t> usable(9, 7);
  align_rows::oracle<std::uint16_t>({.white = 65535}, {image.view(), no_mask}, {out, usable});
  EXPECT_TRUE(same_bits(out.view(), image.view()));
  for (int y = 0; y < 7; ++y)
    for (int x = 0; x < 9; ++x) EXPECT_EQ(usable(x, y), 255);
}

// A cubic interpolates a parabola exactly, apart from rounding.
TEST(AlignRowsOracle, InterpolatesAlongColumns) {
  Image<float> image(1, 12);
  for (int y = 0; y < 12; ++y) image(0, y) = static_cast<float>(y * y);
  Image<float> out(1, 12);
  align_rows::oracle<float>({.at = 5 * pixel / 4, .down = pixel}, {image.view(), no_mask}, {out, {}});
  for (int y = 0; y < 8; ++y) EXPECT_NEAR(out(0, y), (y + 1.25) * (y + 1.25), 0.01) << y;
}

TEST(AlignRowsOracle, RowsOutsideReplicateTheEdgeAndAreNotUsable) {
  const std::uint8_t pixels[] = {10, 20, 30};
  Image<std::uint8_t> out(1, 3), usable(1, 3);
  const auto align = [&](std::int64_t at) {
    align_rows::oracle<std::uint8_t>({.at = at}, {{pixels, 1, 3}, no_mask}, {out, usable});
  };
  align(2 * pixel);
  EXPECT_EQ(out(0, 0), 30);
  EXPECT_EQ(out(0, 2), 30);
  EXPECT_EQ(usable(0, 0), 255);
  EXPECT_EQ(usable(0, 1), 0);
  align(-pixel / 2);  // half a pixel outside is still a part of the edge pixel
  EXPECT_EQ(usable(0, 0), 255);
  align(-pixel / 2 - pixel / 128);
  EXPECT_EQ(usable(0, 0), 0);
}

TEST(AlignRowsOracle, PixelsNextToMaskedOnesAreNotUsable) {
  const std::uint8_t pixels[] = {1, 2, 3, 4, 5, 6, 7}, mask[] = {1, 1, 1, 1, 0, 1, 1};
  Image<std::uint8_t> out(1, 7), usable(1, 7);
  const std::uint8_t whole[] = {255, 255, 255, 255, 0, 255, 255}, between[] = {255, 255, 0, 0, 0, 0, 255};
  align_rows::oracle<std::uint8_t>({}, {{pixels, 1, 7}, {mask, 1, 7}}, {out, usable});
  for (int y = 0; y < 7; ++y) EXPECT_EQ(usable(0, y), whole[y]) << y;
  align_rows::oracle<std::uint8_t>({.at = pixel / 2}, {{pixels, 1, 7}, {mask, 1, 7}}, {out, usable});
  for (int y = 0; y < 7; ++y) EXPECT_EQ(usable(0, y), between[y]) << y;
}

// A cubic overshoots at edges.
TEST(AlignRowsOracle, PixelsStayWithinBlackAndWhite) {
  const float grey[] = {0, 0, 255, 255, 0, 0};
  Image<float> between(1, 6);
  align_rows::oracle<float>({.at = pixel / 2}, {{grey, 1, 6}, no_mask}, {between, {}});
  EXPECT_EQ(between(0, 0), 0);
  EXPECT_EQ(between(0, 2), 255);
  const std::uint16_t pixels[] = {0, 0, 1023, 1023, 0, 0};
  Image<std::uint16_t> out(1, 6);
  align_rows::oracle<std::uint16_t>({.at = pixel / 2, .white = 1023}, {{pixels, 1, 6}, no_mask}, {out, {}});
  EXPECT_EQ(out(0, 0), 0);
  EXPECT_EQ(out(0, 2), 1023);
  EXPECT_EQ(out(0, 4), 0);
}

TEST(AlignMapOracle, InterpolatesBetweenRows) {
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();
  Image<std::int32_t> map({1, 4}, 2), out({1, 4}, 2);
  for (int y = 0; y < 4; ++y) map(0, y, 0) = 10 * y, map(0, y, 1) = y == 3 ? none : 256 * y;
  align_rows::map_oracle({.at = pixel / 2}, map, out);
  EXPECT_EQ(out(0, 0, 0), 5);
  EXPECT_EQ(out(0, 1, 1), 384);
  EXPECT_EQ(out(0, 2, 1), none);
  EXPECT_EQ(out(0, 3, 0), 35);  // beyond the last row, the map goes on
}

TEST(RestoreRowsOracle, UndoesTheAlignment) {
  Image<float> map(1, 6), out(1, 6);
  for (int y = 0; y < 6; ++y) map(0, y) = static_cast<float>(y);
  align_rows::restore_oracle({.at = 2 * pixel + pixel / 4}, map, out);
  EXPECT_TRUE(std::isnan(out(0, 0)) && std::isnan(out(0, 1)));
  for (int y = 2; y < 6; ++y) EXPECT_EQ(out(0, y), y - 2);
}

TEST(RestoreRowsOracle, UndoesAField) {
  RowAlignment a{.field = {.columns = 1, .rows = 8}};
  for (std::size_t i = 0; i < 8; ++i) a.field.knots[i] = i % 4 < 2 ? 3 : -3;
  const Size size{1, 160};
  Image<float> map(size), out(size);
  for (int y = 0; y < size.height; ++y) map(0, y) = static_cast<float>(y + a.at(0, y, size));  // the given row
  align_rows::restore_oracle(align_rows::Planned{.alignment = a, .whole = size}.for_kernels(), map, out);
  for (int y = 4; y < size.height - 4; ++y) EXPECT_NEAR(out(0, y), y, 0.75) << y;
}

TEST(AlignRowsParameters, PositionsFollowTheAlignmentInEachPart) {
  RowAlignment a{0.25, -1, 0.5, 2, {.columns = 8, .rows = 6}};
  for (std::size_t i = 0; i < 48; ++i) a.field.knots[i] = static_cast<float>(i * 37 % 11) / 4 - 1;
  const Size whole{131, 97};
  for (const int columns : {8, 1, 0}) {
    a.field.columns = columns;
    a.field.rows = columns == 0 ? 0 : 6;
    const Pixel origin{17, 30};
    const Parameters all = align_rows::Planned{.alignment = a, .whole = whole}.for_kernels(),
                     part = align_rows::Planned{.alignment = a, .whole = whole, .origin = origin, .first_row = 20}
                                .for_kernels();
    for (int y = 0; y < whole.height; ++y)
      for (int x = 0; x < whole.width; ++x) {
        const int at = position(all, x, y);
        ASSERT_NEAR(at / 256.0, y + a.at(x, y, whole), 1.0 / 256) << x << " " << y;
        if (x >= origin.x && y >= origin.y) {
          ASSERT_EQ(position(part, x - origin.x, y - origin.y), at - 256 * 20);
        }
      }
  }
}

TEST(AlignRowsRefusals, ChannelsAndSizes) {
  const Image<std::uint8_t> two({2, 2}, 2, 0), one({2, 2}, 1, 0), mask({2, 3}, 1, 0);
  Image<std::uint8_t> out(2, 2), wide(3, 2), usable(2, 2);
  EXPECT_THROW(align_rows::oracle<std::uint8_t>({}, {two.view(), no_mask}, {out, usable}), Error);
  EXPECT_THROW(align_rows::oracle<std::uint8_t>({}, {one.view(), no_mask}, {wide, {}}), Error);
  EXPECT_THROW(align_rows::oracle<std::uint8_t>({}, {one.view(), mask.view()}, {out, usable}), Error);
}

}  // namespace
}  // namespace stereopsis::align_rows_test
