// Seeds of the right view, for methods that compute the costs of this view separately. A pixel of the right image takes
// the seed whose match it is. If it is the match of several seeds, the nearest surface hides the others. The stage is
// our own.
//
// A seed S(x, y) of the left view counts if it is finite and its trust T(x, y) is above 0 (1 without a map of trust).
// For the pixel (u, y) of the right image, x* is the largest x with x − ⌊S(x, y) + ½⌋ = u and min ≤ x − u ≤ max.
//
//   S'(u, y) = −S(x*, y), T'(u, y) = T(x*, y); NaN and 0 if there is no x*
//
// Required input: the columns of the candidates.
// Cost: 3 operations per pixel on a CPU, and per candidate on a GPU.
#pragma once

#include <cmath>

#include "stages/shared/stage.hpp"

namespace stereopsis::mirrored_seeds {

template <template <class> class View>
struct InputOf {
  View<const float> seeds;  // disparities; NaN where unknown
  View<const float> trust;  // may be empty
};
using Input = InputOf<ImageView>;

template <template <class> class View>
struct OutputOf {
  View<float> seeds, trust;
};
using Output = OutputOf<ImageView>;

// Returns the disparity of a seed in whole pixels, or a value outside each range if the seed does not count.
inline int whole_disparity(float seed, float trust) {
  return std::abs(seed) < 32768 && trust > 0 ? static_cast<int>(std::floor(seed + 0.5f)) : 1 << 24;
}

// The range is that of the left view.
void oracle(const Input&, DisparityRange, const Output&);
void cpu(const Input&, DisparityRange, const Output&, Threads&);
void gpu(const InputOf<gpu::View>&, DisparityRange, const OutputOf<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::mirrored_seeds
