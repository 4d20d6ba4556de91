#include "graph/descriptor.hpp"
#include "stages/region_voting/region_voting.hpp"

namespace stereopsis::region_voting {
namespace {

constexpr auto vote = STEREOPSIS_DISPATCH_WITH_SCRATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "region_voting",
    .title = "region voting",
    .parameters = Parameters{},
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in("cross"), change("disparity"), change("validity")};
        },
    .functions = on_every_device([](const auto& c) {
      using C = std::decay_t<decltype(c)>;
      const typename C::template Of<MapOf> map{c.template image<float>(1), c.template image<std::uint8_t>(2)};
      vote(c, c.template as<Parameters>(), c.template image<const std::uint32_t>(0), map);
    }),
    .global_support = true,
    .scratch = [](const Shape& s) -> std::size_t {
      if (s.target.device == On::gpu) return gpu_scratch_bytes(s.size(), s.target.cuda_capability);
#ifdef STEREOPSIS_SIMD
      if (s.target.device == On::cpu) return scratch_bytes(s.size());
#endif
      return 0;
    },
    .examples = {{}, {"votes=5", "share=20"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::region_voting
