// Reduction of a grey image by an integer factor f (Syed, "Image Resizing").
//
//   average    the mean of each block of f × f pixels, rounded to nearest, halves up; floats are summed down the
//              columns, then from left to right, and multiplied by float(1 / count)
//   every_nth  the block's first pixel, as in the report: fine texture turns into noise
//
// The reduced image has ⌈w / f⌉ × ⌈h / f⌉ pixels. Blocks at the right and bottom borders contain fewer pixels. A
// reduced pixel is usable if all its source pixels are usable.
//
// A method that works on reduced images searches the multiples of f in the search range. The result of such a method is
// in pixels of the input. Parameters of the refinements are in pixels of the reduced image.
//
// Input: 8-bit, 16-bit or float. Output: the same.
// Required input: the block.
// Cost: one addition per input pixel.
#pragma once

#include "stages/shared/stage.hpp"

namespace stereopsis::reduce {

enum class Sampling { average, every_nth };
constexpr auto names_of(Sampling) {
  return std::array{std::pair{Sampling::average, "average"}, std::pair{Sampling::every_nth, "every_nth"}};
}

struct Parameters {
  static constexpr const char* stage = "reduce";
  int factor = 1;
  Sampling sampling = Sampling::average;
  bool upsample = false;
  int edge = 6;

  static void describe(auto& p, auto&& visit) {
    visit("factor", p.factor, between(1, 16).planned(), "factor by which images are reduced before matching; 1 is off");
    visit("sampling", p.sampling, any, "value of a reduced pixel: the average of its block, or its first pixel");
    visit("upsample", p.upsample, any,
          "upsample the result to the size of the input, along its edges; if false, the result has the reduced size");
    visit("edge", p.edge, between(1, 255).in("grey levels"),
          "intensity difference at which the weight of a neighbour in upsampling is halved");
  }
};

// Throws an Error for parameters that have no effect.
inline void check(const Parameters& p) {
  const auto refuse = [](const char* what, const char* instead) {
    throw Error(ErrorCategory::call, text(what, " has no effect ", instead));
  };
  if (p.factor == 1 && p.sampling != Sampling::average)
    refuse("reduce.sampling = every_nth",
           "with reduce.factor = 1; set reduce.factor above 1, or reduce.sampling to average");
  if (p.factor == 1 && p.upsample)
    refuse("reduce.upsample = true", "with reduce.factor = 1; set reduce.factor above 1, or reduce.upsample to false");
  if (!p.upsample && p.edge != Parameters().edge)
    refuse("reduce.edge", "without upsampling; set reduce.upsample to true, or reduce.edge to its default");
}

inline Size reduced_size(const Parameters& p, Size size) {
  return {(size.width + p.factor - 1) / p.factor, (size.height + p.factor - 1) / p.factor};
}
inline Size output_size(const Parameters& p, Size size) { return p.upsample ? size : reduced_size(p, size); }

// Returns the multiples of the factor in the search range, divided by the factor.
inline DisparityRange reduced_range(const Parameters& p, const DisparityRange& range) {
  const auto floor_div = [](int a, int b) { return a / b - (a % b < 0); };
  const int first = floor_div(range.min + p.factor - 1, p.factor), last = floor_div(range.max(), p.factor);
  if (last < first)
    throw Error(ErrorCategory::call,
                text("no multiple of reduce.factor = ", p.factor, " is in the search range ", range.min, " to ",
                     range.max(), "; use more disparities or a smaller factor"));
  return {first, last - first + 1};
}

// T is uint8_t, uint16_t or float. `mask` may be empty if all pixels are usable, and `usable` if it is not
// requested.
template <class T>
void oracle(const Parameters&, ImageView<const T> grey, ImageView<const std::uint8_t> mask, ImageView<T> reduced,
            ImageView<std::uint8_t> usable);
template <class T>
void cpu(const Parameters&, ImageView<const T> grey, ImageView<const std::uint8_t> mask, ImageView<T> reduced,
         ImageView<std::uint8_t> usable, Threads&);
template <class T>
void gpu(const Parameters&, gpu::View<const T> grey, gpu::View<const std::uint8_t> mask, gpu::View<T> reduced,
         gpu::View<std::uint8_t> usable, gpu::Queue&);

// Converts disparities of the reduced image to pixels of the input, in place.
void scale_oracle(const Parameters&, ImageView<float> disparity);
void scale_cpu(const Parameters&, ImageView<float> disparity, Threads&);
void scale_gpu(const Parameters&, gpu::View<float> disparity, gpu::Queue&);

}  // namespace stereopsis::reduce
