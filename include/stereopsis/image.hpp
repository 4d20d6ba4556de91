// Images and volumes: an owning type, and a trivially copyable view on which all stages operate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "stereopsis/error.hpp"

namespace stereopsis {

// A size in pixels.
struct Size {
  int width = 0;   // columns
  int height = 0;  // rows

  bool operator==(const Size&) const = default;
};

// A position in an image, from the top left.
struct Pixel {
  int x = 0;  // column
  int y = 0;  // row

  bool operator==(const Pixel&) const = default;
};

// A rectangle: pixels [x, x + width) × [y, y + height).
struct Rect {
  int x = 0;       // column
  int y = 0;       // row
  int width = 0;   // columns
  int height = 0;  // rows

  bool operator==(const Rect&) const = default;
  Size size() const { return {width, height}; }             // in pixels
  bool empty() const { return width <= 0 || height <= 0; }  // returns true if the rectangle has no pixels
};

Rect intersect(const Rect& a, const Rect& b);  // returns the pixels that both rectangles contain
// Returns the rectangle grown by `x` columns on the left and right and by `y` rows above and below.
Rect grow(const Rect& r, int x, int y);

// A view of pixels that another object owns. `pitch` is the distance between two rows in elements (not bytes); channels
// are interleaved.
template <class T>
struct ImageView {
  T* data = nullptr;         // the first element of the first row
  int width = 0;             // columns
  int height = 0;            // rows
  int channels = 1;          // elements per pixel
  std::ptrdiff_t pitch = 0;  // elements from one row to the next

  ImageView() = default;
  // Views existing memory.
  ImageView(T* data_, int width_, int height_, int channels_, std::ptrdiff_t pitch_)
      : data(data_), width(width_), height(height_), channels(channels_), pitch(pitch_) {}
  // Views one channel with contiguous rows.
  ImageView(T* data_, int width_, int height_) : ImageView(data_, width_, height_, 1, width_) {}

  T* row(int y) const { return data + y * pitch; }  // returns the first element of row y
  T& operator()(int x, int y, int channel = 0) const { return row(y)[x * channels + channel]; }
  // Returns the pixel at (x, y) or, outside the image, the nearest pixel inside it.
  T& clamped(int x, int y, int channel = 0) const {
    return (*this)(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1), channel);
  }

  bool empty() const { return data == nullptr || width <= 0 || height <= 0; }  // returns true if there are no pixels
  Size size() const { return {width, height}; }                                // in pixels
  // Returns a view of a part of the same memory. The rectangle must lie inside the image.
  ImageView crop(const Rect& r) const {
    return {data + r.y * pitch + static_cast<std::ptrdiff_t>(r.x) * channels, r.width, r.height, channels, pitch};
  }
  operator ImageView<const T>() const requires(!std::is_const_v<T>) { return {data, width, height, channels, pitch}; }
};

namespace detail {
void release_aligned(void* p);
struct AlignedDelete {
  void (*release)(void*) = release_aligned;
  void operator()(void* p) const { release(p); }
};
// Returns memory aligned to 64 bytes, with 64 additional bytes after its end. Throws Error(memory).
void* allocate_aligned(std::size_t bytes);
// Returns the product of `bytes` and `count`. Throws Error(memory) if the product exceeds the address space.
std::size_t bytes_of_all(std::size_t bytes, std::ptrdiff_t count);
}  // namespace detail

// An image that owns its pixels. Rows start at multiples of 64 bytes. New pixels are not initialised.
template <class T>
class Image {
 public:
  Image() = default;
  // Throws Error(call) for a negative size, and Error(memory).
  Image(int width, int height, int channels = 1);
  explicit Image(Size size, int channels = 1) : Image(size.width, size.height, channels) {}  // as above
  // A source of memory for an image. Addresses must be multiples of 64 bytes.
  struct Memory {
    // Returns memory whose address is a multiple of 64 bytes, or throws.
    std::function<void*(std::size_t bytes)> allocate;
    void (*release)(void*);                            // releases the memory
  };
  Image(Size size, int channels, const Memory& memory);  // rows start at multiples of 64 bytes
  Image(Size size, int channels, T value) : Image(size, channels) { fill(value); }  // sets all elements to `value`
  // Copies the pixels of a view.
  explicit Image(ImageView<const T> pixels) : Image(pixels.width, pixels.height, pixels.channels) { copy_from(pixels); }
  Image(Image&&) noexcept = default;
  Image& operator=(Image&&) noexcept = default;
  Image(const Image& other) : Image(other.view()) {}
  Image& operator=(const Image& other) { return *this = Image(other); }

