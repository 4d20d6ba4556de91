#include "graph/registry.hpp"
#include "graph/request.hpp"
#include "stages/triangulate/triangulate.hpp"

namespace stereopsis::triangulate {
namespace {

constexpr auto run = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

// A rig for checks of the stage.
Parameters example() {
  Parameters p;
  p.rig.focal = 500;
  p.rig.baseline = 0.1;
  p.rig.cx_left = p.rig.cx_right = 30;
  p.rig.cy = 14;
  return p;
}

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "triangulate",
    .title = "depth and points",
    .parameters = example(),
    .ports = {in("disparity"), if_there("validity"), if_there("confidence"), out("depth", Element::f32),
              out("points", Element::f32), out("uncertainty", Element::f32)},
    .functions = on_every_device([](const auto& c) {
      run(c, c.template as<Parameters>(), c.template of<InputOf>(c("disparity"), c("validity"), c("confidence")),
          c.template of<OutputOf>(c("depth"), c("points"), c("uncertainty")));
    }),

    .facets = {Triangulation{.parameters = [](const Request& request, const Rect& shown) -> StageParameters {
      return Parameters{*request.rig, request.frame, request.disparity_error, shown.x, shown.y, 1};
    }}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::triangulate
