#include "stages/wta/wta_entry.hpp"

namespace stereopsis::wta {
namespace {

constexpr auto run = [](const auto& c) {
  const auto& p = c.template as<Parameters>();
  const auto in = input_of(c);
  const auto out = output_of(c);
  constexpr On on = device_of<decltype(c)>;
  const Reference reference = c.context.from_right ? Reference::right : Reference::left;
  const auto select = [&]<class T>(const T& costs) {
    if constexpr (on == On::oracle)
      oracle(p, in, costs, out, reference);
    else if constexpr (on == On::gpu)
      gpu(p, in, costs, out, c.worker(), reference);
    else if constexpr (std::is_same_v<T, VolumeView<const float>>)
      cpu(p, in, costs, out, c.worker(), reference);
    else
      cpu(p, in, costs, out, c.scratch(), c.worker(), reference);
  };
  switch (c.operand(0).element) {
    case Element::u8: return select(c.template volume<const std::uint8_t>(0));
    case Element::u16: return select(c.template volume<const std::uint16_t>(0));
    default: select(c.template volume<const float>(0));
  }
};

const StageDescriptor entry{.slot = Slot::select,
                            .name = "wta",
                            .title = "winner takes all",
                            .parameters = Parameters{},
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return selecting({in_volume("costs", {Element::u8, Element::u16, Element::f32})});
                                },
                            .functions = on_every_device(run),
#ifdef STEREOPSIS_SIMD
                            .scratch = [](const Shape& s) -> std::size_t {
                              if (s.target.device != On::cpu || s.operand(0).element == Element::f32) return 0;
                              return scratch_bytes(s.size().width, s.operand(0).disparities, s.target.threads);
                            },
#endif
                            .work = [](const Shape& s) { return Work{.bytes = s.operand(0).bytes()}; },
                            // The right view's map has whole disparities, whether they are unique or not.
                            .of_other_view = [](const StageParameters& p) -> StageParameters {
                              return Parameters{.border_candidates = p.as<Parameters>().border_candidates};
                            },
                            .examples = {{}, {"subpixel=parabola", "uniqueness=5"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::wta
