// The stage itself runs no function, because the caller's volume is used instead of computed costs.
#include "graph/registry.hpp"
#include "stages/volume/volume.hpp"

namespace stereopsis::volume {
namespace {

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "volume",
    .title = "cost volume",
    .parameters = Parameters{},
    .facets = {Costs{.units = [](const Parameters& p) { return CostUnits{.largest = p.largest}; },
                     .after_selection = "volume_holes"},
               GivenCosts{.before_stages = "volume_candidates"}}};

const StageDescriptor candidates{
    .slot = Slot::internal,
    .name = "volume_candidates",
    .title = "candidates of the cost volume",
    .ports = {in_volume("costs", {Element::u16, Element::f32}), if_there("mask"), out("candidates", Element::u8)},
    .functions = on_every_device([](const auto& c) {
      with_element<std::uint16_t, float>(c.first().element, [&]<class T>() {
        STEREOPSIS_DISPATCH(candidates_oracle<T>, candidates_cpu<T>, candidates_gpu<T>)
        (c, c.template volume<const T>("costs"), c("mask"), c("candidates"));
      });
    }),
    .work = [](const Shape& s) {
      return Work{.bytes = (1 + static_cast<double>(bytes_of(s.first().element))) * s.pixels()};
    }};

constexpr auto mark_holes = STEREOPSIS_DISPATCH(holes_oracle, holes_cpu, holes_gpu);

const StageDescriptor holes{
    .slot = Slot::internal,
    .name = "volume_holes",
    .title = "candidates of the cost volume",
    .ports = {if_there("mask"), change("validity")},
    .functions = on_every_device([](const auto& c) { mark_holes(c, c("mask"), c("validity")); })};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(candidates);
  registry.add(holes);
}

}  // namespace stereopsis::volume