  int width() const { return view_.width; }        // columns
  int height() const { return view_.height; }      // rows
  int channels() const { return view_.channels; }  // elements per pixel
  Size size() const { return view_.size(); }       // in pixels
  bool empty() const { return view_.empty(); }     // returns true if there are no pixels

  T& operator()(int x, int y, int channel = 0) { return view_(x, y, channel); }
  const T& operator()(int x, int y, int channel = 0) const { return view_(x, y, channel); }
  T* row(int y) { return view_.row(y); }              // returns the first element of row y
  const T* row(int y) const { return view_.row(y); }  // returns the first element of row y

  ImageView<T> view() { return view_; }              // returns a view that is valid while the image exists
  ImageView<const T> view() const { return view_; }  // read-only
  operator ImageView<T>() { return view_; }
  operator ImageView<const T>() const { return view_; }

  // Fills all elements.
  void fill(T value) {
    for (int y = 0; y < height(); ++y) std::fill_n(row(y), static_cast<std::size_t>(width()) * channels(), value);
  }
  // Copies a view of the same size and channels.
  void copy_from(ImageView<const T> source) {
    for (int y = 0; y < height(); ++y)
      std::copy_n(source.row(y), static_cast<std::size_t>(width()) * channels(), row(y));
  }

 private:
  std::unique_ptr<T, detail::AlignedDelete> storage_;
  ImageView<T> view_;
};

template <class T>
Image<T>::Image(int width, int height, int channels)
    : Image({width, height}, channels, {detail::allocate_aligned, detail::release_aligned}) {}

template <class T>
Image<T>::Image(Size size, int channels, const Memory& memory) {
  const auto [width, height] = size;
  if (width < 0 || height < 0 || channels < 1)
    throw Error(ErrorCategory::call, "an image cannot have the size " + std::to_string(width) + "×" +
                                         std::to_string(height) + " with " + std::to_string(channels) +
                                         " channels; width and height must be at least 0 and channels at least 1");
  constexpr std::size_t lane = 64 / sizeof(T);
  const std::size_t pitch = (static_cast<std::size_t>(width) * channels + lane - 1) / lane * lane;
  storage_ = {static_cast<T*>(memory.allocate(detail::bytes_of_all(detail::bytes_of_all(sizeof(T), static_cast<std::ptrdiff_t>(pitch)), height))), {memory.release}};
  view_ = {storage_.get(), width, height, channels, static_cast<std::ptrdiff_t>(pitch)};
}

// Type of each channel: 8 and 16 bits, and float.
enum class PixelType : std::uint8_t { u8, u16, f32 };
std::string to_string(PixelType type);  // for people

// The PixelType of a C++ type.
template <class T>
constexpr PixelType pixel_type_of = std::is_same_v<std::remove_const_t<T>, std::uint8_t>    ? PixelType::u8
                                    : std::is_same_v<std::remove_const_t<T>, std::uint16_t> ? PixelType::u16
                                                                                            : PixelType::f32;

// A view of an input image whose pixel type is known only at run time. `bit_depth` is the number of significant bits (8
// for u8; 9 to 16 for u16). A float image is in 8-bit units, 0 to 255.
struct AnyImageView {
  const void* data = nullptr;      // first element of the first row
  PixelType type = PixelType::u8;  // type of each channel
  int width = 0;                   // columns
  int height = 0;                  // rows
  int channels = 1;                // elements per pixel
  std::ptrdiff_t pitch = 0;        // elements from one row to the next
  int bit_depth = 8;               // number of significant bits

  AnyImageView() = default;
  // Wraps a view of known type; `depth` is the bit depth.
  template <class T>
  AnyImageView(ImageView<T> v, int depth = sizeof(T) == 2 ? 16 : 8)
      : data(v.data),
        type(pixel_type_of<T>),
        width(v.width),
        height(v.height),
        channels(v.channels),
        pitch(v.pitch),
        bit_depth(depth) {}
  // Views a whole image.
  template <class T>
  AnyImageView(const Image<T>& image, int depth = sizeof(T) == 2 ? 16 : 8) : AnyImageView(image.view(), depth) {}

