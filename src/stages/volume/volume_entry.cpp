// The stage itself runs nothing: the caller's volume takes the place of costs.
#include "graph/descriptor.hpp"
#include "stages/volume/volume.hpp"

namespace stereopsis::volume {
namespace {

const StageDescriptor entry{
    .slot = Slot::cost,
    .name = "volume",
    .title = "cost volume",
    .parameters = Parameters{},
    .ports = [](const StageParameters&, const PairInfo&) { return Ports{}; },
    .units = [](const StageParameters& p) { return CostUnits{.largest = p.as<Parameters>().largest}; },
    .after_selection = "volume_holes",
    .from_outside = true,
    .before_stages = "volume_candidates"};

template <class T, class C>
void find_candidates(const C& c) {
  const auto costs = c.template volume<const T>(0);
  const auto mask = c.template image<const std::uint8_t>(1);
  const auto candidates = c.template image<std::uint8_t>(2);
  STEREOPSIS_DISPATCH(candidates_oracle<T>, candidates_cpu<T>, candidates_gpu<T>)(c, costs, mask, candidates);
}

const StageDescriptor candidates{
    .slot = Slot::internal,
    .name = "volume_candidates",
    .title = "candidates of the cost volume",
    .ports =
        [](const StageParameters&, const PairInfo&) {
          return Ports{in_volume("costs", {Element::u16, Element::f32}), if_there("mask"),
                       out("candidates", Element::u8)};
        },
    .functions = on_every_device([](const auto& c) {
      if (c.operand(0).element == Element::f32)
        find_candidates<float>(c);
      else
        find_candidates<std::uint16_t>(c);
    }),
    .work =
        [](const Shape& s) {
          return Work{.bytes = (1 + static_cast<double>(bytes_of(s.operand(0).element))) * s.pixels()};
        }};

constexpr auto mark_holes = STEREOPSIS_DISPATCH(holes_oracle, holes_cpu, holes_gpu);

const StageDescriptor holes{.slot = Slot::internal,
                            .name = "volume_holes",
                            .title = "candidates of the cost volume",
                            .ports =
                                [](const StageParameters&, const PairInfo&) {
                                  return Ports{if_there("mask"), change("validity")};
                                },
                            .functions = on_every_device([](const auto& c) {
                              mark_holes(c, c.template image<const std::uint8_t>(0), c.template image<std::uint8_t>(1));
                            })};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(candidates);
  registry.add(holes);
}

}  // namespace stereopsis::volume
