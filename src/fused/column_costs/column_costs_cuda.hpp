// Colour differences with truncation, aggregated with adaptive support weights over columns, and converted to 8 bits,
// as tuned CUDA kernels. The kernels compute the stages colour_difference, asw and quantise in one run. The result
// equals that of the portable kernels, bit for bit.
//
// One kernel computes the weights of both views once, as bytes, and stores the weights for the 32 rows around a pixel
// contiguously. A second kernel processes 8 or 16 left pixels and 8 right pixels; each left pixel forms pairs with 8
// disparities. The products of the weights of both views are products of byte matrices on the tensor cores. In each
// product, all taps of the right view except one are masked. A warp walks down the rows. The warp computes the costs of
// pixels once, and keeps the costs of the 36 rows around it in registers. One instruction, dp2a, processes two taps of
// a cell.
#pragma once

#include "device/gpu/device.hpp"
#include "stages/asw/asw.hpp"
#include "stages/colour_difference/colour_difference.hpp"

namespace stereopsis::column_costs {

struct Parameters {
  colour_difference::Parameters cost;
  asw::Parameters aggregation;
};

// The input images, in the words of stages/rgb and stages/lab.
struct Input {
  gpu::View<const std::uint32_t> rgb_left, rgb_right, lab_left, lab_right;
  int min_disparity;
};

bool cuda_serves(const Parameters&, double scale, Size);
std::size_t cuda_workspace_bytes(Size);
void cuda(const Parameters&, const Input&, gpu::Volume<std::uint8_t> costs, gpu::Span workspace, gpu::Queue&);

}  // namespace stereopsis::column_costs
