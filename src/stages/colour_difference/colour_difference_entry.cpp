#include "graph/registry.hpp"
#include "stages/colour_difference/colour_difference.hpp"

namespace stereopsis::colour_difference {
namespace {

constexpr auto compute = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto left = c.template image<const std::uint32_t>("rgb"),
             right = c.template image<const std::uint32_t>("rgb", Side::other);
  const auto costs = c.template volume<std::uint8_t>("costs");
  const int min = c.context.range.min;
  compute(c, p, left, right, min, costs);
};

const StageDescriptor entry{.slot = Slot::cost,
                            .name = "colour_difference",
                            .title = "colour difference",
                            .parameters = Parameters{},
                            .ports = {in("rgb", both), out_volume("costs", Element::u8)},
                            .functions = on_every_device(run),
                            .scratch = {.cpu = [](const Shape& s) {
                              return scratch_bytes(s.size().width, s.disparities(), s.target.threads);
                            }}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::colour_difference
