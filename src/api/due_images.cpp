#include "api/due_images.hpp"

#include "api/views.hpp"

namespace stereopsis {
namespace {

using enum DueImage::Presence;

AnyView shape_of(Size size, PixelType type, int channels = 1) {
  return {.element = element_of(type), .width = size.width, .height = size.height, .channels = channels};
}
AnyView shape_of(const VolumeShape& volume) { return shape_of(volume.size, volume.type, volume.disparities); }

DueImage due_if(bool planned, const AnyView& shape) { return {planned ? required : rejected, shape}; }

DueImage due_view(const Plan& plan) {
  const Problem& p = plan.problem();
  if (p.volumes.without_images) return {};
  return {plan.needs().images ? required : optional,
          shape_of(p.format ? image_size(p.size, *p.format) : p.size, p.pixel_type,
                   p.format ? channels_of(*p.format) : p.channels)};
}

DueImage due_paths(const Plan& plan, Binding binding) {
  const auto& stripe = plan.problem().stripe;
  if (!stripe) return {};
  return due_if(binding == Binding::paths_above ? stripe->above : stripe->below, shape_of(plan.path_costs()));
}

DueImage due_map(const Plan& plan, Binding binding, PixelType type) {
  const Problem& p = plan.problem();
  if (!p.refine_only) return {};
  const RefinementNeeds needs = plan.needs();
  const bool is_read = binding == Binding::given_right        ? needs.right
                       : binding == Binding::given_confidence ? needs.confidence
                                                              : true;
  return {is_read ? required : optional, shape_of(p.size, type)};
}

}  // namespace

DueImage due_input(const Plan& plan, std::size_t row) {
  const Problem& p = plan.problem();
  switch (input_table[row].kind) {
    case InputKind::picture: return due_view(plan);
    case InputKind::mask:
      return {p.volumes.without_images ? rejected : optional, shape_of(p.size, input_table[row].type)};
    case InputKind::volume:
      return due_if(p.volumes.given.has_value(),
                    shape_of(p.size, p.volumes.given.value_or(PixelType::u8), p.range.count));
    case InputKind::path_costs: return due_paths(plan, input_binding(row));
    case InputKind::prior: {
      const auto use = p.refine_only && !plan.needs().seeds ? std::nullopt : use_of(plan.pipeline().data(), input_table[row].name);
      return {!use                    ? rejected
              : *use == Port::Use::in ? required
                                      : optional,
              shape_of(p.rectified_size(), input_table[row].type)};
    }
    case InputKind::map: return due_map(plan, input_binding(row), input_table[row].type);
  }
  return {};
}

CostState cost_state(std::size_t row) {
  const Binding first =
      output_table[row].kind == OutputKind::probe ? Binding::output_probed_cost : Binding::output_cost;
  return static_cast<CostState>(static_cast<int>(output_binding(row)) - static_cast<int>(first));
}

AnyView output_shape(const Plan& plan, std::size_t row, const ResultSizes& sizes) {
  const Problem& p = plan.problem();
  const Output& output = output_table[row];
  if (!is_requested(p, output)) return {};
  switch (output.kind) {
    case OutputKind::map: return shape_of(sizes.maps, output.type, output.channels);
    case OutputKind::picture: return shape_of(sizes.rectified, p.pixel_type, p.channels);
    case OutputKind::volume: {
      const VolumeShape volume = plan.volume(cost_state(row));
      return shape_of(sizes.volumes.value_or(volume.size), volume.type, volume.disparities);
    }
    case OutputKind::path_costs: return shape_of(plan.path_costs());
    case OutputKind::probe: return shape_of(plan.probed(cost_state(row)));
  }
  return {};
}

ResultSizes result_sizes(const Plan& plan) {
  const Problem& p = plan.problem();
  return {plan.output_size(), p.rectified_size(), p.region ? std::optional(p.region->size()) : std::nullopt};
}

OutputShape output_shape(const Plan& plan, std::size_t row) {
  const AnyView shape = output_shape(plan, row, result_sizes(plan));
  if (shape.empty()) return {};
  return {shape.size(), shape.channels, pixel_type_of_element(shape.element)};
}

}  // namespace stereopsis
