// PNG through libpng. libpng reports an error with longjmp, which must not skip any destructor. Therefore, libpng is
// called only inside attempt(), and all objects with destructors are declared outside.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "core/text.hpp"
#include "io/codecs.hpp"

namespace stereopsis::io {
namespace {

struct Failure {
  char message[160] = "out of memory";
};

void on_error(png_structp png, png_const_charp message) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::snprintf(failure->message, sizeof failure->message, "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

// Runs f. Returns false if libpng reported an error.
template <class F>
bool attempt(png_structp png, const F& f) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  f();
  return true;
}

class Reader {
 public:
  Reader() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure_, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void open(Bytes file) {
    rest_ = file;
    call([this] {
      png_set_read_fn(png_, this, [](png_structp png, png_bytep to, std::size_t size) {
        Bytes& rest = static_cast<Reader*>(png_get_io_ptr(png))->rest_;
        if (size > rest.size()) png_error(png, "the file is cut off");
        std::memcpy(to, rest.data(), size);
        rest = rest.subspan(size);
      });
      // Colour profiles, texts and times are skipped, because they are not used and can be decompression bombs.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png_, info_);
    });
  }

  Claim claim() const {
    return {"PNG", png_get_image_width(png_, info_), png_get_image_height(png_, info_), png_get_channels(png_, info_),
            png_get_bit_depth(png_, info_)};
  }
  bool is_colour() const { return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0; }

  bool has_alpha() const {
    return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png_, info_, PNG_INFO_tRNS);
  }

  // Returns the pixels. If there is an alpha channel, it is the last channel.
  template <class T>
  Image<T> pixels() {
    Image<T> image({static_cast<int>(claim().width), static_cast<int>(claim().height)},
                   (is_colour() ? 3 : 1) + (has_alpha() ? 1 : 0));
    std::vector<png_bytep> rows;
    for (int y = 0; y < image.height(); ++y) rows.push_back(reinterpret_cast<png_bytep>(image.row(y)));
    call([&] {
      png_set_expand(png_);  // converts palettes to RGB, 1, 2 and 4 bits to 8, and a transparent colour to alpha
      if (std::endian::native == std::endian::little) png_set_swap(png_);
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
      const std::size_t row_bytes = sizeof(T) * static_cast<std::size_t>(image.width()) * image.channels();
      if (png_get_rowbytes(png_, info_) != row_bytes) png_error(png_, "its rows have an unexpected length");
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    });
    return image;
  }

 private:
  template <class F>
  void call(const F& f) {
    if (info_ == nullptr)
      throw Error(ErrorCategory::memory, "there is not enough memory to read the PNG; free memory and try again");
    if (!attempt(png_, f))
      throw Error(ErrorCategory::format,
                  text("the PNG data cannot be decoded (", failure_.message, "); the file is damaged"));
  }

  Bytes rest_;
  Failure failure_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

class Writer {
 public:
  Writer() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure_, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr)
      throw Error(ErrorCategory::memory, "there is not enough memory to write the PNG; free memory and try again");
  }
  ~Writer() { png_destroy_write_struct(&png_, &info_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  template <class T>
  std::string write(ImageView<const T> image) {
    std::vector<png_bytep> rows;
    for (int y = 0; y < image.height; ++y)
      rows.push_back(const_cast<png_bytep>(reinterpret_cast<png_const_bytep>(image.row(y))));
    const bool done = attempt(png_, [&] {
      png_set_write_fn(png_, this, append_bytes, [](png_structp) {});
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
                   8 * sizeof(T), image.channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      // libpng's default, which tries all filters and compresses more, takes about five times as long for a map.
      png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
      png_set_compression_level(png_, 1);
      png_write_info(png_, info_);
      if (sizeof(T) == 2 && std::endian::native == std::endian::little) png_set_swap(png_);
      png_write_image(png_, rows.data());
      png_write_end(png_, info_);
    });
    if (!done) throw Error(ErrorCategory::memory, text("the PNG cannot be encoded (", failure_.message, ")"));
    return std::move(file_);
  }

 private:
  // No exception may pass through libpng.
  static void append_bytes(png_structp png, png_bytep data, std::size_t size) {
    auto* writer = static_cast<Writer*>(png_get_io_ptr(png));
    bool done = true;
    try {
      writer->file_.append(reinterpret_cast<const char*>(data), size);
    } catch (const std::exception&) {
      done = false;
    }
    if (!done) png_error(png, "out of memory");
  }

  Failure failure_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::string file_;
};

// Moves the alpha channel to the mask.
template <class T>
Decoded without_alpha(Image<T> pixels, bool has_alpha) {
  if (!has_alpha) return {std::move(pixels)};
  const int channels = pixels.channels() - 1;
  Image<T> image(pixels.size(), channels);
  Image<std::uint8_t> mask(pixels.size());
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      for (int c = 0; c < channels; ++c) image(x, y, c) = pixels(x, y, c);
      mask(x, y) = pixels(x, y, channels) != 0 ? 255 : 0;
    }
  return {std::move(image), std::move(mask)};
}

// Throws an Error for an animation (APNG), whose chunk acTL precedes the pixels.
void check_single(Bytes file) {
  constexpr std::size_t signature = 8, head = 8, around = 12;
  for (std::size_t at = signature; at + around <= file.size();) {
    const std::string_view type = text_of(file.subspan(at + 4, 4));
    if (type == "IDAT") return;
    if (type == "acTL")
      throw Error(ErrorCategory::unsupported,
                  text("the PNG is an animation of ", load<std::uint32_t>(file.data() + at + head, std::endian::big),
                       " frames; give its frames as single images"));
    at += around + load<std::uint32_t>(file.data() + at, std::endian::big);
  }
}

}  // namespace

Decoded decode_png(Bytes file) {
  constexpr double deflate_expansion = 1032;
  check_single(file);
  Reader reader;
  reader.open(file);
  check(reader.claim(), file.size(), deflate_expansion);
  if (reader.claim().bits == 16) return without_alpha(reader.pixels<std::uint16_t>(), reader.has_alpha());
  return without_alpha(reader.pixels<std::uint8_t>(), reader.has_alpha());
}

std::string encode_png(AnyImageView image) {
  if (image.type == PixelType::u8) return Writer().write(image.as<std::uint8_t>());
  return Writer().write(image.as<std::uint16_t>());
}

}  // namespace stereopsis::io
