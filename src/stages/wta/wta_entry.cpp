#include "stages/entry.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::wta {
namespace {

constexpr auto run = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const auto& p = c.template as<Parameters>();
  const Reference reference = c.numbers.from_right ? Reference::right : Reference::left;
  const typename C::template Of<InputOf> in{c.numbers.range.min, c.template image<const std::uint8_t>(1),
                                            c.template image<const std::uint8_t>(2)};
  const typename C::template Of<OutputOf> out{c.template image<float>(3), c.template image<std::uint8_t>(4),
                                              c.template image<float>(5), c.template image<float>(6)};
  const bool whole_numbers = c.operand(0).element == Element::u16;
  if constexpr (C::device == On::gpu) {
    if (whole_numbers) return gpu(p, in, c.template volume<const std::uint16_t>(0), out, c.worker());
    gpu(p, in, c.template volume<const float>(0), out, c.worker(), reference);
  } else {
    if (whole_numbers) return oracle(p, in, c.template volume<const std::uint16_t>(0), out);
    if constexpr (C::device == On::oracle)
      oracle(p, in, c.template volume<const float>(0), out, reference);
    else
      cpu(p, in, c.template volume<const float>(0), out, c.worker(), reference);
  }
};

const Entry entry{.slot = Slot::select,
                  .name = "winner_takes_all",
                  .title = "winner takes all",
                  .parameters = Parameters{},
                  .ports =
                      [](const StageParameters&, const PairInfo&) {
                        return Ports{in_volume("costs", {Element::u16, Element::f32}),
                                     if_there("mask", both),
                                     out("disparity", Element::f32),
                                     out("validity", Element::u8),
                                     wanted("right", Element::f32),
                                     wanted("confidence", Element::f32)};
                      },
                  .functions = on_every_device(run),
                  .work = [](const Shape& s) { return Work{.bytes = s.operand(0).bytes()}; },
                  .examples = {{}, {"subpixel=parabola", "uniqueness=5"}}};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::wta
