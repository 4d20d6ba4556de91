// Registers the samples, the cost, and the marking of flat windows after the selection.
#include "graph/registry.hpp"
#include "stages/zncc/zncc.hpp"

namespace stereopsis::zncc {
namespace {

constexpr auto to_samples = STEREOPSIS_DISPATCH(samples_oracle, samples_cpu, samples_gpu);

const StageDescriptor samples{.slot = Slot::image,
                              .name = "samples",
                              .title = "samples",
                              .ports = {in("grey"), out("samples", Element::s16)},
                              .functions = on_every_device([](const auto& c) {
                                c.with_pixels([&]<class T>() {
                                  to_samples(c, c.template image<const T>("grey"), c.context.bit_depth, c("samples"));
                                });
                              })};

// Sums of 8-bit samples fit in 32 bits.
int sample_bits(const Shape& s) { return s.context.element == Element::u8 ? 8 : 16; }

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto [left, right] = c.template images<const std::int16_t>("samples");
  const auto costs = c.template volume<std::uint16_t>("costs");
  const int min = c.context.range.min;
  if constexpr (device_of<decltype(c)> == On::oracle)
    oracle(p, left, right, min, costs);
  else if constexpr (device_of<decltype(c)> == On::cpu)
    cpu(p, left, right, min, costs, c.scratch(), c.worker());
  else
    gpu(p, left, right, sample_bits(c), min, costs, c.scratch(), c.worker());
};

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "zncc",
    .title = "correlation",
    .parameters = Parameters{},
    .ports = {in("samples", both), out_volume("costs", Element::u16)},
    .functions = on_every_device(run),
    .required_input = [](const Parameters& p, const Rect& output) { return grow(output, p.radius(), p.radius()); },
    .scratch = {.cpu =
                    [](const Shape& s) {
                      return scratch_bytes(s.as<Parameters>(), s.size().width, s.disparities(), s.target.threads);
                    },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); }},
    .work = [](const Shape& s) { return Work{.bytes = s.operand("costs").bytes()}; },
    .facets = {Costs{.units = CostUnits{.largest = 32768}, .after_selection = "zncc_flat"}, BothCandidates{}}};

constexpr auto mark_flat = STEREOPSIS_DISPATCH(mark_flat_oracle, mark_flat_cpu, mark_flat_gpu);

const StageDescriptor flat{.slot = Slot::internal,
                           .name = "zncc_flat",
                           .title = "flat windows",
                           .parameters = Parameters{},
                           .ports = {in("samples"), change("validity")},
                           .functions = on_every_device([](const auto& c) {
                             mark_flat(c, c.template as<Parameters>(), c("samples"), c("validity"));
                           }),
                           .work = [](const Shape& s) { return Work{.bytes = s.operand("validity").bytes()}; }};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(samples);
  registry.add(entry);
  registry.add(flat);
}

}  // namespace stereopsis::zncc
