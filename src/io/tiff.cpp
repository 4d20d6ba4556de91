// TIFF: reads one image of the file, 8 or 16 bits (also signed) or float, grey or RGB, in strips or tiles, with any
// compression that the installed libtiff supports. Writes uncompressed files.
#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/pictures.hpp"
#include "io/tokens.hpp"

#ifdef STEREOPSIS_TIFF

#include <tiffio.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

namespace stereopsis::io {
namespace {

// A file, with callbacks for libtiff that read `source` or write to `written`. No exception may pass through libtiff.
struct Memory {
  const FileBytes* source = nullptr;
  std::string* written = nullptr;
  std::uint64_t position = 0;
  std::string error;

  std::uint64_t size() const { return written != nullptr ? written->size() : source->size(); }

  static Memory& of(thandle_t handle) { return *static_cast<Memory*>(handle); }

  static tmsize_t read(thandle_t handle, void* to, tmsize_t size) try {
    Memory& m = of(handle);
    const std::uint64_t left = m.size() - std::min(m.position, m.size());
    const std::uint64_t count = std::min(static_cast<std::uint64_t>(size), left);
    if (count > 0 && m.written != nullptr) std::memcpy(to, m.written->data() + m.position, count);
    if (m.source != nullptr && !m.source->read(m.position, {static_cast<std::byte*>(to), count})) return 0;
    m.position += count;
    return static_cast<tmsize_t>(count);
  } catch (const std::exception&) {
    return 0;
  }

  static tmsize_t write(thandle_t handle, void* from, tmsize_t size) try {
    Memory& m = of(handle);
    if (m.written == nullptr) return 0;
    const std::uint64_t end = m.position + static_cast<std::uint64_t>(size);
    if (m.written->size() < end) m.written->resize(end);
    std::memcpy(m.written->data() + m.position, from, static_cast<std::size_t>(size));
    m.position = end;
    return size;
  } catch (const std::exception&) {
    return 0;
  }

  static toff_t seek(thandle_t handle, toff_t offset, int origin) {
    Memory& m = of(handle);
    const std::uint64_t base = origin == SEEK_CUR ? m.position : origin == SEEK_END ? m.size() : 0;
    return m.position = base + offset;
  }

  static toff_t size_of(thandle_t handle) { return of(handle).size(); }
  static int close(thandle_t) { return 0; }

  [[maybe_unused]] static int remember_error(TIFF*, void* memory, const char*, const char* format, va_list values) try {
    char message[160];
    std::vsnprintf(message, sizeof message, format, values);
    auto& error = static_cast<Memory*>(memory)->error;
    if (error.empty()) error = message;
    return 1;
  } catch (const std::exception&) {
    return 1;
  }
};

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, Close>;

Tiff open(Memory& memory, const char* mode) {
#if TIFFLIB_VERSION < 20221213
  // Error handlers belong to the whole program before libtiff 4.5: it reports errors to them, by default on stderr.
  return Tiff(TIFFClientOpen("memory", mode, &memory, Memory::read, Memory::write, Memory::seek, Memory::close,
                             Memory::size_of, nullptr, nullptr));
#else
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  // A compressed strip is the largest block that libtiff allocates by itself.
  constexpr tmsize_t spare = 16 << 20;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(memory.size()) + spare);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), Memory::remember_error, &memory);
  TIFFOpenOptionsSetWarningHandlerExtR(
      options.get(), [](TIFF*, void*, const char*, const char*, va_list) { return 1; }, nullptr);
  return Tiff(TIFFClientOpenExt("memory", mode, &memory, Memory::read, Memory::write, Memory::seek, Memory::close,
                                Memory::size_of, nullptr, nullptr, options.get()));
#endif
}

[[noreturn]] void damaged([[maybe_unused]] const Memory& memory) {
#if TIFFLIB_VERSION < 20221213
  const std::string why = "libtiff passed the reason to its error handler, which writes to stderr by default";
#else
  const std::string why = memory.error.empty() ? "cut off" : Tokens::printable(memory.error, 200);
#endif
  throw Error(ErrorCategory::format, text("the TIFF data cannot be decoded (", why, "); the file is damaged"));
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCategory::unsupported,
              text("the TIFF has ", what, "; convert it to grey or RGB with 8 or 16 bits or 32-bit float"));
}

