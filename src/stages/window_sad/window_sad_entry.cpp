#include "stages/window_sad/window_sad_entry.hpp"

namespace stereopsis::window_sad {
namespace {

const Entry entry{
    .slot = Slot::cost,
    .name = "window_sad",
    .title = "window differences",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("colours", both), out_volume("costs", Element::u16)};
        },
    .functions = {.oracle =
                      [](const Call<On::oracle>& c) {
                        oracle(c.as<Parameters>().window(), source_of(c), c.numbers.range.min,
                               c.volume<std::uint16_t>(2));
                      },
                  .gpu =
                      [](const Call<On::gpu>& c) {
                        gpu(c.as<Parameters>().window(), source_of(c), c.numbers.range.min, 0,
                            c.volume<std::uint16_t>(2), c.worker());
                      }},
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>().window(), output); }};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::window_sad
