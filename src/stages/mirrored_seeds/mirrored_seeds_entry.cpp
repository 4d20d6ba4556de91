#include "graph/builder.hpp"
#include "stages/mirrored_seeds/mirrored_seeds.hpp"

namespace stereopsis::mirrored_seeds {
namespace {

constexpr auto mirror = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// The right view is the reference view of the step, but the range is that of the left view.
void add_to(Builder& b, Images& images) {
  const int seeds = b.image(images.size, Element::f32), trust = b.image(images.size, Element::f32);
  b.add(registry().with<MirroredSeeds>(), {}, b.context_of(b.request().range, images),
        {{"seeds", images.find("seeds", 0)}, {"seed_trust", images.find("seed_trust", 0)}},
        {{"mirrored", seeds}, {"mirrored_trust", trust}});
  images.put("seeds", 1, seeds);
  images.put("seed_trust", 1, trust);
}

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "mirrored_seeds",
    .title = "seeds of the right view",
    .ports = {in("seeds"), if_there("seed_trust"), out("mirrored", Element::f32), out("mirrored_trust", Element::f32)},
    .functions = on_every_device([](const auto& c) {
      mirror(c, c.template of<InputOf>(c("seeds"), c("seed_trust")), c.context.range,
             c.template of<OutputOf>(c("mirrored"), c("mirrored_trust")));
    }),
    .work = [](const Shape& s) { return Work{.bytes = 16 * s.pixels(), .int_ops = 3 * s.pixels()}; },
    .facets = {MirroredSeeds{.add_to = add_to}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::mirrored_seeds
