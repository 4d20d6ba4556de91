#include "stereopsis/formats.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

std::size_t bytes_of(PixelType type) { return type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4; }
int depth_or(int bit_depth, PixelType type) { return bit_depth != 0 ? bit_depth : type == PixelType::u16 ? 16 : 8; }

const char* name_of(PixelFormat format) {
  constexpr const char* names[] = {"BGR",        "RGBA",       "BGRA",       "NV12",
                                   "Bayer RGGB", "Bayer BGGR", "Bayer GRBG", "Bayer GBRG"};
  return names[static_cast<std::size_t>(format)];
}
bool is_bayer(PixelFormat format) { return format >= PixelFormat::bayer_rggb; }

int channels_of(PixelFormat format) {
  return format == PixelFormat::bgr ? 3 : format == PixelFormat::rgba || format == PixelFormat::bgra ? 4 : 1;
}

// Calls f(y) for all rows, by several threads.
template <class F>
void for_rows([[maybe_unused]] int threads, int rows, F&& f) {
  const auto piece = [&](int first, int last) {
    for (int y = first; y < last; ++y) f(y);
  };
#ifdef STEREOPSIS_SIMD
  Threads(threads).rows(rows, piece, 32);
#else
  piece(0, rows);
#endif
}

template <class T>
void reorder_row(const T* in, int channels, bool blue_first, int width, T* out) {
  const int red = blue_first ? 2 : 0, blue = 2 - red;
  for (int x = 0; x < width; ++x, in += channels, out += 3) {
    out[0] = in[red];
    out[1] = in[1];
    out[2] = in[blue];
  }
}

void nv12_row(const std::uint8_t* luma, const std::uint8_t* chroma, int width, std::uint8_t* out) {
  const auto clipped = [](int v) { return static_cast<std::uint8_t>(std::clamp((v + 128) >> 8, 0, 255)); };
  for (int x = 0; x < width; ++x, out += 3) {
    const int c = 298 * (luma[x] - 16), d = chroma[x / 2 * 2] - 128, e = chroma[x / 2 * 2 + 1] - 128;
    out[0] = clipped(c + 409 * e);
    out[1] = clipped(c - 100 * d - 208 * e);
    out[2] = clipped(c + 516 * d);
  }
}

// Where red is, in each 2×2 pixels.
struct Mosaic {
  explicit Mosaic(PixelFormat format)
      : red_x(format == PixelFormat::bayer_bggr || format == PixelFormat::bayer_grbg ? 1 : 0),
        red_y(format == PixelFormat::bayer_bggr || format == PixelFormat::bayer_gbrg ? 1 : 0) {}
  int red_x, red_y;
};

template <class T>
T mean(std::initializer_list<T> values) {
  double sum = 0;
  std::uint32_t whole = 0;
  const auto count = static_cast<std::uint32_t>(values.size());
  for (const T v : values) {
    if constexpr (std::is_same_v<T, float>)
      sum += static_cast<double>(v);
    else
      whole += v;
  }
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(sum / count);
  else
    return static_cast<T>((whole + count / 2) / count);
}

template <class T>
void bayer_row(const ImageView<const T>& image, const Mosaic& mosaic, int y, T* out) {
  const T* above = image.row(y == 0 ? 1 : y - 1);
  const T* here = image.row(y);
  const T* below = image.row(y == image.height - 1 ? y - 1 : y + 1);
  const bool red_row = (y - mosaic.red_y) % 2 == 0;
  for (int x = 0; x < image.width; ++x, out += 3) {
    const int l = x == 0 ? 1 : x - 1, r = x == image.width - 1 ? x - 1 : x + 1;
    const bool red_column = (x - mosaic.red_x) % 2 == 0;
    const T cross = mean<T>({above[x], below[x], here[l], here[r]}),
            diagonal = mean<T>({above[l], above[r], below[l], below[r]});
    const T level = mean<T>({here[l], here[r]}), upright = mean<T>({above[x], below[x]});
    const bool green = red_row != red_column;
    const T in_row = green ? level : here[x],
            in_other = green ? upright : diagonal;  // of the row's own colour, and the other
    out[0] = red_row ? in_row : in_other;
    out[1] = green ? here[x] : cross;
    out[2] = red_row ? in_other : in_row;
  }
}

