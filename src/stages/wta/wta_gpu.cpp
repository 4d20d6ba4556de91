#include "device/gpu/device.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::wta {
namespace {

template <class T>
void select(const Parameters& p, const InputOf<gpu::View>& in, gpu::Volume<const T> costs,
            const OutputOf<gpu::View>& out, gpu::Queue& queue, Reference reference) {
  // Numbers per group, with the same values as in wta.cl.
  constexpr int items = 256, left_pixels = items / 4, right_pixels = 32;
  const auto over = [&](int pixels) { return gpu::Grid{(costs.width + pixels - 1) / pixels, costs.height, items, 1}; };
  const char* const instance = gpu::instance_of<T>();
  queue.launch({"wta", "left", instance}, over(left_pixels), costs.cells, costs.disparities, in.min_disparity,
               in.mask_left, in.mask_right, out.disparity, out.validity, out.confidence, static_cast<int>(p.subpixel),
               p.uniqueness, p.border_candidates ? 1 : 0, reference == Reference::right ? 1 : 0);
  if (!out.right.empty())
    queue.launch({"wta", "right", instance}, over(right_pixels), costs.cells, costs.disparities, in.min_disparity,
                 in.mask_left, in.mask_right, out.right);
}

}  // namespace

void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::Volume<const std::uint8_t> costs,
         const OutputOf<gpu::View>& out, gpu::Queue& queue, Reference reference) {
  select(p, in, costs, out, queue, reference);
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::Volume<const std::uint16_t> costs,
         const OutputOf<gpu::View>& out, gpu::Queue& queue, Reference reference) {
  select(p, in, costs, out, queue, reference);
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, gpu::Volume<const float> costs,
         const OutputOf<gpu::View>& out, gpu::Queue& queue, Reference reference) {
  select(p, in, costs, out, queue, reference);
}

}  // namespace stereopsis::wta
