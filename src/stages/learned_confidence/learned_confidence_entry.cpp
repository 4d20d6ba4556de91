#include "graph/registry.hpp"
#include "stages/learned_confidence/learned_confidence.hpp"

namespace stereopsis::learned_confidence {
namespace {

constexpr auto rate = [](const auto& c) {
  const auto in = c.template of<InputOf>(c("disparity"), c("validity"), c("grey8"), c("grey8", Side::other));
  if constexpr (device_of<decltype(c)> == On::oracle)
    oracle(in, c("confidence"));
  else if constexpr (device_of<decltype(c)> == On::cpu)
    cpu(in, c("confidence"), c.scratch(), c.worker());
  else
    gpu(in, c.constants().template as<const std::int32_t>(), c("confidence"), c.scratch(), c.worker());
};

const StageDescriptor entry{
    .slot = Slot::confidence,
    .name = "learned_confidence",
    .title = "learned confidence",
    .parameters = Parameters{},
    .ports =
        [](const Parameters&, const PairInfo&) {
          return Ports{in("disparity"), in("validity"), in("grey8", both), out("confidence", Element::f32)};
        },
    .functions = on_every_device(rate),
    .required_input = required_input,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size(), s.target.threads); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size()); }},
    .work = [](const Shape& s) { return Work{.bytes = 60 * s.pixels(), .int_ops = (7100 / 4 + 500) * s.pixels()}; },
    .facets = {Support{.spans_range = true, .block = block},
               Constants{.list = [](const Parameters&) { return gpu_words(); }}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::learned_confidence
