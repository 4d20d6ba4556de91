// The guided filter of a cost volume, and the selection from the filtered costs, as tuned CUDA kernels. Costs are
// computed for several disparities at a time. Filtered costs are stored in planes, one per disparity. The result equals
// the composition of stages/cost_volume, guided, cross_scale and wta, bit for bit. The portable kernels handle all
// cases that are not supported here. See docs/notes/costfilter.md.
#pragma once

#include <span>

#include "device/gpu/device.hpp"
#include "stages/cost/cost.hpp"
#include "stages/guided/guided.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::guided_wta {

inline bool cuda_runs_on(int cuda_capability) { return cuda_capability >= 80; }

// Supported costs are census and colour with gradient. The radius must leave columns for which a warp computes results.
template <class Kind>
constexpr bool cuda_has_kind =
    std::is_same_v<Kind, cost::Census<std::uint32_t>> || std::is_same_v<Kind, cost::Census<std::uint64_t>> ||
    std::is_same_v<Kind, cost::Census<Word128>> || std::is_same_v<Kind, cost::ColourGradient>;
inline bool cuda_serves(const guided::Parameters& p) { return p.radius <= 32; }  // widest_radius

// Filters the rows `rows` of a strip. The words and the guide of the strip must contain the required rows. `filtered`
// holds cuda_plane_bytes(). `scratch` holds cuda_filter_bytes() for the disparities that are filtered at a time; the
// disparities are divided into as few portions as fit.
std::size_t cuda_plane_bytes(Size size, int disparities);
int cuda_disparities_at_a_time(Size strip, int channels, int disparities, std::size_t bytes);
std::size_t cuda_filter_bytes(Size strip, int channels, int at_a_time);
template <class Kind>
void cuda_filter(const guided::Parameters&, const cost::Source<Kind, gpu::View>&, int min_disparity, int disparities,
                 int at_a_time, gpu::View<const std::uint8_t> guide, guided::Rows rows, gpu::Array<float> filtered,
                 gpu::Span scratch, gpu::Queue&);

// The filtered costs of a level. Levels are ordered from the finest to the coarsest.
struct Plane {
  gpu::Array<const float> costs;
  int width, rows, first_row, min_disparity;
  float weight;
};
void cuda_select(const wta::Parameters&, const wta::InputOf<gpu::View>&, std::span<const Plane> levels, int disparities,
                 const wta::OutputOf<gpu::View>&, wta::Reference, gpu::Queue&);

}  // namespace stereopsis::guided_wta
