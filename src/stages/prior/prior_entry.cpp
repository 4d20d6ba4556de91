#include "graph/registry.hpp"
#include "stages/prior/prior.hpp"

namespace stereopsis::prior {
namespace {

constexpr auto spread = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::image,
    .name = "prior",
    .title = "spread seeds",
    .parameters = Parameters{},
    .ports = {in("seeds"), if_there("seed_trust"), in("grey8"), out("prior", Element::u32)},
    .functions = on_every_device([](const auto& c) {
      const auto in =
          c.template of<InputOf>(c.template image<const float>("seeds"), c.template image<const float>("seed_trust"),
                                 c.template image<const std::uint8_t>("grey8"));
      spread(c, c.template as<Parameters>(), in, c.context.range, c.template image<std::uint32_t>("prior"));
    }),
    .required_input = required_input,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size()); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size()); }},
    .work = [](const Shape& s) { return Work{.bytes = 9 * s.pixels(), .int_ops = 100 * s.pixels()}; },
    .examples = {{}, {"reach=3", "contrast=40", "similar=255", "tolerance=1"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::prior
