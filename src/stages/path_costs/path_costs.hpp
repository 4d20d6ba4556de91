// The path costs of semi-global matching at the end of a stripe of rows (Hirschmüller 2008; Banz et al. 2011, equation
// 4). The path costs are L_r in the last row of the stripe for downward paths, or in its first row for upward paths,
// minus the minimum of each pixel. These path costs are the boundary state of the stripe, which is all that the next
// stripe needs. An image can therefore be matched in stripes, on different machines, with the same bits as the whole
// image.
//
// Input: features of both views (stages/cost) or a volume of 8-bit costs in the stripe's rows; for the adaptive P2 also the left view in 8-bit
// grey, including the row that the paths come from; the path costs in that row, or none at the image border. Output:
// images as described at sgm::EdgesOf: a row for each kind of path, a channel for each disparity, 16 bits. All devices
// return the same bits.
// Cost: per cell and kind of path (1 for 4 paths, 3 for 8) the 11 instructions of equation 4.
#pragma once

#include <functional>
#include <span>

#include "graph/word_cost.hpp"
#include "stages/sgm/sgm.hpp"

namespace stereopsis {
struct Scope;
class Builder;
}  // namespace stereopsis

namespace stereopsis::path_costs {

struct Parameters {
  sgm::Parameters sgm;
  bool up = false;
  bool from_volume = false;
  WordCost cost = {};  // the matching cost of two words; set when the step is planned
};

template <class Kind, template <class> class View = ImageView>
struct Input {
  cost::Source<Kind, View> source;
  View<const std::uint8_t> guide;  // guide image; empty unless P2 is adaptive
  View<const std::uint16_t> before;
  int min_disparity = 0;
  int disparities = 1;
};

// Calls f for the directions of the downward paths, or of the upward paths.
template <class F>
void for_each_direction(const Parameters& p, F&& f) {
  for (int i = 0; i < p.sgm.paths; ++i)
    if (const sgm::Direction r = sgm::directions[i]; r.dy == (p.up ? -1 : 1)) f(r);
}

template <class Kind>
void oracle(const Parameters&, const Input<Kind>&, ImageView<std::uint16_t> behind);
// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
template <class Kind>
std::size_t scratch_bytes(const Parameters&, const Kind&, Size, int disparities, int threads);
template <class Kind>
void cpu(const Parameters&, const Input<Kind>&, ImageView<std::uint16_t> behind, std::span<std::byte> scratch,
         Threads&);
// `scratch` holds at least sgm::gpu_scratch_bytes() for the stripe.
template <class Kind>
void gpu(const Parameters&, const Input<Kind, gpu::View>&, gpu::View<std::uint16_t> behind, gpu::Span scratch,
         gpu::Queue&);

// The functions of PathBoundary (graph/facets.hpp).
int follow_stripe(Builder&, Scope&, bool up, bool from_volume);
void match_stripes(Builder&, const Scope&, const std::function<void(Scope&)>& add_costs,
                   const std::function<void(Scope&)>& select);

}  // namespace stereopsis::path_costs
