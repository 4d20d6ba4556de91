#include "graph/facets.hpp"
#include "graph/registry.hpp"
#include "stages/seeds/seeds.hpp"

namespace stereopsis::seeds {
namespace {

constexpr auto add = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::seeds,
    .name = "seeds",
    .title = "seeds",
    .parameters = Parameters{},
    .ports = {in("prior"), if_there("further_prior"), change_volume("costs", {Element::u8})},
    .functions = on_every_device([](const auto& c) {
      add(c, c.template as<Parameters>(), c.template image<const std::uint32_t>("prior"),
          c.template image<const std::uint32_t>("further_prior"), c.template volume<std::uint8_t>("costs"));
    }),
    .work = [](const Shape& s) { return Work{.bytes = 2 * s.cells() + 4 * s.pixels(), .int_ops = 5 * s.cells()}; },
    .facets = {AddedCosts{.largest = [](const Parameters& p, double before) { return largest(p, before); },
                          .checks = [](const Parameters& p) { return p.check; }}},
    .examples = {{}, {"weight=255"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::seeds
