// Truncated colour differences, aggregated with adaptive support weights over columns, as integer intensities of 8
// bits: stages/colour_difference, stages/asw and stages/quantise in one run of tuned CUDA kernels. The result equals
// that of the portable kernels, bit for bit; docs/notes/table-3.md has the measurements.
//
// One kernel computes the weights of both views once, one byte each, and stores those of the 32 rows around a pixel
// contiguously. Another processes 8 or 16 left pixels and 8 right ones, whose pairs have 8 disparities each. The
// products of their weights are products of byte matrices on the tensor cores, in which all taps of the right view but
// one are masked. A warp walks down the rows and keeps the costs of the 36 rows around it in registers, computed from
// the pixels once. Two taps of a cell are one instruction, dp2a.
#pragma once

#include "device/gpu/device.hpp"
#include "stages/asw/asw.hpp"
#include "stages/colour_difference/colour_difference.hpp"

namespace stereopsis::column_costs {

struct Parameters {
  colour_difference::Parameters cost;
  asw::Parameters aggregation;
};

// Words of stages/rgb and stages/lab.
struct Input {
  gpu::View<const std::uint32_t> rgb_left, rgb_right, lab_left, lab_right;
  int min_disparity;
};

bool cuda_serves(const Parameters&, double scale, Size);
std::size_t cuda_workspace_bytes(Size);
void cuda(const Parameters&, const Input&, gpu::Volume<std::uint8_t> costs, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::column_costs
