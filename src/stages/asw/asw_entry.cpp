#include "stages/asw/asw.hpp"
#include "stages/entry.hpp"

namespace stereopsis::asw {
namespace {

const Entry entry{
    .slot = Slot::aggregation,
    .name = "asw",
    .title = "adaptive support weights",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("lab", both), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
        },
    .functions = {.oracle =
                      [](const Call<On::oracle>& c) {
                        oracle(c.as<Parameters>(), c.image<const std::uint32_t>(0), c.image<const std::uint32_t>(1),
                               c.numbers.range.min, c.volume<const std::uint8_t>(2), c.volume<std::uint16_t>(3));
                      },
                  .gpu =
                      [](const Call<On::gpu>& c) {
                        gpu(c.as<Parameters>(), c.image<const std::uint32_t>(0), c.image<const std::uint32_t>(1),
                            c.numbers.range.min, c.volume<const std::uint8_t>(2), c.volume<std::uint16_t>(3),
                            c.worker());
                      }},
    .required_input = [](const StageParameters& p,
                         const Rect& output) { return required_input(p.as<Parameters>(), output); },
    .units = [](const StageParameters&) { return CostUnits{.largest = 255 * 128, .units = 128}; },
    .examples = {{"window=9"}}};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::asw
