#include "stages/wta/wta_entry.hpp"

namespace stereopsis::wta {
namespace {

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const Reference reference = c.numbers.from_right ? Reference::right : Reference::left;
  const auto in = input_of(c);
  const auto out = output_of(c);
  const bool whole_numbers = c.operand(0).element == Element::u16;
  constexpr On on = device_of<decltype(c)>;
  if constexpr (on == On::gpu) {
    if (whole_numbers) return gpu(p, in, c.template volume<const std::uint16_t>(0), out, c.worker());
    gpu(p, in, c.template volume<const float>(0), out, c.worker(), reference);
  } else {
    if (whole_numbers) return oracle(p, in, c.template volume<const std::uint16_t>(0), out);
    if constexpr (on == On::oracle)
      oracle(p, in, c.template volume<const float>(0), out, reference);
    else
      cpu(p, in, c.template volume<const float>(0), out, c.worker(), reference);
  }
};

const Entry entry{.slot = Slot::select,
                  .name = "wta",
                  .title = "winner takes all",
                  .parameters = Parameters{},
                  .ports =
                      [](const StageParameters&, const PairInfo&) {
                        return selecting({in_volume("costs", {Element::u16, Element::f32})});
                      },
                  .functions = on_every_device(run),
                  .work = [](const Shape& s) { return Work{.bytes = s.operand(0).bytes()}; },
                  .examples = {{}, {"subpixel=parabola", "uniqueness=5"}}};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::wta
