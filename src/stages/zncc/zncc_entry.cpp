// The samples, the cost, and what is said of flat windows after the selection.
#include "stages/entry.hpp"
#include "stages/zncc/zncc.hpp"

namespace stereopsis::zncc {
namespace {

constexpr auto to_samples = STEREOPSIS_DISPATCH(samples_oracle, samples_cpu, samples_gpu);

const Entry samples{.slot = Slot::image,
                    .name = "samples",
                    .title = "samples",
                    .ports =
                        [](const StageParameters&, const PairInfo&) {
                          return Ports{in("grey"), out("samples", Element::s16)};
                        },
                    .functions = on_every_device([](const auto& c) {
                      c.with_pixels(0, [&]<class T>() {
                        to_samples(c, c.template image<const T>(0), c.numbers.bit_depth,
                                   c.template image<std::int16_t>(1));
                      });
                    })};

const Entry entry{.slot = Slot::cost,
                  .name = "zncc",
                  .title = "correlation",
                  .parameters = Parameters{},
                  .ports =
                      [](const StageParameters&, const PairInfo&) {
                        return Ports{in("samples", both), out_volume("costs", Element::u16)};
                      },
                  .functions = {.oracle =
                                    [](const Call<On::oracle>& c) {
                                      oracle(c.as<Parameters>(), c.image<const std::int16_t>(0),
                                             c.image<const std::int16_t>(1), c.numbers.range.min,
                                             c.volume<std::uint16_t>(2));
                                    }},
                  .required_input =
                      [](const StageParameters& p, const Rect& output) {
                        return grow(output, p.as<Parameters>().radius(), p.as<Parameters>().radius());
                      },
                  .units = [](const StageParameters&) { return CostUnits{.largest = 32768}; },
                  .after_selection = "zncc_flat"};

const Entry flat{.slot = Slot::part,
                 .name = "zncc_flat",
                 .title = "flat windows",
                 .parameters = Parameters{},
                 .ports =
                     [](const StageParameters&, const PairInfo&) {
                       return Ports{in("samples"), change("validity")};
                     },
                 .functions = {.oracle = [](const Call<On::oracle>& c) {
                   mark_flat_oracle(c.as<Parameters>(), c.image<const std::int16_t>(0), c.image<std::uint8_t>(1));
                 }}};

}  // namespace

void join(Registry& registry) {
  registry.add(samples);
  registry.add(entry);
  registry.add(flat);
}

}  // namespace stereopsis::zncc