template <class T>
T tag(TIFF* tiff, std::uint32_t name) {
  T value{};
  TIFFGetFieldDefaulted(tiff, name, &value);
  return value;
}

// Returns the value that GDAL writes for pixels without data.
std::optional<double> no_data_value(TIFF* tiff) {
  constexpr std::uint32_t gdal_no_data = 42113;
  const TIFFField* const field = TIFFFindField(tiff, gdal_no_data, TIFF_ANY);
  if (field == nullptr || TIFFFieldDataType(field) != TIFF_ASCII || TIFFFieldPassCount(field) == 0) return {};
  std::uint32_t count = 0;
  const char* value = nullptr;
  if (TIFFGetField(tiff, gdal_no_data, &count, &value) == 0 || value == nullptr) return {};
  const std::string text(value, strnlen(value, count));
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return end != text.c_str() ? std::optional(number) : std::nullopt;
}

// Says whether the sample after the colours is an alpha channel. The sample may also be infrared, for instance. Some
// programs write RGBA without the tag that says so. As in libtiff's own reader, the fourth sample is then taken for
// alpha.
enum class Alpha { none, assumed, declared };
Alpha alpha_of(TIFF* tiff, int colours) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0)
    return colours == 3 ? Alpha::assumed : Alpha::none;
  return kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA ? Alpha::declared : Alpha::none;
}

struct Layout {
  Claim claim;    // includes all samples of a pixel, even dropped ones
  bool separate;  // true if the channels are stored as separate planes
  bool white_is_zero;
  Alpha alpha;
  bool is_signed;
  std::optional<double> no_data;
};

Layout layout_of(TIFF* tiff) {
  const auto samples = tag<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL);
  const auto bits = tag<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE);
  const auto format = tag<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT);
  const auto photometric = tag<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC);
  constexpr std::uint16_t mosaic = 32803, linear_raw = 34892;  // colour spaces of DNG
  if (photometric == mosaic || photometric == linear_raw)
    throw Error(ErrorCategory::unsupported,
                text("the picture is a camera's raw data (DNG, NEF, ARW and the like; the colour space ", photometric,
                     "); develop it to a 16-bit TIFF, for instance with `dcraw -T -6` or RawTherapee"));
  const bool is_float = format == SAMPLEFORMAT_IEEEFP && bits == 32;
  const bool is_signed = format == SAMPLEFORMAT_INT && bits == 16;
  const bool is_unsigned = (format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID) && (bits == 8 || bits == 16);
  if (!is_float && !is_unsigned && !is_signed)
    unsupported(text(bits, "-bit samples",
                     format == SAMPLEFORMAT_INT      ? " with a sign"
                     : format == SAMPLEFORMAT_IEEEFP ? " (float)"
                                                     : ""));
  if (photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_RGB &&
      (photometric != PHOTOMETRIC_MINISWHITE || is_float))
    unsupported(text("the colour space ", photometric, " (a palette, YCbCr or a mosaic, for instance)"));
  // Samples in addition to grey or RGB are dropped, but an alpha channel is converted to the mask.
  const int colours = photometric == PHOTOMETRIC_RGB ? 3 : 1;
  if (samples < colours || samples > colours + 1) unsupported(text(samples, " samples per pixel"));
  return {{"TIFF", tag<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH), tag<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH), samples,
           bits},
          tag<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE,
          photometric == PHOTOMETRIC_MINISWHITE,
          samples > colours ? alpha_of(tiff, colours) : Alpha::none,
          is_signed,
          no_data_value(tiff)};
}

// Reads the samples of one image.
template <class T>
class Pixels {
 public:
  Pixels(TIFF* tiff, const Layout& layout, const Memory& memory)
      : tiff_(tiff),
        memory_(memory),
        samples_(layout.separate ? 1 : layout.claim.channels),
        image_(static_cast<int>(layout.claim.width), static_cast<int>(layout.claim.height),
               layout.claim.channels < 3 ? 1 : 3),
        alpha_(layout.alpha != Alpha::none) {
    if (alpha_ || layout.no_data) mask_ = Image<std::uint8_t>(image_.size(), 1, 255);
    const int planes = !layout.separate ? 1 : image_.channels() + (alpha_ ? 1 : 0);
    for (int plane = 0; plane < planes; ++plane) {
      if (TIFFIsTiled(tiff))
        read_tiles(plane);
      else
        read_rows(plane);
    }
    if (layout.alpha == Alpha::assumed) drop_padding(layout.no_data.has_value());
    if (layout.no_data) mask_no_data(*layout.no_data);
    if constexpr (std::is_unsigned_v<T>)
      if (layout.white_is_zero) invert();
  }

