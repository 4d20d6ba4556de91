#include "graph/descriptor.hpp"
#include "stages/speckle/speckle.hpp"

namespace stereopsis::speckle {
namespace {

constexpr auto remove = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::refinement,
                            .name = "speckle",
                            .title = "speckle",
                            .parameters = Parameters{},
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{change("disparity"), change("validity")};
                                },
                            .functions = on_every_device([](const auto& c) {
                              remove(c, c.template as<Parameters>(), c.template image<float>(0),
                                     c.template image<std::uint8_t>(1));
                            }),
                            .global_support = true,
                            .scratch = [](const Shape& s) -> std::size_t {
                              if (s.target.device == On::gpu) return gpu_scratch_bytes(s.size());
#ifdef STEREOPSIS_SIMD
                              if (s.target.device == On::cpu) return scratch_bytes(s.size());
#endif
                              return 0;
                            },
                            // A region that leaves these rows is larger.
                            .row_support = [](const StageParameters& p) -> RowSupport {
                              return {.rows = p.as<Parameters>().size, .before_fills = true};
                            },
                            .examples = {{"size=8", "difference=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::speckle
