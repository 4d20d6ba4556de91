// Semi-global matching (Hirschmüller 2008; Banz et al. 2011, equations 4 and 5):
//
//   L_r(p, d) = C(p, d) + min[ L_r(p−r, d), L_r(p−r, d±1) + P1, min_i L_r(p−r, i) + P2 ] − min_i L_r(p−r, i)
//   S(p, d)   = Σ_r L_r(p, d)
//
// over 8 directions r, or the 4 along rows and columns. A path starts with L_r = C at the image border. P2 is constant
// (gradient = 0), or is inversely proportional to the intensity difference along the path, within limits (Hirschmüller
// 2008, section 2.2): P2 = max(p1, p2_min, min(p2, ⌊p2 · gradient / |ΔI|⌋)), where ΔI is in 8-bit grey levels.
//
// Input: a volume of 8-bit or 16-bit costs, which are clamped to a largest cost, or features of both views
// (stages/cost); for the adaptive P2 also the left view in 8-bit grey. Output: the sums S in 16 bits. All values are
// integers, so that all devices return the same bits.
// Required input: the whole image, or a stripe of its rows and the path costs at the borders of the stripe.
// Cost: per cell (pixel and disparity) and path, 3 minima, 2 additions, 1 subtraction, 1 running minimum. The minimum
// memory traffic is one read of the costs and one write of the sums, 3 or 4 bytes per cell. On an H200, this takes 0.1
// ms for 1280×960×128, while the operations take 0.43 ms.
#pragma once

#include <array>

#include "stages/cost/cost.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::sgm {

struct Parameters {
  static constexpr const char* stage = "sgm";
  int paths = 8;
  int p1 = 12;
  int p2 = 60;
  int gradient = 0;
  int p2_min = 0;
  int largest_cost = 255;  // limit of 8-bit costs; set when the step is planned

  bool adaptive() const { return gradient > 0; }
  int lowest_p2() const { return p1 > p2_min ? p1 : p2_min; }

  static void describe(auto& p, auto&& visit) {
    visit("paths", p.paths, either(4, 8), "number of path directions");
    visit("p1", p.p1, between(0, 4095).in("units of the matching cost"), "penalty for a disparity change of one pixel");
    visit("p2", p.p2, between(0, 4095).in("units of the matching cost").planned(),
          "penalty for a larger disparity change");
    visit("gradient", p.gradient, between(0, 255),
          "grey difference along the path beyond which P2 falls in inverse proportion; 0: P2 is constant");
    visit("p2_min", p.p2_min, between(0, 4095),
          "least value of P2 at strong gradients; 0: P1; must be 0 if P2 is constant");
  }
};

// Throws an Error for combinations that the ranges alone do not exclude: P1 > P2, P1 > p2_min > 0, p2_min > P2, p2_min
// > 0 with a constant P2, and sums that overflow 16 bits.
void check(const Parameters&, int max_cost);
// Returns the largest cost that check() allows.
inline int most_cost(const Parameters& p) { return 65534 / p.paths - p.p2; }

// P2 for every absolute grey difference between a pixel and its predecessor on the path.
using Penalties = std::array<std::uint16_t, 256>;
Penalties penalties(const Parameters&);

// The directions r = (dx, dy). The first four are the directions of the 4 paths.
struct Direction {
  int dx, dy;
};
inline constexpr std::array<Direction, 8> directions = {
    {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}};

// The boundary state of a stripe of rows: the path costs in the row above and in the row below the stripe, minus the
// minimum of each pixel. The path costs are 16-bit images with a channel for each disparity. The rows of these images
// belong to the vertical paths and, with 8 paths, to the paths to the right and to the left. An empty image means that
// the stripe ends at the image border. The row of the guide beyond the stripe is also read.
template <template <class> class View>
struct EdgesOf {
  View<const std::uint16_t> above = {}, below = {};

  // Returns the image with the costs from which the paths of a direction continue.
  const View<const std::uint16_t>& before(Direction r) const { return r.dy > 0 ? above : below; }
};
using Edges = EdgesOf<ImageView>;
// Returns the row of such an image that belongs to a direction.
constexpr int kind_of(Direction r) { return (r.dx + 3) % 3; }
constexpr int kinds_of(const Parameters& p) { return p.paths == 8 ? 3 : 1; }

// Matches from a volume of uint8_t or uint16_t. `guide` is read only for the adaptive P2, and may be empty otherwise.
template <class T>
void oracle(const Parameters&, VolumeView<const T> costs, int max_cost, ImageView<const std::uint8_t> guide,
            const Edges&, VolumeView<std::uint16_t> sums);
// The function may read 64 bytes past the costs. `scratch` holds at least scratch_bytes() and starts at a multiple of
// 64 bytes.
template <class T>
std::size_t scratch_bytes(const Parameters&, int max_cost, Size, int disparities, int threads);
template <class T>
void cpu(const Parameters&, VolumeView<const T> costs, int max_cost, ImageView<const std::uint8_t> guide, const Edges&,
         VolumeView<std::uint16_t> sums, std::span<std::byte> scratch, Threads&);
// `scratch` holds at least gpu_scratch_bytes(), and starts at a multiple of 16 bytes. The costs may have more
// disparities than the sums, which are ignored then.
std::size_t gpu_scratch_bytes(const Parameters&, int cost_bytes, Size, int disparities);
template <class T>
void gpu(const Parameters&, gpu::Volume<const T> costs, int max_cost, gpu::View<const std::uint8_t> guide,
         const EdgesOf<gpu::View>&, gpu::Volume<std::uint16_t> sums, gpu::Span scratch, gpu::Queue&);

// Matches from features.
template <class Kind>
void oracle(const Parameters&, const cost::Source<Kind>&, ImageView<const std::uint8_t> guide, int min_disparity,
            VolumeView<std::uint16_t> sums);

// The paths of one direction through a stripe of image rows. `sums` has the rows of the stripe. If it has no cells,
// sums are not computed. `before` has the path costs in the row before the stripe, width × disparities. `before` is
// empty at the border of the image. `behind`, if not empty, receives the path costs in the last row of the stripe.
// `scratch` holds at least gpu_scratch_bytes() for the stripe's size.
struct GpuStripe {
  int first_row = 0;
  gpu::Volume<std::uint16_t> sums;
  gpu::Array<const std::uint16_t> before;
  gpu::Array<std::uint16_t> behind;
};
std::size_t gpu_scratch_bytes(Size stripe, int disparities);
template <class Kind>
void gpu(const Parameters&, Direction, const cost::Source<Kind, gpu::View>&, gpu::View<const std::uint8_t> guide,
         int min_disparity, const GpuStripe&, bool add, gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::sgm
