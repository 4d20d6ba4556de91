#include "stages/window_sad/window_sad_entry.hpp"

namespace stereopsis::window_sad {
namespace {

constexpr auto run = [](const auto& c) {
  const Window window = c.template as<Parameters>().window();
  const auto source = source_of(c);
  const auto sums = c.template volume<std::uint16_t>(2);
  const int min = c.context.range.min;
  if constexpr (device_of<decltype(c)> == On::oracle)
    oracle(window, source, min, sums);
  else if constexpr (device_of<decltype(c)> == On::cpu)
    cpu(window, source, min, sums, c.scratch(), c.worker());
  else
    gpu(window, source, min, 0, sums, c.worker());
};

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "window_sad",
    .title = "window differences",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("colours", both), out_volume("costs", Element::u16)};
        },
    .functions = on_every_device(run),
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>().window(), output); },
#ifdef STEREOPSIS_SIMD
    .scratch = cpu_scratch<scratch_bytes, 2>
#endif
};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::window_sad
