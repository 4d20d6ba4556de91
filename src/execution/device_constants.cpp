#include "execution/device_constants.hpp"

#include "execution/engine.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {
namespace {

std::size_t map_bytes(const Image<std::int32_t>& map) { return 2 * sizeof(std::int32_t) * map.width() * map.height(); }

std::span<const std::int32_t> constants_of(const StageDescriptor& entry, const StageParameters& parameters) {
  const auto* constants = entry.facet<Constants>();
  return constants == nullptr ? std::span<const std::int32_t>() : constants->list(parameters);
}

}  // namespace

std::size_t gpu_bytes_shared(const PipelineData& data, const RectificationMaps* maps) {
  std::size_t bytes = 0;
  const auto add = [&](std::size_t more) { bytes += (more + 255) / 256 * 256; };
  if (maps != nullptr)
    for (const Image<std::int32_t>* map : {&maps->left, &maps->right}) add(map_bytes(*map));
  const auto add_constants = [&](const StageChoice& stage) {
    if (stage) add(constants_of(*stage.entry, stage.parameters).size_bytes());
  };
  for (const SlotOfOne& one : slots_of_one) add_constants(data.*one.stage);
  for (const StageChoice& refinement : data.refinements) add_constants(refinement);
  return bytes;
}

void DeviceConstants::upload(const Program& program, const RectificationMaps* maps, gpu::Device& device,
                             gpu::Queue& queue) {
  const std::size_t bytes = gpu_bytes_shared(program.pipeline(), maps);
  if (bytes == 0) return;
  memory_ = gpu::Buffer(device, bytes);
  gpu::Span rest = memory_.span();
  if (maps != nullptr)
    for (const int view : {0, 1}) {
      const Image<std::int32_t>& map = view == 0 ? maps->left : maps->right;
      const gpu::Array<std::int32_t> place = rest.take(map_bytes(map)).as<std::int32_t>();
      const gpu::View<std::int32_t> there{place.memory, place.offset, map.width(), map.height(), 2, 2 * map.width()};
      whole_maps_[view] = there;
      const Rect& shown = program.shown();
      maps_[view] = AnyView::of(there).crop(shown);
      if (view == 1) map_rows_right_ = AnyView::of(there).crop({shown.x, 0, shown.width, map.height()});
    }
  if (maps != nullptr) upload_maps(*maps, queue);
  for (const ProgramStep& s : program.steps()) {
    const std::span<const std::int32_t> numbers = constants_of(*s.step.entry, s.step.parameters);
    if (numbers.empty() || constants_.contains(numbers.data())) continue;
    const gpu::Span there = constants_[numbers.data()] = rest.take(numbers.size_bytes());
    const int count = static_cast<int>(numbers.size());
    queue.upload<std::int32_t>({numbers.data(), count, 1},
                               {there.memory, there.as<std::int32_t>().offset, count, 1, 1, count});
  }
  queue.wait();
}

void DeviceConstants::upload_maps(const RectificationMaps& maps, gpu::Queue& queue) {
  for (const int view : {0, 1}) queue.upload<std::int32_t>(view == 0 ? maps.left : maps.right, whole_maps_[view]);
  queue.wait();
}

gpu::Span DeviceConstants::constants(const Step& step) const {
  const std::span<const std::int32_t> numbers = constants_of(*step.entry, step.parameters);
  return numbers.empty() ? gpu::Span() : constants_.at(numbers.data());
}

}  // namespace stereopsis
