#include "stages/cross_scale/cross_scale_entry.hpp"

namespace stereopsis::cross_scale {
namespace {

constexpr auto halve_image = STEREOPSIS_DISPATCH(oracle_halve, cpu_halve, gpu_halve);
constexpr auto combine = STEREOPSIS_DISPATCH(oracle_combine, cpu_combine, gpu_combine);

Ports no_ports(const StageParameters&, const PairInfo&) { return {}; }

const StageDescriptor entry{.slot = Slot::levels,
                            .name = "cross_scale",
                            .title = "cross-scale aggregation",
                            .parameters = Parameters{},
                            .ports = no_ports};

const StageDescriptor halved{.slot = Slot::internal,
                             .name = "halve",
                             .title = "half-size level",
                             .ports =
                                 [](const StageParameters&, const PairInfo&) {
                                   return Ports{in("image8"), out("image8", Element::u8)};
                                 },
                             .functions = on_every_device([](const auto& c) {
                               halve_image(c, c.template image<const std::uint8_t>(0),
                                           c.template image<std::uint8_t>(1));
                             }),
                             .output_size = [](const StageParameters&, Size size) { return half(size); }};

const StageDescriptor coupling{
    .slot = Slot::internal,
    .name = "couple",
    .title = "coupling of levels",
    // For checks: disparities −3 to 20, and half as many.
    .parameters = Coupling{{.s = 1, .min_disparity = -3, .coarse_min_disparity = -1}, 1, 0.5f},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in_volume("coarse_costs", {Element::f32}),
                       {"costs", Port::Use::change, Element::f32, Side::reference, true}};
        },
    .functions = on_every_device([](const auto& c) {
      const auto& p = c.template as<Coupling>();
      combine(c, p.level, p.weight, p.coarse_weight, c.template volume<const float>(0), c.template volume<float>(1));
    }),
    .work = [](const Shape& s) { return Work{.bytes = 8 * s.cells(1)}; }};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(halved);
  registry.add(coupling);
}

}  // namespace stereopsis::cross_scale
