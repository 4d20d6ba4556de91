#include "stages/wta/wta_entry.hpp"
#include "graph/facets.hpp"

namespace stereopsis::wta {
namespace {

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto in = input_of(c);
  const auto out = output_of(c);
  const Reference reference = c.context.from_right ? Reference::right : Reference::left;
  with_element<std::uint8_t, std::uint16_t, float>(c.first().element, [&]<class T>() {
    const auto costs = c.template volume<const T>("costs");
    if constexpr (device_of<decltype(c)> == On::oracle)
      oracle(p, in, costs, out, reference);
    else if constexpr (device_of<decltype(c)> == On::gpu)
      gpu(p, in, costs, out, c.worker(), reference);
    else if constexpr (std::is_same_v<T, float>)
      cpu(p, in, costs, out, c.worker(), reference);
    else
      cpu(p, in, costs, out, c.scratch(), c.worker(), reference);
  });
};

const StageDescriptor entry{.slot = Slot::select,
                            .name = "wta",
                            .title = "winner takes all",
                            .parameters = Parameters{},
                            .ports = selecting({in_volume("costs", {Element::u8, Element::u16, Element::f32})}),
                            .functions = on_every_device(run),
                            .scratch = {.cpu = [](const Shape& s) -> std::size_t {
                              if (s.first().element == Element::f32) return 0;
                              return scratch_bytes(s.size().width, s.disparities(), s.target.threads);
                            }},
                            .work = [](const Shape& s) { return Work{.bytes = s.first().bytes()}; },
                            // The map of the right view has integer disparities, and includes disparities that are not
                            // unique.
                            .facets = {OtherView{.parameters = [](const Parameters& p) -> StageParameters {
                                         return Parameters{.border_candidates = p.border_candidates};
                                       }},
                                       Subpixels{[](const Parameters& p) { return p.subpixel != Subpixel::none; }}},
                            .examples = {{}, {"subpixel=parabola", "uniqueness=5"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::wta
