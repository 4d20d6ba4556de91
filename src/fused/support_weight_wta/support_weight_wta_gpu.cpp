// Runs the portable kernels of the stages, one after the other.
#include "device/gpu/device.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

namespace stereopsis::support_weight_wta {
namespace {

template <class T>
gpu::Volume<T> take_volume(gpu::Span& memory, Size size, int disparities) {
  return {memory.take(sizeof(T) * size.width * size.height * disparities).as<T>(), size.width, size.height,
          disparities};
}
template <class T>
gpu::View<T> take_image(gpu::Span& memory, Size size) {
  const auto pixels = memory.take(sizeof(T) * size.width * size.height).as<T>();
  return {pixels.memory, pixels.offset, size.width, size.height, 1, size.width};
}

// The layout of the scratch memory.
struct Memory {
  Memory(const Parameters& p, Size size, int disparities, gpu::Span span) {
    const std::size_t bytes = span.bytes;
    costs = take_volume<std::uint8_t>(span, size, disparities);
    aggregated = take_volume<std::uint16_t>(span, size, disparities);
    if (!std::holds_alternative<asw::Parameters>(p.aggregation))
      other = take_volume<std::uint16_t>(span, size, disparities);
    if (const auto* e = std::get_if<esaw::Parameters>(&p.aggregation)) {
      weights = take_image<std::uint32_t>(span, esaw::weights_size(*e, size));
      if (e->normalise == esaw::Normalise::end) {
        sums = take_image<float>(span, size);
        other_sums = take_image<float>(span, size);
      }
    }
    if (const auto* s = std::get_if<asw_separable::Parameters>(&p.aggregation))
      tap_weights = span.take(asw_separable::gpu_weights_bytes(*s, size));
    used = bytes - span.bytes;
  }

  gpu::Volume<std::uint8_t> costs;
  gpu::Volume<std::uint16_t> aggregated, other;
  gpu::View<std::uint32_t> weights;
  gpu::View<float> sums, other_sums;
  gpu::Span tap_weights;
  std::size_t used;
};

void aggregate(const esaw::Parameters& p, const InputOf<gpu::View>& in, const Memory& m, gpu::Queue& queue) {
  esaw::gpu_weights(p, in.lab_left, m.weights, m.sums, m.other_sums, queue);
  esaw::gpu(p, m.weights, m.costs, m.aggregated, m.other, queue);
}
void aggregate(const asw_separable::Parameters& p, const InputOf<gpu::View>& in, const Memory& m, gpu::Queue& queue) {
  asw_separable::gpu(p, in.lab_left, m.costs, m.other, m.aggregated, m.tap_weights, queue);
}
void aggregate(const asw::Parameters& p, const InputOf<gpu::View>& in, const Memory& m, gpu::Queue& queue) {
  asw::gpu(p, in.lab_left, in.lab_right, in.select.min_disparity, m.costs, m.aggregated, {}, queue);
}

}  // namespace

std::size_t gpu_workspace_bytes(const Parameters& p, Size size, int disparities) {
  constexpr auto unlimited = static_cast<std::size_t>(1) << 62;
  return Memory(p, size, disparities, {0, 0, unlimited}).used;
}

void gpu(const Parameters& p, const InputOf<gpu::View>& in, const wta::OutputOf<gpu::View>& out, gpu::Span workspace,
         gpu::Queue& queue) {
  const Memory memory(p, in.rgb_left.size(), in.disparities, workspace);
  colour_difference::gpu(p.cost, in.rgb_left, in.rgb_right, in.select.min_disparity, memory.costs, queue);
  std::visit([&](const auto& stage) { aggregate(stage, in, memory, queue); }, p.aggregation);
  wta::gpu(p.select, in.select, memory.aggregated, out, queue);
}

}  // namespace stereopsis::support_weight_wta
