// Gives invalid pixels a disparity from valid pixels around them, but never from filled pixels.
//
//   background     the smaller of the nearest valid disparities to the left and to the right in the pixel's row, or the
//                  only one: an occluded pixel belongs to the background. In a row without a valid pixel, the value
//                  that the nearest row with one, above or else below, has in the pixel's column
//   nearest        the nearest valid disparity to the left, to the right, above or below; that order breaks ties
//   second_lowest  the second lowest of the first valid disparities to the left, to the right, above and below (the
//                  only one, if there is one): Hirschmüller's rule for occlusions, applied to every pixel
//   hirschmueller  Hirschmüller 2008, section 2.5.3, with the first valid disparities in 8 directions. An occluded
//                  pixel takes the second lowest (the only one, if there is one), a mismatched pixel the median (the
//                  lower of two middle values). Our reading of "occluded": the pixel's epipolar line does not meet the
//                  right disparity image, that is, no right pixel x_r of the row has |⌊D_right(x_r) + 0.5⌋ − (x − x_r)|
//                  ≤ 1; other pixels are mismatched. "Mismatched pixel areas that are direct neighbours of occluded
//                  pixels are treated as occlusions": a region of invalid pixels, connected over their sides, is
//                  occluded as a whole if it contains an occluded pixel
//   cross          the nearest valid disparity at most `distance` pixels to the left, to the right, above or below;
//                  that order breaks ties (Syed, "Occlusion Filling")
//   box            the median (the lower of two middle values) of the valid disparities in the window × window pixels
//                  around the pixel that lie in the image. Syed's "box occlusion filling" takes "the non zero pixel" of
//                  the window without saying which one. We take the median, because a single wrong pixel does not
//                  affect it
//
// The modes cross and box search a limited area. A pixel without a valid pixel in this area remains invalid. In the
// other modes, a pixel without a valid pixel in its directions gets the value of `background`. The result of these
// modes is dense if there is any valid pixel, and unchanged if there is none. Masked pixels and pixels outside the
// region of interest remain invalid, and separate regions. A filled pixel is valid: its reasons for being invalid are
// cleared, and it is marked as filled. The disparity of a filled pixel is never −0.
//
// Input: float disparity, NaN where invalid; for hirschmueller also the right view's. Output: float disparity, not in
// place. Validity: input and output, in place.
// Required input: the whole image.
// Cost: reads the disparity twice (background) or five times (the other modes), and all other data only in gaps. The
// mode box reads its window once per distinct disparity below the median.
#pragma once

#include "stages/shared/stage.hpp"
#include "stereopsis/stripe_maps.hpp"

namespace stereopsis::fill {

enum class Mode { background, nearest, second_lowest, hirschmueller, cross, box };
constexpr auto names_of(Mode) {
  return std::array{std::pair{Mode::background, "background"},
                    std::pair{Mode::nearest, "nearest"},
                    std::pair{Mode::second_lowest, "second_lowest"},
                    std::pair{Mode::hirschmueller, "hirschmueller"},
                    std::pair{Mode::cross, "cross"},
                    std::pair{Mode::box, "box"}};
}

struct Parameters {
  static constexpr const char* stage = "fill";
  Mode mode = Mode::background;
  int distance = 16;
  int window = 9;

  static void describe(auto& p, auto&& visit) {
    visit("mode", p.mode, any, "source of the disparity of an invalid pixel");
    visit("distance", p.distance, between(1, 65535).in("pixels"),
          "for the mode cross: largest distance to a valid pixel");
    visit("window", p.window, odd(3, 101).in("pixels"), "for the mode box: side of the square around the pixel");
  }
};

// Throws an Error if a parameter is set that the selected mode does not read.
inline void check(const Parameters& p) {
  const Parameters plain;
  const auto refuse = [&](const char* name, int value, int usual, const char* mode) {
    throw Error(ErrorCategory::call, text("fill.", name, " = ", value, " has no effect unless fill.mode = ", mode,
                                          "; set fill.mode to ", mode, ", or fill.", name, " to ", usual));
  };
  if (p.distance != plain.distance && p.mode != Mode::cross) refuse("distance", p.distance, plain.distance, "cross");
  if (p.window != plain.window && p.mode != Mode::box) refuse("window", p.window, plain.window, "box");
}

// `right` is read only in the mode hirschmueller, and may be empty in other modes.
template <template <class> class View>
struct InputOf {
  View<const float> disparity;
  View<const float> right;
};
using Input = InputOf<ImageView>;

template <template <class> class View>
void check_images(const Parameters& p, const InputOf<View>& input, const View<float>& filled) {
  if (same_start(input.disparity, filled))
    throw Error(ErrorCategory::call, "an image cannot be filled in place; pass a separate output image");
  if (p.mode == Mode::hirschmueller && input.right.size() != input.disparity.size())
    throw Error(ErrorCategory::call,
                text("fill.mode = hirschmueller has a right disparity map of ", input.right.width, "×",
                     input.right.height, " for a left disparity map of ", input.disparity.width, "×",
                     input.disparity.height, "; pass maps of the same size, or use another mode"));
}

// Returns whether the rows of a stripe contain every valid pixel for which the stripe's pixels search, in the modes that
// search columns at any distance. A fill by second_lowest may also read two rows, just above and below, with the nearest
// valid disparity of each column farther away; these two rows do not belong to `maps`.
bool rows_suffice(const Parameters&, const StripeMaps& maps);

void oracle(const Parameters&, const Input&, ImageView<float> filled, ImageView<std::uint8_t> validity);

// Returns the number of bytes that cpu() needs in `scratch`, which must be aligned for floats.
std::size_t scratch_bytes(const Parameters&, Size size);

void cpu(const Parameters&, const Input&, ImageView<float> filled, ImageView<std::uint8_t> validity,
         std::span<std::byte> scratch, Threads&);

// `scratch` holds at least gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(const Parameters&, Size size);
void gpu(const Parameters&, const InputOf<gpu::View>&, gpu::View<float> filled, gpu::View<std::uint8_t> validity,
         gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::fill
