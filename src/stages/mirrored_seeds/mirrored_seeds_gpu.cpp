#include "device/gpu/device.hpp"
#include "stages/mirrored_seeds/mirrored_seeds.hpp"

namespace stereopsis::mirrored_seeds {

void gpu(const InputOf<gpu::View>& in, DisparityRange range, const OutputOf<gpu::View>& out, gpu::Queue& queue) {
  queue.launch({"mirrored_seeds", "mirror", "any"}, gpu::over(out.seeds.size()), in.seeds, in.trust, out.seeds,
               out.trust, range.min, range.max());
}

}  // namespace stereopsis::mirrored_seeds
