#include "methods/methods.hpp"

#include "stages/asw/asw.hpp"
#include "stages/asw_separable/asw_separable.hpp"
#include "stages/belief_propagation/belief_propagation.hpp"
#include "stages/colour_difference/colour_difference.hpp"
#include "stages/dynamic_programming/dynamic_programming.hpp"
#include "stages/esaw/esaw.hpp"
#include "stages/fill/fill.hpp"
#include "stages/left_right/left_right.hpp"
#include "stages/median/median.hpp"
#include "stages/segment_support/segment_support.hpp"
#include "stages/vote_fill/vote_fill.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::colour_methods {
namespace {

// The common part of these methods. As in the papers, all candidates are included, and all refinements are switched
// off.
PipelineData method_of_colours() {
  PipelineData p;
  p.cost = colour_difference::Parameters{};
  p.select = wta::Parameters{.border_candidates = true};
  p.refinements = {{left_right::Parameters{}, false},
                   {fill::Parameters{.mode = fill::Mode::background}, false},
                   {median::Parameters{.window = 3}, false}};
  return p;
}

}  // namespace

PipelineData esaw() {
  PipelineData p = method_of_colours();
  p.aggregation = esaw::Parameters{};
  return p;
}

PipelineData asw_separable() {
  PipelineData p = method_of_colours();
  p.aggregation = asw_separable::Parameters{};
  return p;
}

PipelineData asw() {
  PipelineData p = method_of_colours();
  p.cost = colour_difference::Parameters{.truncation = 47};
  p.aggregation = asw::Parameters{};
  p.refinements[0].enabled = p.refinements[1].enabled = true;
  return p;
}

// Wang et al. 2006, with our parameters: docs/notes/table-3.md.
PipelineData realtime_dp() {
  PipelineData p = method_of_colours();
  p.cost = colour_difference::Parameters{.truncation = 60};
  p.aggregation = asw::Parameters{.area = asw::Area::column, .window = 33, .gamma_colour = 14, .gamma_distance = 15};
  p.optimisation = dynamic_programming::Parameters{.p1 = 12, .p2 = 40};
  return p;
}

// Yang et al. 2006, with our parameters of the weights and our refinements: docs/notes/table-3.md.
PipelineData realtime_bp() {
  PipelineData p = method_of_colours();
  p.cost = colour_difference::Parameters{.truncation = 60};
  p.aggregation = asw::Parameters{.window = 21, .gamma_colour = 4, .gamma_distance = 15};
  p.optimisation = belief_propagation::Parameters{};
  p.refinements = {{left_right::Parameters{}, true},
                   {vote_fill::Parameters{}, true},
                   {fill::Parameters{.mode = fill::Mode::background}, true},
                   {median::Parameters{.window = 3}, true}};
  return p;
}

// Tombari et al. 2008, with our parameters and refinements: docs/notes/table-3.md.
PipelineData segment_support() {
  PipelineData p = method_of_colours();
  p.cost = colour_difference::Parameters{.truncation = 45};
  p.aggregation = segment_support::Parameters{};
  for (StageChoice& refinement : p.refinements) refinement.enabled = true;
  return p;
}

}  // namespace stereopsis::colour_methods