  // Returns the view with its element type, which the caller must know.
  template <class T>
  ImageView<const T> as() const {
    return {static_cast<const T*>(data), width, height, channels, pitch};
  }
  bool empty() const { return data == nullptr || width <= 0 || height <= 0; }  // returns true if there are no pixels
  Size size() const { return {width, height}; }                                // in pixels
  // Returns a view of a part of the same memory.
  AnyImageView crop(const Rect& r) const;
};

// Calls f with the view, converted to an ImageView of its pixel type.
template <class F>
decltype(auto) with_pixels(const AnyImageView& image, F&& f) {
  switch (image.type) {
    case PixelType::u8: return f(image.as<std::uint8_t>());
    case PixelType::u16: return f(image.as<std::uint16_t>());
    default: return f(image.as<float>());
  }
}

// An image of any pixel type that owns its pixels. The readers of stereopsis/io.hpp return images of this type.
struct AnyImage {
  std::variant<Image<std::uint8_t>, Image<std::uint16_t>, Image<float>> pixels;  // the pixels, in their own type
  int bit_depth = 8;                                                             // number of significant bits

  AnyImage() = default;
  AnyImage(Image<std::uint8_t> image) : pixels(std::move(image)) {}  // takes ownership
  // Takes ownership of the image; `depth` is the bit depth.
  AnyImage(Image<std::uint16_t> image, int depth = 16) : pixels(std::move(image)), bit_depth(depth) {}
  AnyImage(Image<float> image) : pixels(std::move(image)) {}  // takes ownership

  // Returns a view that is valid while the image exists.
  AnyImageView view() const {
    return std::visit([this](const auto& image) { return AnyImageView(image, bit_depth); }, pixels);
  }
  operator AnyImageView() const { return view(); }
  Size size() const { return view().size(); }       // in pixels
  int channels() const { return view().channels; }  // elements per pixel
};

// A view of cells (x, y, d), with the disparity as the fastest index; `row_pitch` is in elements. Offsets of rows are
// computed in 64 bits.
template <class T>
struct VolumeView {
  T* data = nullptr;             // the first element of the first row
  int width = 0;                 // columns
  int height = 0;                // rows
  int disparities = 0;           // cells per pixel
  std::ptrdiff_t row_pitch = 0;  // elements from one row to the next
  T* last_row = nullptr;         // address of the last row, if that row is stored elsewhere

  // Returns the first cell of a row.
  T* row(int y) const { return last_row != nullptr && y == height - 1 ? last_row : data + y * row_pitch; }
  // Returns the first cell of a pixel, which belongs to the lowest disparity.
  T* pixel(int x, int y) const { return row(y) + static_cast<std::ptrdiff_t>(x) * disparities; }
  T& operator()(int x, int y, int d) const { return pixel(x, y)[d]; }
  operator VolumeView<const T>() const requires(!std::is_const_v<T>) {
    return {data, width, height, disparities, row_pitch, last_row};
  }
};

// A volume that owns its cells, without gaps. New cells are not initialised.
template <class T>
class Volume {
 public:
  Volume() = default;
  // Throws Error(memory) if the memory cannot be allocated.
  Volume(Size size, int disparities)
      : storage_(static_cast<T*>(
            detail::allocate_aligned(detail::bytes_of_all(
                detail::bytes_of_all(detail::bytes_of_all(sizeof(T), size.width), size.height), disparities)))),
        view_{storage_.get(), size.width, size.height, disparities,
              static_cast<std::ptrdiff_t>(size.width) * disparities} {}

  T& operator()(int x, int y, int d) { return view_(x, y, d); }
  const T& operator()(int x, int y, int d) const { return view_(x, y, d); }
  VolumeView<T> view() { return view_; }              // returns a view that is valid while the volume exists
  VolumeView<const T> view() const { return view_; }  // read-only
  operator VolumeView<T>() { return view_; }
  operator VolumeView<const T>() const { return view_; }

 private:
  std::unique_ptr<T, detail::AlignedDelete> storage_;
  VolumeView<T> view_;
};

}  // namespace stereopsis
