// Arrays between Python and the library, without a copy: in by the buffer protocol, out as NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "stereopsis/matcher.hpp"

namespace stereopsis::python {

namespace nb = nanobind;

// An array that Python lends: any strides that the library's views can have, read-only ones too. Made, and done
// with, under the GIL.
class Lent {
 public:
  Lent() = default;
  // `name` is for sentences: "left". Throws Error(call) for what is no array of the host, or one of another type.
  Lent(nb::handle array, std::string name);

  bool given() const { return buffer_ != nullptr; }
  // (height, width) or (height, width, 3). A bit depth of 0: all bits of the type.
  AnyImageView image(int bit_depth = 0) const;
  AnyImageView volume() const;                 // (height, width, disparities)
  ImageView<const std::uint8_t> mask() const;  // (height, width), of uint8 or bool; empty if not given
  ImageView<const float> disparity() const;    // (height, width), of float32

 private:
  AnyImageView view(int channels, int bit_depth) const;
  std::string shape() const;

  struct Release {
    void operator()(Py_buffer* buffer) const {
      PyBuffer_Release(buffer);  // nothing, where none was got
      delete buffer;
    }
  };
  std::unique_ptr<Py_buffer, Release> buffer_;  // stays where it is: some exporters point into it
  std::string name_;
  PixelType type_ = PixelType::u8;
};

// Images of a pair as Python gives them, and what keeps them.
struct LentPair {
  // None may be given for masks, and for all but one of images and costs. `bgr`: images are copied in the order RGB.
  LentPair(nb::handle left, nb::handle right, nb::handle mask_left, nb::handle mask_right, nb::handle costs,
           int bit_depth, bool bgr);

  Lent left, right, mask_left, mask_right, costs;
  AnyImage left_rgb, right_rgb;
  StereoPair pair;
};

// A new array over the image's memory, which `owner` keeps: (height, width), or (height, width, channels).
nb::object lend(const AnyImageView& image, const std::shared_ptr<const void>& owner);
template <class ImageType>
nb::object give(ImageType&& image) {
  const auto kept = std::make_shared<std::decay_t<ImageType>>(std::forward<ImageType>(image));
  return lend(AnyImageView(*kept), kept);
}

// All images that there are, by name: what Result is made of.
nb::dict arrays_of(const std::shared_ptr<Matched>& matched);

// (height, width, channels, dtype), as an image or as a volume.
nb::tuple kind_of(nb::handle array, const std::string& name, bool volume);
PixelType pixel_type(const std::string& dtype);

}  // namespace stereopsis::python
