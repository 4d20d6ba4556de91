#include "graph/registry.hpp"
#include "stages/slic/slic.hpp"

namespace stereopsis::slic {
namespace {

constexpr auto segment = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::image,
    .name = "slic",
    .title = "superpixels",
    .parameters = Parameters{},
    .ports = {in("rgb"), out("slic", Element::u32)},
    .functions = on_every_device([](const auto& c) { segment(c, c.template as<Parameters>(), c("rgb"), c("slic")); }),
    .global_support = true,
    .check = [](const Shape& s) { check(s.size()); },
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.as<Parameters>(), s.size(), s.target.threads); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); }},
    .work =
        [](const Shape& s) {
          const double turns = s.as<Parameters>().iterations * s.pixels();
          return Work{.bytes = 16 * turns, .int_ops = 9 * 11 * turns};
        },
    .examples = {{}, {"cell=9", "compactness=30", "iterations=3"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::slic
