// Triangulation: from disparity to metric depth and points.
//
//   Z = f·B / (d − (cx_left − cx_right))        depth; in a head's frame Prehn 2007, equation 2.5
//   X = (u − cx_left)·Z / f,  Y = (v − cy)·Z / f   optical frame: x right, y down, z forward, origin in the left camera
//   ΔZ = Z² / (f·B)·Δd                          effect of a disparity error Δd on the depth, to first order
//   Δd = e / √(c / (1 − c))                     with a confidence c, limited to [1/257, 256/257]; otherwise Δd = e
//
// The frame of a stereo head in Prehn 2007 (x forward, y left, z up, origin in the middle of the baseline) has x = Z
// (2.5), y = B/2 − X and z = −Y. These equations follow from the equations 2.3 and 2.7, and from 2.8 and 2.9 with 2.5
// inserted. In the equations, x_l = u − cx_left and x_r = x_l − (d − (cx_left − cx_right)) are relative to the
// principal points, and y_l = cy − v points upwards.
//
// The stage computes in float, and each step is rounded: w = d − offset, Z = (f·B) / w, X = ((step·x +
// first_x)·(1/f))·Z. The constants are rounded once on the host. There is no depth (NaN) if d is invalid, or if w is
// not in [10⁻⁶, 10⁹] pixels, which means that the point is at infinity or behind the cameras. With a validity map, only
// measured pixels (validity 0) have depth.
//
// The confidence is the probability of an error of at most e = 1 pixel. Δd is then the median error, if errors have a
// log-logistic distribution, P(error ≤ t) = 1 / (1 + (Δd / t)²), whose tail is as heavy as that of mismatches.
//
// Input: disparity, NaN where invalid; validity, 8 bits, and confidence, float, which may be empty. Output: depth, points (3 channels) and
// uncertainty, each of which may be empty.
// Required input: the pixel alone.
// Cost: one division and 8 products per pixel; reads 5 bytes, writes 4, 12 and 4.
#pragma once

#include "core/text.hpp"
#include "stages/shared/stage.hpp"
#include "stages/triangulate/rig_check.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis::triangulate {

struct Parameters {
  Rig rig;
  Frame frame = Frame::optical;
  double disparity_error = 0;    // e, pixels; 0 means 1 with a confidence, and 0.5 without
  int first_x = 0, first_y = 0;  // pixel of the image at the first pixel of the disparity map
  int step = 1;                  // number of image pixels per pixel of the disparity map, in x and y
};

// Constants for the computation of a pixel.
struct Constants {
  Constants(const Parameters& p, bool has_confidence)
      : depth_scale(static_cast<float>(p.rig.focal * p.rig.baseline)),
        offset(static_cast<float>(p.rig.cx_left - p.rig.cx_right)),
        inverse_focal(static_cast<float>(1 / p.rig.focal)),
        first_x(static_cast<float>(p.first_x + 0.5 * (p.step - 1) - p.rig.cx_left)),
        first_y(static_cast<float>(p.first_y + 0.5 * (p.step - 1) - p.rig.cy)),
        step(static_cast<float>(p.step)),
        half_baseline(static_cast<float>(p.rig.baseline / 2)),
        error_scale(static_cast<float>(error_of(p, has_confidence) / (p.rig.focal * p.rig.baseline))),
        head(p.frame == Frame::head) {}

  static double error_of(const Parameters& p, bool has_confidence) {
    return p.disparity_error > 0 ? p.disparity_error : has_confidence ? 1 : 0.5;
  }

  float depth_scale, offset, inverse_focal, first_x, first_y, step, half_baseline, error_scale;
  bool head;
};
inline constexpr float least_confidence = 1.0f / 257, most_confidence = 256.0f / 257;
inline constexpr double largest_error = 1e6;                                   // pixels
inline constexpr float nearest_to_infinity = 1e-6f, largest_disparity = 1e9f;  // w, pixels

template <template <class> class View>
struct InputOf {
  View<const float> disparity;
  View<const std::uint8_t> validity = {};  // if empty, pixels that were not measured also have depth
  View<const float> confidence = {};       // if empty, Δd = e
};
using Input = InputOf<ImageView>;

template <template <class> class View>
struct OutputOf {
  View<float> depth, points, uncertainty;  // each output may be empty
};
using Output = OutputOf<ImageView>;

template <class In, class Out>
void check(const Parameters& p, const In& in, const Out& out) {
  const auto& disparity = in.disparity;
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  check_rig(p.rig);
  if (!(p.disparity_error >= 0 && p.disparity_error <= largest_error))
    refuse(text("a disparity error of ", number_text(p.disparity_error), " is not allowed; it must be from 0 to ",
                number_text(largest_error), " pixels"));
  if (!in.validity.empty() && in.validity.size() != disparity.size())
    refuse(text("a validity map of ", in.validity.width, "×", in.validity.height,
                " does not match the disparity map of ", disparity.width, "×", disparity.height,
                "; both must have the same size"));
  if (!in.confidence.empty() && in.confidence.size() != disparity.size())
    refuse(text("a confidence map of ", in.confidence.width, "×", in.confidence.height,
                " does not match the disparity map of ", disparity.width, "×", disparity.height,
                "; both must have the same size"));
  for (const auto* image : {&out.depth, &out.points, &out.uncertainty})
    if (!image->empty() && (image->size() != disparity.size() || image->channels != (image == &out.points ? 3 : 1)))
      refuse(text("an output of ", image->width, "×", image->height, " with ", image->channels,
                  " channels does not match the disparity map of ", disparity.width, "×", disparity.height,
                  "; points must have 3 channels and the other maps 1, all with the size of the disparity map"));
}

void oracle(const Parameters&, const Input&, const Output&);

void cpu(const Parameters&, const Input&, const Output&, Threads&);

void gpu(const Parameters&, const InputOf<gpu::View>&, const OutputOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::triangulate
