// The check of a rig, which stages and geometry share.
#pragma once

#include <cmath>

#include "core/text.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

// Throws Error(call) for a rig without depth. Stages compute in float: with these limits, depths and their uncertainties
// are finite.
inline void check_rig(const Rig& rig) {
  constexpr double least = 1e-15, most = 1e15;
  constexpr double farthest_centre = 1e9;  // pixels
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  const auto is_length = [](double value) { return value >= least && value <= most; };
  if (!is_length(rig.focal) || !is_length(rig.baseline) || !is_length(rig.focal * rig.baseline))
    refuse(text("a rig with the focal length ", number_text(rig.focal), " and the baseline ", number_text(rig.baseline),
                " has no depth; both, and their product, must be from ", number_text(least), " to ",
                number_text(most)));
  for (const double at : {rig.cx_left, rig.cx_right, rig.cy})
    if (!(std::abs(at) <= farthest_centre))
      refuse(text("a rig with a principal point at ", number_text(at), " px has no points; it must be from -",
                  number_text(farthest_centre), " to ", number_text(farthest_centre)));
  if (rig.size.width < 0 || rig.size.height < 0)
    refuse(text("a rig for images of ", rig.size.width, "×", rig.size.height,
                " pixels has no images; give their width and height, or 0×0 if they are not known"));
}

}  // namespace stereopsis
