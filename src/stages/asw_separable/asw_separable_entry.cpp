#include "graph/registry.hpp"
#include "stages/asw_separable/asw_separable.hpp"

namespace stereopsis::asw_separable {
namespace {

// The memory first holds the volume between the passes, followed by the weights.
std::size_t between_bytes(const Shape& s) { return (static_cast<std::size_t>(2 * s.cells()) + 255) / 256 * 256; }

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto lab = c.template image<const std::uint32_t>("lab");
  const auto costs = c.template volume<const std::uint8_t>("costs");
  const auto aggregated = c.template volume<std::uint16_t>("costs");
  constexpr On on = device_of<decltype(c)>;
  if constexpr (on == On::oracle) {
    oracle(p, lab, costs, aggregated);
  } else if constexpr (on == On::cpu) {
    const VolumeView<std::uint16_t> horizontal{reinterpret_cast<std::uint16_t*>(c.scratch().data()), costs.width,
                                               costs.height, costs.disparities,
                                               static_cast<std::ptrdiff_t>(costs.width) * costs.disparities};
    cpu(p, lab, costs, horizontal, aggregated, c.scratch().subspan(between_bytes(c)), c.worker());
  } else {
    gpu::Span memory = c.scratch();
    const gpu::Volume<std::uint16_t> horizontal{memory.take(between_bytes(c)).template as<std::uint16_t>(), costs.width,
                                                costs.height, costs.disparities};
    gpu(p, lab, costs, horizontal, aggregated, memory, c.worker());
  }
};

const StageDescriptor entry{
    .slot = Slot::aggregation,
    .name = "asw_separable",
    .title = "adaptive support weights in two passes",
    .parameters = Parameters{},
    .ports = {in("lab"), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)},
    .functions = on_every_device(run),
    .required_input = required_input,
    .scratch = {
        .cpu =
            [](const Shape& s) {
              return between_bytes(s) + scratch_bytes(s.as<Parameters>(), s.size().width, s.target.threads);
            },
        .gpu = [](const Shape& s) { return between_bytes(s) + gpu_weights_bytes(s.as<Parameters>(), s.size()); }},
    .work = [](const Shape& s) { return Work{.bytes = 4 * s.cells()}; },
    .facets = {Costs{.units = CostUnits{.largest = 255 * 128, .units = 128}}},
    .examples = {{"window=9"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::asw_separable