  Image<T> take() { return std::move(image_); }
  Image<std::uint8_t> take_mask() { return std::move(mask_); }

 private:
  void read_rows(int plane) {
    const std::size_t row_samples = static_cast<std::size_t>(image_.width()) * samples_;
    if (TIFFScanlineSize64(tiff_) != row_samples * sizeof(T)) damaged(memory_);
    std::vector<T> row(row_samples);
    for (int y = 0; y < image_.height(); ++y) {
      if (TIFFReadScanline(tiff_, row.data(), static_cast<std::uint32_t>(y), static_cast<std::uint16_t>(plane)) < 0)
        damaged(memory_);
      put(row.data(), 0, y, image_.width(), plane);
    }
  }

  void read_tiles(int plane) {
    const auto width = tag<std::uint32_t>(tiff_, TIFFTAG_TILEWIDTH);
    const auto height = tag<std::uint32_t>(tiff_, TIFFTAG_TILELENGTH);
    check({"TIFF tile", width, height, samples_, 8 * sizeof(T)}, memory_.size(), expansion);
    const std::size_t tile_samples = static_cast<std::size_t>(width) * height * samples_;
    if (TIFFTileSize64(tiff_) != tile_samples * sizeof(T)) damaged(memory_);
    std::vector<T> tile(tile_samples);
    const int step_x = static_cast<int>(width);
    const int step_y = static_cast<int>(height);
    for (int top = 0; top < image_.height(); top += step_y)
      for (int left = 0; left < image_.width(); left += step_x) {
        if (TIFFReadTile(tiff_, tile.data(), static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(top), 0,
                         static_cast<std::uint16_t>(plane)) < 0)
          damaged(memory_);
        const int rows = std::min(step_y, image_.height() - top);
        const int columns = std::min(step_x, image_.width() - left);
        for (int y = 0; y < rows; ++y)
          put(tile.data() + static_cast<std::size_t>(y) * width * samples_, left, top + y, columns, plane);
      }
  }

  void put(const T* from, int left, int y, int count, int plane) {
    const int channels = std::min(samples_, image_.channels() - plane);
    for (int x = 0; x < count; ++x) {
      for (int c = 0; c < channels; ++c) image_(left + x, y, plane + c) = from[x * samples_ + c];
      if (alpha_ && plane + samples_ > image_.channels() && from[x * samples_ + samples_ - 1] == 0)
        mask_(left + x, y) = 0;
    }
  }

  // A fourth sample that is 0 everywhere is padding, unless a tag says that it is alpha.
  void drop_padding(bool needs_mask) {
    for (int y = 0; y < mask_.height(); ++y)
      if (std::any_of(mask_.row(y), mask_.row(y) + mask_.width(), [](std::uint8_t m) { return m != 0; })) return;
    mask_ = needs_mask ? Image<std::uint8_t>(image_.size(), 1, 255) : Image<std::uint8_t>();
  }

  // A pixel has no data if none of its channels has data. For a float image, GDAL writes the no-data value with more
  // digits than a float has.
  void mask_no_data(double value) {
    using Number = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const auto none = [value = static_cast<Number>(value)](T v) { return static_cast<Number>(v) == value || v != v; };
    for (int y = 0; y < image_.height(); ++y)
      for (int x = 0; x < image_.width(); ++x) {
        const T* const pixel = image_.row(y) + static_cast<std::ptrdiff_t>(x) * image_.channels();
        if (std::all_of(pixel, pixel + image_.channels(), none)) mask_(x, y) = 0;
      }
  }

  void invert() {
    for (int y = 0; y < image_.height(); ++y)
      for (int i = 0; i < image_.width() * image_.channels(); ++i)
        image_.row(y)[i] = static_cast<T>(std::numeric_limits<T>::max() - image_.row(y)[i]);
  }

