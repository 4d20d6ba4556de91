#include "graph/registry.hpp"
#include "stages/fill/fill.hpp"

namespace stereopsis::fill {
namespace {

constexpr auto fill_holes = STEREOPSIS_DISPATCH(oracle, cpu, gpu);

const StageDescriptor entry{
    .slot = Slot::refinement,
    .name = "fill",
    .title = "fill",
    .parameters = Parameters{},
    .ports =
        [](const Parameters& p) {
          Ports ports{in("disparity"), change("validity"), out("disparity", Element::f32)};
          if (p.mode == Mode::hirschmueller) ports.push_back(in("right"));
          return ports;
        },
    .functions = on_every_device([](const auto& c) {
      fill_holes(c, c.template as<Parameters>(), c.template of<InputOf>(c("disparity"), c("right")), c("disparity"),
                 c("validity"));
    }),
    .global_support = true,
    .check = check,
    .scratch = {.cpu = [](const Shape& s) { return scratch_bytes(s.as<Parameters>(), s.size()); },
                .gpu = [](const Shape& s) { return gpu_scratch_bytes(s.as<Parameters>(), s.size()); }},
    .facets = {StripeSupport{.rows = [](const Parameters& p) -> RowSupport {
                               switch (p.mode) {
                                 case Mode::cross: return {.rows = p.distance};
                                 case Mode::box: return {.rows = p.window / 2};
                                 case Mode::hirschmueller:
                                   return {.unlimited =
                                               "fill.mode = hirschmueller asks whole regions of invalid pixels"};
                                 default: return {.fills_columns = true, .takes_edges = p.mode == Mode::second_lowest};
                               }
                             },
                             .suffices = rows_suffice},
               Fills{}},
    .examples = {{"mode=background"},
                 {"mode=nearest"},
                 {"mode=second_lowest"},
                 {"mode=hirschmueller"},
                 {"mode=cross"},
                 {"mode=box"}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::fill
