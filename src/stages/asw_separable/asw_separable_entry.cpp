#include "stages/asw_separable/asw_separable.hpp"
#include "stages/entry.hpp"

namespace stereopsis::asw_separable {
namespace {

std::size_t between_bytes(const Shape& s) { return (static_cast<std::size_t>(2 * s.cells(1)) + 255) / 256 * 256; }

void run_gpu(const Call<On::gpu>& c) {
  gpu::Span memory = c.scratch();
  const auto costs = c.volume<const std::uint8_t>(1);
  const gpu::Volume<std::uint16_t> horizontal{memory.take(between_bytes(c)).as<std::uint16_t>(), costs.width,
                                              costs.height, costs.disparities};
  gpu(c.as<Parameters>(), c.image<const std::uint32_t>(0), costs, horizontal, c.volume<std::uint16_t>(2), memory,
      c.worker());
}

const Entry entry{.slot = Slot::aggregation,
                  .name = "asw_separable",
                  .title = "adaptive support weights in two passes",
                  .parameters = Parameters{},
                  .ports =
                      [](const StageParameters&, const PairInfo&) {
                        return Ports{in("lab"), in_volume("costs", {Element::u8}), out_volume("costs", Element::u16)};
                      },
                  .functions = {.oracle =
                                    [](const Call<On::oracle>& c) {
                                      oracle(c.as<Parameters>(), c.image<const std::uint32_t>(0),
                                             c.volume<const std::uint8_t>(1), c.volume<std::uint16_t>(2));
                                    },
                                .gpu = run_gpu},
                  .required_input = [](const StageParameters& p,
                                       const Rect& output) { return required_input(p.as<Parameters>(), output); },
                  .scratch = [](const Shape& s) -> std::size_t {
                    if (s.target.device != On::gpu) return 0;
                    return between_bytes(s) + gpu_weights_bytes(s.as<Parameters>(), s.size());
                  },
                  .work = [](const Shape& s) { return Work{.bytes = 4 * s.cells(1)}; },
                  .units = [](const StageParameters&) { return CostUnits{.largest = 255 * 128, .units = 128}; },
                  .examples = {{"window=9"}}};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::asw_separable