 public:
  // Maximum expansion of Deflate (1032) and LZW (1365), rounded up. LZMA and Zstandard exceed this expansion only for
  // images without content.
  static constexpr double expansion = 2048;

 private:
  TIFF* tiff_;
  const Memory& memory_;
  int samples_;  // number of samples per pixel in a row that libtiff returns
  Image<T> image_;
  bool alpha_;
  Image<std::uint8_t> mask_;
};

Image<float> as_floats(const Image<std::int16_t>& image) {
  Image<float> out(image.size(), image.channels());
  for (int y = 0; y < image.height(); ++y)
    std::copy_n(image.row(y), static_cast<std::size_t>(image.width()) * image.channels(), out.row(y));
  return out;
}

template <class T>
Decoded read_pixels(TIFF* tiff, const Layout& layout, const Memory& memory) {
  check(layout.claim, memory.size(), Pixels<T>::expansion);
  Pixels<T> pixels(tiff, layout, memory);
  if constexpr (std::is_same_v<T, std::int16_t>)
    return {as_floats(pixels.take()), pixels.take_mask(), true};
  else
    return {pixels.take(), pixels.take_mask()};
}

}  // namespace

Decoded decode_tiff(const FileBytes& file, std::uint64_t directory) {
  Memory memory;
  memory.source = &file;
  const Tiff tiff = open(memory, "rm");
  if (!tiff) damaged(memory);
  if (directory != 0 && directory != TIFFCurrentDirOffset(tiff.get()) &&
      TIFFSetSubDirectory(tiff.get(), directory) == 0)
    damaged(memory);
  const Layout layout = layout_of(tiff.get());
  if (layout.claim.bits == 8) return read_pixels<std::uint8_t>(tiff.get(), layout, memory);
  if (layout.is_signed) return read_pixels<std::int16_t>(tiff.get(), layout, memory);
  if (layout.claim.bits == 16) return read_pixels<std::uint16_t>(tiff.get(), layout, memory);
  return read_pixels<float>(tiff.get(), layout, memory);
}

std::string encode_tiff(AnyImageView image) {
  std::string file;
  Memory memory;
  memory.written = &file;
  const auto refuse = [&] {
    throw Error(ErrorCategory::memory, text("the TIFF cannot be encoded (", memory.error, ")"));
  };
  {
    const Tiff tiff = open(memory, "wm");
    if (!tiff) refuse();
    with_pixels(image, [&]<class T>(ImageView<const T> pixels) {
      const std::size_t row_bytes = sizeof(T) * static_cast<std::size_t>(pixels.width) * pixels.channels;
      constexpr bool is_float = std::is_same_v<T, float>;
      TIFFSetField(tiff.get(), TIFFTAG_IMAGEWIDTH, pixels.width);
      TIFFSetField(tiff.get(), TIFFTAG_IMAGELENGTH, pixels.height);
      TIFFSetField(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, pixels.channels);
      TIFFSetField(tiff.get(), TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * sizeof(T)));
      TIFFSetField(tiff.get(), TIFFTAG_SAMPLEFORMAT, is_float ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
      TIFFSetField(tiff.get(), TIFFTAG_PHOTOMETRIC, pixels.channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
      TIFFSetField(tiff.get(), TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
      TIFFSetField(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_NONE);
      TIFFSetField(tiff.get(), TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>((65536 + row_bytes - 1) / row_bytes));
      std::vector<T> row(row_bytes / sizeof(T));  // libtiff requires a writable row
      for (int y = 0; y < pixels.height; ++y) {
        std::copy_n(pixels.row(y), row.size(), row.begin());
        if (TIFFWriteScanline(tiff.get(), row.data(), static_cast<std::uint32_t>(y), 0) < 0) refuse();
      }
    });
    if (TIFFFlush(tiff.get()) == 0) refuse();
  }
  return file;
}

}  // namespace stereopsis::io

#else

namespace stereopsis::io {
namespace {
[[noreturn]] void refuse() {
  throw Error(ErrorCategory::unsupported,
              "this build has no TIFF; build with STEREOPSIS_TIFF=ON, or use PNG for integers and PFM for floats");
}
}  // namespace
Decoded decode_tiff(const FileBytes&, std::uint64_t) { refuse(); }
std::string encode_tiff(AnyImageView) { refuse(); }
}  // namespace stereopsis::io

#endif
