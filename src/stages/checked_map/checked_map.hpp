// Checks a disparity map that a method from outside the library computed, such as a network. Such a method may return any
// values, but a pixel is measured only if its disparity is a candidate of the search range and points into the other view.
// A disparity that points outside of it was not matched, but inferred from other pixels: it counts as filled.
//
// D is the map of a view of width w, C its confidence, M the mask of the view, and [first, last] the search range. The
// other view's column of a pixel is u = x − D(x, y) from the left view, and u = x + D(x, y) from the right view. Values
// between two candidates, and half a pixel beyond the outermost ones, are allowed, as subpixel refinement makes them.
//
//   V(x, y)  = masked (16)        if M(x, y) = 0, else
//              no_candidate (1)   if D(x, y) is NaN or infinite, or not in [first − ½, last + ½], else
//              filled (64)        if u is not in [−½, w − ½], else 0
//   D'(x, y) = NaN if V(x, y) is masked or no_candidate, else D(x, y)
//   C'(x, y) = 0 if V(x, y) ≠ 0 or C(x, y) is NaN, else min(max(C(x, y), 0), 1)
//
// Input and output, in place: float disparity and, if there is one, float confidence. Output: validity. Input: the mask;
// empty if all pixels are usable.
// Cost: 1 addition and 6 comparisons per pixel; reads and writes each map once.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::checked_map {

struct Parameters {
  int first = 0, last = 0;  // lowest and highest disparity
  bool from_right = false;  // the map is that of the right view
};

template <template <class> class View>
struct Maps {
  View<float> disparity;
  View<std::uint8_t> validity;
  View<float> confidence;
  View<const std::uint8_t> mask;
};

void oracle(const Parameters&, const Maps<ImageView>&);
void cpu(const Parameters&, const Maps<ImageView>&, Threads&);
void gpu(const Parameters&, const Maps<gpu::View>&, gpu::Queue&);

}  // namespace stereopsis::checked_map
