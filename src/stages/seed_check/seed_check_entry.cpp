#include "graph/facets.hpp"
#include "graph/registry.hpp"
#include "stages/seed_check/seed_check.hpp"

namespace stereopsis::seed_check {
namespace {

constexpr auto check_pixels = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "seed_check",
    .title = "check of seeded pixels",
    .ports = {in("prior"), in("census9x7", both), in("disparity"), if_there("first_disparity"),
              if_there("first_validity"), change("validity")},
    .functions = on_every_device([](const auto& c) {
      const auto words = c.template images<const std::uint64_t>("census9x7");
      const auto in = c.template of<InputOf>(c.template image<const std::uint32_t>("prior"), words[0], words[1],
                                             c.template image<const float>("disparity"),
                                             c.template image<const float>("first_disparity"),
                                             c.template image<const std::uint8_t>("first_validity"));
      check_pixels(c, in, c.template image<std::uint8_t>("validity"));
    }),
    .required_input = [](const StageParameters&, const Rect& output) { return grow(output, samples[2], samples[2]); },
    .work = [](const Shape& s) { return Work{.bytes = 25 * s.pixels(), .popcounts = 160 * s.pixels()}; },
    .facets = {SeedCheck{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::seed_check