template <class T>
void convert(const ImageView<const T>& image, PixelFormat format, Image<T>& rgb, int threads) {
  const int width = rgb.width();
  for_rows(threads, rgb.height(), [&](int y) {
    if (is_bayer(format)) return bayer_row(image, Mosaic(format), y, rgb.row(y));
    if constexpr (std::is_same_v<T, std::uint8_t>)
      if (format == PixelFormat::nv12)
        return nv12_row(image.row(y), image.row(rgb.height() + y / 2), width, rgb.row(y));
    reorder_row(image.row(y), image.channels, format != PixelFormat::rgba, width, rgb.row(y));
  });
}

}  // namespace

std::ptrdiff_t detail::pitch_of_bytes(std::uintptr_t address, std::size_t byte_pitch, std::size_t element_bytes) {
  if (byte_pitch % element_bytes != 0 || address % element_bytes != 0)
    refuse(text("rows that are ", byte_pitch, " bytes apart and begin at ", address,
                " do not lie at multiples of their elements' ", element_bytes, " bytes; copy them into an Image"));
  return static_cast<std::ptrdiff_t>(byte_pitch / element_bytes);
}

AnyImageView any_view_with_byte_pitch(const void* data, PixelType type, Size size, int channels, std::size_t byte_pitch,
                                      int bit_depth) {
  AnyImageView v;
  v.data = data;
  v.type = type;
  v.width = size.width;
  v.height = size.height;
  v.channels = channels;
  v.pitch = detail::pitch_of_bytes(reinterpret_cast<std::uintptr_t>(data), byte_pitch, bytes_of(type));
  v.bit_depth = depth_or(bit_depth, type);
  return v;
}

DeviceImageView device_view_with_byte_pitch(std::uint64_t address, PixelType type, Size size, int channels,
                                            std::size_t byte_pitch, int bit_depth) {
  return {address,
          0,
          type,
          size.width,
          size.height,
          channels,
          detail::pitch_of_bytes(address, byte_pitch, bytes_of(type)),
          depth_or(bit_depth, type)};
}

Size picture_size(const AnyImageView& image, PixelFormat format) {
  const auto wrong = [&](const char* must) {
    refuse(text("an image of ", image.width, "×", image.height, " pixels with ", image.channels, " channels of ",
                to_string(image.type), " can't be ", name_of(format), "; it must have ", must));
  };
  if (image.empty() || image.channels != channels_of(format))
    wrong(channels_of(format) == 4 ? "4 channels" : channels_of(format) == 3 ? "3 channels" : "one channel");
  if (is_bayer(format) && (image.width < 2 || image.height < 2)) wrong("at least 2×2 pixels");
  if (format != PixelFormat::nv12) return image.size();
  if (image.type != PixelType::u8 || image.width % 2 != 0 || image.height % 3 != 0)
    wrong("8 bits, an even width, and half as many rows again as the picture, which has an even number of them");
  return {image.width, image.height / 3 * 2};
}

void to_rgb(const AnyImageView& image, PixelFormat format, AnyImage& rgb, int threads) {
  const Size size = picture_size(image, format);
  with_pixels(image, [&]<class T>(const ImageView<const T>& pixels) {
    auto* made = std::get_if<Image<T>>(&rgb.pixels);
    if (made == nullptr || made->size() != size || made->channels() != 3) {
      rgb.pixels = Image<T>(size, 3);
      made = std::get_if<Image<T>>(&rgb.pixels);
    }
    rgb.bit_depth = image.bit_depth;
    convert(pixels, format, *made, threads);
  });
}

AnyImageView luma_of_nv12(const AnyImageView& image) {
  const Size size = picture_size(image, PixelFormat::nv12);
  return image.crop({0, 0, size.width, size.height});
}

}  // namespace stereopsis
