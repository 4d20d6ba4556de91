// Colour differences with truncation, aggregation with adaptive support weights, and selection in one run:
// stages/colour_difference; one of stages/esaw, stages/asw_separable and stages/asw; and stages/wta.
//
// Each CPU thread processes several disparities at a time, over all rows. Costs are computed row by row, and each sum
// keeps only the rows that it still needs, so that these data stay in the cache. The volume is written once and read
// once. A row is stored disparity by disparity, so that the pixels of a row fill the vectors.
#pragma once

#include <cstddef>
#include <span>
#include <variant>

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

// Input images in the words of stages/rgb and stages/lab. Only asw reads the L*a*b* words of the right view, which may
// be empty otherwise.
struct Input {
  ImageView<const std::uint32_t> rgb_left, rgb_right;
  ImageView<const std::uint32_t> lab_left, lab_right;
  wta::Input select;
  int disparities;
};

// Returns whether the selection is plain: integer disparities of the left view, from all candidates. Kernels for
// special cases support only a plain selection.
inline bool is_plain(const wta::Parameters& p, const wta::Input& in, const wta::Output& out) {
  return p.border_candidates && p.subpixel == wta::Subpixel::none && p.uniqueness == 0 && in.mask_left.empty() &&
         in.mask_right.empty() && out.right.empty() && out.confidence.empty();
}

// Runs the oracles of the stages one after the other.
void oracle(const Parameters&, const Input&, const wta::Output&);

// `workspace` has at least workspace_bytes(), and starts at a multiple of 64 bytes.
std::size_t workspace_bytes(const Parameters&, Size, int disparities, int threads);
void cpu(const Parameters&, const Input&, const wta::Output&, std::span<std::byte> workspace, Threads&);

}  // namespace stereopsis::support_weight_wta
