#include "methods/methods.hpp"

#include "stages/census_gradient/census_gradient.hpp"
#include "stages/fill/fill.hpp"
#include "stages/learned_features/learned_features.hpp"
#include "stages/left_right/left_right.hpp"
#include "stages/median/median.hpp"
#include "stages/planes/planes.hpp"
#include "stages/rank/rank.hpp"
#include "stages/sgm/sgm.hpp"
#include "stages/speckle/speckle.hpp"
#include "stages/sum/sum.hpp"
#include "stages/vote_fill/vote_fill.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis::sgm_methods {

// Banz, Blume and Pirsch 2011, as described in the paper. The future work of the paper (left-right check, sub-pixel
// disparities) can be switched on. P1 and P2, "empirically determined constants" in the paper, are our values for all
// scenes of the data folder.
PipelineData banz_sgm() {
  PipelineData p;
  p.select = wta::Parameters{};
  p.cost = rank::Parameters{.window = 9};
  p.optimisation = sgm::Parameters{.paths = 8, .p1 = 30, .p2 = 100};
  p.refinements = {{left_right::Parameters{}, false},
                   {speckle::Parameters{}, false},
                   {fill::Parameters{.mode = fill::Mode::background}, false},
                   {median::Parameters{.window = 3}, true}};
  return p;
}

namespace {

// Filling by votes is better in all areas, but slow on CPUs: docs/notes/sgm.md.
std::vector<StageChoice> refined(bool by_votes, int hidden = 5) {
  return {{left_right::Parameters{}, true},
          {speckle::Parameters{.size = 100}, true},
          {median::Parameters{.window = 3}, true},
          {vote_fill::Parameters{.distance = 10, .hidden = hidden, .reject = 0.2}, by_votes},
          {fill::Parameters{.mode = fill::Mode::second_lowest}, true},
          {median::Parameters{.window = 5}, true}};
}

}  // namespace

// The parameters lie on a flat optimum for all datasets of the data folder together.
PipelineData sgm() {
  PipelineData p;
  p.cost = census_gradient::Parameters{.census_weight = 2, .gradient_limit = 10};
  p.optimisation = sgm::Parameters{.paths = 4, .p1 = 20, .p2 = 100, .gradient = 8, .p2_min = 30};
  p.select = wta::Parameters{.subpixel = wta::Subpixel::equiangular};
  p.refinements = refined(false);
  return p;
}

PipelineData balanced() {
  PipelineData p = sgm();
  p.refinements = refined(true);
  return p;
}

// Adds learned costs to the costs of sgm, and fills by votes: docs/notes/learned.md. With limits of 127, 40.8 and 100,
// path costs are small enough for the tuned kernels.
PipelineData sgm_learned() {
  PipelineData p = sgm();
  p.plus = p.cost;
  p.cost = learned_features::Parameters{.scale = 18};
  p.summing = sum::Parameters{.cost_weight = 64, .plus_weight = 45};
  p.optimisation = sgm::Parameters{.paths = 4, .p1 = 16, .p2 = 100, .gradient = 8, .p2_min = 30};
  p.select = wta::Parameters{.subpixel = wta::Subpixel::equiangular, .uniqueness = 3};
  p.refinements = refined(true, 4);
  return p;
}

PipelineData accurate() {
  PipelineData p = sgm_learned();
  p.second_pass = planes::Parameters{};
  return p;
}

PipelineData sgm_learned_fast() {
  PipelineData p = sgm_learned();
  p.cost = learned_features::Parameters{.weights = learned_features::Weights("learned16"), .scale = 14};
  p.summing = sum::Parameters{.cost_weight = 64, .plus_weight = 51};
  p.optimisation = sgm().optimisation;
  p.select = sgm().select;
  return p;
}

}  // namespace stereopsis::sgm_methods
