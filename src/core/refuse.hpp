// Checks of images, and their error messages.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/row_alignment.hpp"

namespace stereopsis {

[[noreturn]] inline void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

inline std::string shown(Size size) { return text(size.width, "×", size.height); }

// Throws an Error for an image without memory, or with a pitch that is too small or too large.
inline void check_pixels(const char* name, const void* data, Size size, int channels, std::ptrdiff_t pitch) {
  if (data == nullptr)
    refuse(text(name, " of ", shown(size), " pixels has no memory (its data is null); pass an image with pixels"));
  if (pitch < std::int64_t{size.width} * channels)
    refuse(text(name, " has a pitch of ", pitch, " elements; a row of ", size.width, " pixels with ", channels,
                " channels requires at least ", std::int64_t{size.width} * channels));
  constexpr std::int64_t most = std::int64_t{1} << 60;  // limit below which addresses are computed without overflow
  if (pitch > most / std::max(size.height, 1))
    refuse(text(name, " has a pitch of ", pitch, " elements and ", size.height, " rows; their product must be at most ",
                most, ", so pass the distance between two rows in elements"));
}

inline void check_bit_depth(PixelType type, int bit_depth) {
  if (type != PixelType::u16 && bit_depth != 8)
    refuse(text("a bit depth of ", bit_depth, " is not allowed for ", to_string(type),
                " pixels, whose values are in 8-bit units; it must be 8"));
  if (bit_depth < 1 || bit_depth > 16)
    refuse(text("a bit depth of ", bit_depth, " is not allowed; it must be 1 to 16"));
}

// Throws an Error for an alignment that moves rows far away, or whose field has a wrong number of knots.
inline void check_alignment(const RowAlignment& a) {
  constexpr int most = RowAlignment::most_rows;
  if (!a.field.is_valid())
    refuse(text("a field of rows with ", a.field.columns, "×", a.field.rows,
                " knots is not allowed; it must have 1 column, "
                "or at least 4, at least 4 rows, and at most ",
                RowField::most_knots, " knots"));
  if (!std::isfinite(a.rms()) || a.most() > most)
    refuse(text("an alignment of rows by offset ", a.offset, ", roll ", a.roll, ", zoom ", a.zoom, " and keystone ",
                a.keystone, " is not allowed; rows must move by at most ", most, " pixels, so rectify the pair"));
}

// Throws an Error if the images of a pair cannot be compared.
inline void check_images(const AnyImageView& left, const AnyImageView& right) {
  if (left.width < 1 || left.height < 1)
    refuse(text("the left image is ", shown(left.size()), ", so it has no pixels; pass an image with pixels"));
  if (left.size() != right.size())
    refuse(text("the left image is ", shown(left.size()), " and the right one ", shown(right.size()),
                "; both must have the same size"));
  for (const AnyImageView* image : {&left, &right}) {
    check_bit_depth(image->type, image->bit_depth);
    check_pixels(image == &left ? "the left image" : "the right image", image->data, image->size(), image->channels,
                 image->pitch);
  }
}

}  // namespace stereopsis
