#include "device/gpu/device.hpp"
#include "stages/upsample/upsample.hpp"

namespace stereopsis::upsample {

void gpu(const Parameters& p, const InputOf<gpu::View>& in, const OutputOf<gpu::View>& out, gpu::Queue& queue) {
  queue.launch({"upsample", "upsample_map", "any"}, gpu::over(out.disparity.size()), in.disparity, in.validity,
               in.confidence, in.reduced_grey, in.grey, in.mask, out.disparity, out.validity, out.confidence, p.factor,
               p.centred ? 1 : 0, p.edge);
}

}  // namespace stereopsis::upsample
