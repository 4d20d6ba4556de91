#include "graph/builder.hpp"
#include "stages/planes/planes.hpp"

namespace stereopsis::planes {
namespace {

constexpr auto fit_planes = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// Adds the superpixels of both sizes, and their planes. More than 2 iterations change little.
std::vector<int> seeds(Builder& b, const StageParameters& parameters, Images& images, const Maps& first) {
  const StageDescriptor& superpixels = registry().at("slic");
  StageParameters of_superpixels = superpixels.parameters;
  of_superpixels.set("", "iterations", "2");
  const StepContext context = b.context_of(b.request().range, images);
  const int rgb = b.need(images, "rgb", 0);
  const auto confidence = first.find("confidence");
  std::vector<int> made;
  Parameters p = parameters.as<Parameters>();
  for (const int cell : {p.cell, p.coarse_cell}) {
    p.cell = cell;
    const int segments = b.image(images.size, Element::u32);
    of_superpixels.set("", "cell", std::to_string(cell));
    b.add(superpixels, of_superpixels, context, {{"rgb", rgb}}, {{"slic", segments}});
    made.push_back(b.image(images.size, Element::u32));
    b.add(*b.pipeline().second_pass.entry, p, context,
          {{"superpixels", segments},
           {"rgb", rgb},
           {"disparity", first.at("disparity")},
           {"validity", first.at("validity")},
           {"confidence", confidence == first.end() ? -1 : confidence->second}},
          {{"planes", made.back()}});
  }
  return made;
}

const StageDescriptor entry{
    .slot = Slot::second_pass,
    .name = "planes",
    .title = "planes",
    .parameters = Parameters{},
    .ports = {in("superpixels"), in("rgb"), in("disparity"), in("validity"), if_there("confidence"),
              out("planes", Element::u32)},
    .functions = on_every_device([](const auto& c) {
      fit_planes(c, c.template as<Parameters>(),
                 c.template of<InputOf>(c("superpixels"), c("rgb"), c("disparity"), c("validity"), c("confidence")),
                 c.context.range, c("planes"));
    }),
    .global_support = true,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.size(), s.as<Parameters>().cell); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.size(), s.as<Parameters>().cell); }},
    .work = [](const Shape& s) { return Work{.bytes = 60 * s.pixels(), .int_ops = 100 * s.pixels()}; },
    .facets = {SecondPass{.seeds = seeds, .needs_confidence = [](const Parameters& p) { return p.confidence > 0; }}},
    .examples = {{"cell=8"}, {"cell=8", "similar=40", "confidence=0.5", "weight=255"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::planes
