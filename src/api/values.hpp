// Checks of the values of inputs on the host, and the names of images in error messages.
#pragma once

#include <string>

#include "graph/binding.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Returns the name of an image in sentences, such as "the left image" or "the output 'disparity'".
std::string image_name(Binding binding);

// Throws Error(call) for a finite intensity above white or below black, in an image of float pixels or of 9 to 15 bits.
void check_intensities(const std::string& name, const AnyImageView& image);
// Throws Error(call) if a pixel has no path cost of 0, because path costs are passed after subtraction of their
// minimum.
void check_path_costs(const std::string& name, ImageView<const std::uint16_t> paths);
// Throws Error(call) where validity and disparity contradict each other. Stages rely on the rule that a pixel has a
// disparity if and only if its validity has no reason bit.
void check_validity(ImageView<const float> disparity, ImageView<const std::uint8_t> bits);

}  // namespace stereopsis
