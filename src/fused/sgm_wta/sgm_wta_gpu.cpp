#include "device/gpu/device.hpp"
#include "fused/sgm_wta/sgm_wta.hpp"

namespace stereopsis::sgm_wta {
namespace {

std::size_t sums_bytes(Size size, int disparities) {
  return sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities;
}

}  // namespace

std::size_t gpu_workspace_bytes(Size size, int disparities) {
  return sums_bytes(size, disparities) + 256 + sgm::gpu_scratch_bytes(size, disparities);
}

template <class Kind>
void gpu(const Parameters& p, const Input<Kind, gpu::View>& in, const wta::OutputOf<gpu::View>& out,
         gpu::Span workspace, gpu::Queue& queue) {
  const Size size = in.source.left.size();
  const auto cells = workspace.take(sums_bytes(size, in.disparities)).template as<std::uint16_t>();
  const gpu::Volume<std::uint16_t> sums{cells, size.width, size.height, in.disparities};
  sgm::gpu(p.sgm, in.source, in.guide, in.select.min_disparity, sums, workspace, queue);
  wta::gpu(p.select, in.select, sums, out, queue);
}

using Out = wta::OutputOf<gpu::View>;
template void gpu(const Parameters&, const Input<cost::Rank, gpu::View>&, const Out&, gpu::Span, gpu::Queue&);
template void gpu(const Parameters&, const Input<cost::Census<std::uint32_t>, gpu::View>&, const Out&, gpu::Span,
                  gpu::Queue&);
template void gpu(const Parameters&, const Input<cost::Census<std::uint64_t>, gpu::View>&, const Out&, gpu::Span,
                  gpu::Queue&);
template void gpu(const Parameters&, const Input<cost::CensusGradient, gpu::View>&, const Out&, gpu::Span, gpu::Queue&);

}  // namespace stereopsis::sgm_wta
