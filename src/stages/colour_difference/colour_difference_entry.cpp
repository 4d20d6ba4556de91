#include "stages/colour_difference/colour_difference.hpp"
#include "stages/entry.hpp"

namespace stereopsis::colour_difference {
namespace {

const Entry entry{
    .slot = Slot::cost,
    .name = "colour_difference",
    .title = "colour difference",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("rgb", both), out_volume("costs", Element::u8)};
        },
    .functions = {.oracle =
                      [](const Call<On::oracle>& c) {
                        oracle(c.as<Parameters>(), c.image<const std::uint32_t>(0), c.image<const std::uint32_t>(1),
                               c.numbers.range.min, c.volume<std::uint8_t>(2));
                      },
                  .gpu =
                      [](const Call<On::gpu>& c) {
                        gpu(c.as<Parameters>(), c.image<const std::uint32_t>(0), c.image<const std::uint32_t>(1),
                            c.numbers.range.min, c.volume<std::uint8_t>(2), c.worker());
                      }}};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::colour_difference
