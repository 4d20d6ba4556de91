#include "graph/registry.hpp"
#include "stages/learned_confidence/learned_confidence.hpp"

namespace stereopsis::learned_confidence {
namespace {

constexpr auto rate = [](const auto& c) {
  const auto in = c.template of<InputOf>(c("disparity"), c("validity"), c("grey8"), c("grey8", Side::other));
  const auto out = c.template of<OutputOf>(c("confidence"), c("disparity"), c("validity"));
  const Parameters& parameters = c.template as<Parameters>();
  if constexpr (device_of<decltype(c)> == On::oracle)
    oracle(parameters, in, out);
  else if constexpr (device_of<decltype(c)> == On::cpu)
    cpu(parameters, in, out, c.scratch(), c.worker());
  else
    gpu(parameters, in, c.constants().template as<const std::int32_t>(), out, c.scratch(), c.worker());
};

const StageDescriptor entry{
    .slot = Slot::confidence,
    .name = "learned_confidence",
    .title = "learned confidence",
    .parameters = Parameters{},
    .ports =
        [](const Parameters& p, const PairInfo&) {
          Ports ports{in("disparity"), in("validity"), in("grey8", both), out("confidence", Element::f32)};
          if (p.decide) ports.insert(ports.end(), {out("disparity", Element::f32), out("validity", Element::u8)});
          return ports;
        },
    .functions = on_every_device(rate),
    .required_input = required_input,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.as<Parameters>(), s.size(), s.target.threads); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); }},
    .work = [](const Shape& s) { return Work{.bytes = 60 * s.pixels(), .int_ops = (7100 / 4 + 500) * s.pixels()}; },
    .facets = {Support{.spans_range = true, .block = block},
               Constants{.list = [](const Parameters& p) { return gpu_words(p.decide); }}},
    .examples = {{}, {"decide=true"}, {"decide=true", "nearer=0", "farther=0"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::learned_confidence
