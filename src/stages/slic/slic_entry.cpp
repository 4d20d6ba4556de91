#include "graph/descriptor.hpp"
#include "stages/slic/slic.hpp"

namespace stereopsis::slic {
namespace {

constexpr auto segment = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{.slot = Slot::image,
                            .name = "slic",
                            .title = "superpixels",
                            .parameters = Parameters{},
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{in("rgb"), out("slic", Element::u32)};
                                },
                            .functions = on_every_device([](const auto& c) {
                              segment(c, c.template as<Parameters>(), c.template image<const std::uint32_t>(0),
                                      c.template image<std::uint32_t>(1));
                            }),
                            .global_support = true,
                            .check = [](const Shape& s) { check(s.size()); },
                            .scratch = [](const Shape& s) -> std::size_t {
                              const auto& p = s.as<Parameters>();
                              if (s.target.device == On::gpu) return gpu_scratch_bytes(p, s.size());
#ifdef STEREOPSIS_SIMD
                              if (s.target.device == On::cpu) return scratch_bytes(p, s.size(), s.target.threads);
#endif
                              return 0;
                            },
                            .work =
                                [](const Shape& s) {
                                  const double turns = s.as<Parameters>().iterations * s.pixels();
                                  return Work{.bytes = 16 * turns, .int_ops = 9 * 11 * turns};
                                },
                            .examples = {{}, {"cell=9", "compactness=30", "iterations=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::slic
