#include <limits>

#include "device/gpu/device.hpp"
#include "stages/speckle/speckle.hpp"

namespace stereopsis::speckle {
namespace {

std::size_t label_bytes(Size size) { return sizeof(std::int32_t) * size.width * static_cast<std::size_t>(size.height); }

}  // namespace

std::size_t gpu_scratch_bytes(Size size) {
  if (static_cast<long long>(size.width) * size.height > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCategory::unsupported,
                text("the speckle filter does not support an image of ", size.width, "×", size.height,
                     "; the limit is 2147483647 pixels, so switch the filter off or use smaller images"));
  return 2 * (label_bytes(size) + 256);
}

void gpu(const Parameters& p, gpu::View<float> disparity, gpu::View<std::uint8_t> validity, gpu::Span scratch,
         gpu::Queue& queue) {
  if (p.size <= 1) return;
  const Size size = disparity.size();
  const auto labels = scratch.take(label_bytes(size)).as<std::int32_t>(),
             counts = scratch.take(label_bytes(size)).as<std::int32_t>();
  const float difference = static_cast<float>(p.difference);
  const gpu::Grid pixels = gpu::over(size);
  queue.launch({"speckle", "start", "any"}, pixels, disparity, labels, counts, difference);
  queue.launch({"speckle", "unite", "any"}, pixels, disparity, labels, difference);
  queue.launch({"speckle", "count", "any"}, pixels, disparity, labels, counts, p.size);
  queue.launch({"speckle", "remove_small", "any"}, pixels, disparity, validity, labels, counts, p.size);
}

}  // namespace stereopsis::speckle
