#include "core/pixel_layout.hpp"
#include "stages/pixel_format/pixel_format.hpp"

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::pixel_format_test {
namespace {

using namespace test;
using pixel_format::InputOf;
using pixel_format::Parameters;

constexpr PixelFormat formats[] = {PixelFormat::bgr,        PixelFormat::rgba,       PixelFormat::bgra,
                                   PixelFormat::nv12,       PixelFormat::bayer_rggb, PixelFormat::bayer_bggr,
                                   PixelFormat::bayer_grbg, PixelFormat::bayer_gbrg};

// Returns random intensities. Floats have fractional parts.
template <class T>
Image<T> intensities(Size size, int channels, unsigned seed) {
  constexpr bool is_float = std::is_same_v<T, float>;
  auto image = random_image<T>(size, seed, 0, is_float ? 255000 : std::numeric_limits<T>::max(), channels);
  if constexpr (is_float)
    for (int y = 0; y < size.height; ++y)
      for (int i = 0; i < size.width * channels; ++i) image.row(y)[i] /= 1000;
  return image;
}

// The planes of an image, or the part of them that is read to convert a part of the image.
template <class T>
struct Given {
  Given(PixelFormat format, Size shown, Pixel first, Size beyond)
      : parameters{format, first},
        image(intensities<T>(is_bayer(format) ? grown(shown, first, beyond) : shown, channels_of(format), 3).view()),
        chroma(intensities<T>({(shown.width + first.x + 1) / 2, (shown.height + first.y + 1) / 2}, 2, 5).view()) {}

  static Size grown(Size shown, Pixel first, Size beyond) {
    return {shown.width + first.x + beyond.width, shown.height + first.y + beyond.height};
  }
  InputOf<T, ImageView> view() {
    InputOf<T, ImageView> in{image, {}};
    if (parameters.format == PixelFormat::nv12) in.chroma = chroma;
    return in;
  }

  Parameters parameters;
  PitchedImage<T> image, chroma;
};

template <class T>
class PixelFormats : public testing::Test {};
using PixelTypes = testing::Types<std::uint8_t, std::uint16_t, float>;
TYPED_TEST_SUITE(PixelFormats, PixelTypes);

// Calls f(given, size) for whole images, and for parts that start at any position in the blocks of 2×2.
template <class T, class F>
void for_each_input(F&& f) {
  for (const PixelFormat format : formats) {
    if (format == PixelFormat::nv12 && !std::is_same_v<T, std::uint8_t>) continue;
    const bool blocks = format == PixelFormat::nv12 || is_bayer(format);
    for (const Size size : awkward_sizes)
      for (int first = 0; first < (blocks ? 6 : 1); ++first)
        for (int beyond = 0; beyond < (is_bayer(format) ? 4 : 1); ++beyond) {
          Given<T> given(format, size, {first % 3, first / 3}, {beyond % 2, beyond / 2});
          if (is_bayer(format) && (given.image.view().width < 2 || given.image.view().height < 2)) continue;
          SCOPED_TRACE(testing::Message() << to_string(format) << ", " << size.width << "x" << size.height << " from "
                                          << first % 3 << "," << first / 3);
          f(given, size);
        }
  }
}

TYPED_TEST(PixelFormats, CpuEqualsOracle) {
  for_each_input<TypeParam>([](Given<TypeParam>& given, Size size) {
    for_each_engine([&](Threads& threads) {
      expect_equals_oracle<TypeParam>(
          size, [&](auto out) { pixel_format::oracle<TypeParam>(given.parameters, given.view(), out); },
          [&](auto out) { pixel_format::cpu<TypeParam>(given.parameters, given.view(), out, threads); }, 3);
    });
  });
}

TYPED_TEST(PixelFormats, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for_each_input<TypeParam>([&](Given<TypeParam>& given, Size size) {
      const OnDevice<TypeParam> image(device, queue, given.image), chroma(device, queue, given.chroma);
      InputOf<TypeParam, gpu::View> in{image, {}};
      if (given.parameters.format == PixelFormat::nv12) in.chroma = chroma;
      Image<TypeParam> expected(size, 3);
      pixel_format::oracle<TypeParam>(given.parameters, given.view(), expected);
      PitchedImage<TypeParam> got(size, 3);
      OnDevice<TypeParam> out(device, queue, got);
      pixel_format::gpu<TypeParam>(given.parameters, in, out.view(), queue);
      out.download();
      EXPECT_TRUE(same_bits(got.view(), expected.view()));
      EXPECT_TRUE(got.guard_intact());
    });
  });
}

// Every part has the same pixels as in the whole image.
TEST(PixelFormatParts, HaveThePixelsOfTheWhole) {
  const Size whole{10, 8};
  for (const PixelFormat format : formats) {
    Given<std::uint8_t> given(format, whole, {}, {});
    const InputOf<std::uint8_t, ImageView> in = given.view();
    Image<std::uint8_t> expected(whole, 3);
    pixel_format::oracle<std::uint8_t>(given.parameters, in, expected);
    for (int i = 0; i < 10 * 8 * 10 * 8; ++i) {
      const Rect shown{i % 10, i / 10 % 8, i / 80 % 10 + 1, i / 800 + 1};
      if (shown.x + shown.width > whole.width || shown.y + shown.height > whole.height) continue;
      const Rect part = part_read(format, whole, shown);
      InputOf<std::uint8_t, ImageView> read{in.image.crop(is_bayer(format) ? part : shown), {}};
      if (format == PixelFormat::nv12)
        read.chroma = in.chroma.crop({part.x / 2, part.y / 2, part.width / 2, part.height / 2});
      Image<std::uint8_t> got(shown.size(), 3);
      pixel_format::oracle<std::uint8_t>({format, {shown.x - part.x, shown.y - part.y}}, read, got);
      ASSERT_TRUE(same_bits(got.view(), ImageView<const std::uint8_t>(expected.view().crop(shown))))
          << to_string(format) << ' ' << i;
    }
  }
}

TEST(PixelFormatOracle, MeansOfAMosaicAreRoundedUpAndMirrored) {
  Image<std::uint8_t> mosaic(3, 2);  // R G R over G B G
  const std::uint8_t values[] = {10, 20, 31, 41, 50, 60};
  for (int i = 0; i < 6; ++i) mosaic(i % 3, i / 3) = values[i];
  Image<std::uint8_t> rgb(3, 2, 3);
  pixel_format::oracle<std::uint8_t>({PixelFormat::bayer_rggb}, {mosaic, {}}, rgb);
  const auto pixel = [&](int x, int y) { return std::array<int, 3>{rgb(x, y, 0), rgb(x, y, 1), rgb(x, y, 2)}; };
  EXPECT_EQ(pixel(0, 0), (std::array{10, 31, 50}));  // the green values are 20 and 41, twice each
  EXPECT_EQ(pixel(1, 0), (std::array{21, 20, 50}));  // red: 20.5
  EXPECT_EQ(pixel(1, 1), (std::array{21, 35, 50}));  // green: (20 + 41 + 60 + 20) / 4 = 35.25
  EXPECT_EQ(pixel(2, 1), (std::array{31, 60, 50}));
}

}  // namespace
}  // namespace stereopsis::pixel_format_test
