// Superpixels by simple linear iterative clustering (Achanta, Shaji, Smith, Lucchi, Fua and Süsstrunk, SLIC superpixels
// compared to state-of-the-art superpixel methods, PAMI 2012). The form for GPUs is that of Ren and Reid (gSLIC, 2011),
// in which pixels search for their centre instead of centres for their pixels. There is one segment per cell of S×S
// pixels. The centre c of a segment has a position and a colour.
//
//   begin      c is the middle pixel of the cell: S / 2 to the right of and below its first one, or half of the part in
//              the image
//   assign     a pixel p belongs to the centre, among those of the 3×3 cells around its own, with the lowest
//              S² ‖I(p) − I(c)‖² + m² ‖p − c‖²      the paper's D², times S²; the first in row order wins ties
//   move       c becomes the mean of its pixels' positions and colours, rounded: ⌊(Σ + ⌊n / 2⌋) / n⌋; without pixels it
//              stays
//
// The steps are assign, move, assign, …, with `iterations` times the step assign. All numbers are integers, sums do not
// depend on their order, and no pixel waits for another. Every device therefore finds the same segments. Colours are
// the red, green and blue of stages/rgb. Conversion to L*a*b* would take as much time as an iteration. Segments may be
// disconnected. The last pass of the paper, which assigns small parts to their neighbours, is omitted, because sums
// over segments do not need connected segments.
//
// Input: words of stages/rgb. Output: words of segments.hpp.
// Required input: the whole image, at most 2²⁵ blocks of 8×8.
// Cost: 9 distances of 11 operations per pixel and iteration.
#pragma once


#include "stages/shared/segments.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::slic {

inline constexpr int largest_cell = 64;

struct Parameters {
  static constexpr const char* stage = "slic";
  int cell = 32;
  int compactness = 10;
  int iterations = 5;

  static void describe(auto& p, auto&& visit) {
    // Squared distances fit in 31 bits: 3 · 255² · 64² + 2 · 192² · 100².
    visit("cell", p.cell, between(block, largest_cell).in("pixels").planned(),
          "width and height of the cells, each of which has one segment");
    visit("compactness", p.compactness, between(0, 100).in("8-bit intensities"),
          "colour difference that counts as much as the distance of one cell");
    visit("iterations", p.iterations, between(1, 100).planned(),
          "number of iterations of assigning pixels to segments");
  }
};

// Throws an Error for images with more segments than a word can number.
inline void check(Size size) {
  if (block_count(size) > std::int64_t{1} << number_bits)
    throw Error(ErrorCategory::unsupported, text("slic does not support an image of ", size.width, "×", size.height,
                                                 ": it has ", block_count(size), " blocks of 8×8 pixels; the limit is ",
                                                 1 << number_bits, "; use smaller images, or a region of interest"));
}

void oracle(const Parameters&, ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> segments);
// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
std::size_t scratch_bytes(const Parameters&, Size size, int threads);
void cpu(const Parameters&, ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> segments,
         std::span<std::byte> scratch, Threads&);
std::size_t gpu_scratch_bytes(const Parameters&, Size size);
void gpu(const Parameters&, gpu::View<const std::uint32_t> rgb, gpu::View<std::uint32_t> segments, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::slic
