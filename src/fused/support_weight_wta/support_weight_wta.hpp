// Truncated colour differences, aggregated with adaptive support weights, and the selection: stages/colour_difference,
// one of stages/esaw, stages/asw_separable and stages/asw, and stages/wta in one run.
//
// On the CPU a thread takes a few disparities at a time through all rows: costs are made a row at a time, and each sum
// keeps the rows that it still needs, so that what is aggregated stays in the cache; the volume is written once and
// read once. Rows lie in memory one disparity after the other, and the pixels of a row fill the vectors.
#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "device/gpu/view.hpp"
#include "stages/asw/asw.hpp"
#include "stages/asw_separable/asw_separable.hpp"
#include "stages/colour_difference/colour_difference.hpp"
#include "stages/esaw/esaw.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::support_weight_wta {

using Aggregation = std::variant<esaw::Parameters, asw_separable::Parameters, asw::Parameters>;

struct Parameters {
  colour_difference::Parameters cost;
  Aggregation aggregation;
  wta::Parameters select;
};

// Words of stages/rgb and stages/lab; only asw reads the right ones of lab, which may be empty otherwise.
template <template <class> class View>
struct InputOf {
  View<const std::uint32_t> rgb_left, rgb_right;
  View<const std::uint32_t> lab_left, lab_right;
  wta::InputOf<View> select;
  int disparities;
};
using Input = InputOf<ImageView>;

// Whether the selection takes whole disparities of the left view from all candidates, which kernels of its own do.
template <template <class> class View>
bool is_plain(const wta::Parameters& p, const wta::InputOf<View>& in, const wta::OutputOf<View>& out) {
  return p.border_candidates && p.subpixel == wta::Subpixel::none && p.uniqueness == 0 && in.mask_left.empty() &&
         in.mask_right.empty() && out.right.empty() && out.confidence.empty();
}

// The oracles of the stages one after the other.
void oracle(const Parameters&, const Input&, const wta::Output&);

// `workspace` holds at least so many bytes and starts at a multiple of 64.
std::size_t workspace_bytes(const Parameters&, Size, int disparities, int threads);
void cpu(const Parameters&, const Input&, const wta::Output&, std::span<std::byte> workspace, Threads&);

std::size_t gpu_workspace_bytes(const Parameters&, Size, int disparities);
void gpu(const Parameters&, const InputOf<gpu::View>&, const wta::OutputOf<gpu::View>&, gpu::Span workspace,
         gpu::Queue&);

}  // namespace stereopsis::support_weight_wta
