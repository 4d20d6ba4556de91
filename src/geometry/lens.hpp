// The inverse of a lens, and the angle up to which the lens model is valid.
#pragma once

#include <string_view>

#include "stereopsis/rectification.hpp"

namespace stereopsis {

// Throws Error(call) if the focal lengths of the camera `name` are not positive, or a number of its lens is not finite.
void check_lens(std::string_view name, const Lens& lens);

// Returns the smallest r² at which the polynomial of a lens folds back. Steeper rays have no pixel. A fisheye lens has
// no such limit.
double fold_of(const Lens& lens);

// The inverse of Lens::project().
class InverseLens {
 public:
  explicit InverseLens(const Lens& lens);
  // Returns the ray (x, y, 1) that meets the image at a pixel. A pixel beyond the widest angle of the lens gets the ray
  // of that angle, at most 84°.
  Vector3 operator()(double px, double py) const;

 private:
  Lens lens_;
  double widest_;  // slope of the widest angle
};

}  // namespace stereopsis
