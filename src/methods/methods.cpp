// The named methods and their defaults.
#include <algorithm>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "graph/pipeline.hpp"
#include "methods/methods.hpp"
#include "stages/ad_census/ad_census.hpp"
#include "stages/census/census.hpp"
#include "stages/colour_gradient/colour_gradient.hpp"
#include "stages/cross_aggregation/cross_aggregation.hpp"
#include "stages/cross_scale/cross_scale.hpp"
#include "stages/discontinuity/discontinuity.hpp"
#include "stages/fill/fill.hpp"
#include "stages/guided/guided.hpp"
#include "stages/interpolation/interpolation.hpp"
#include "stages/learned_confidence/learned_confidence.hpp"
#include "stages/left_right/left_right.hpp"
#include "stages/median/median.hpp"
#include "stages/outliers/outliers.hpp"
#include "stages/propagation/propagation.hpp"
#include "stages/pyramid/pyramid.hpp"
#include "stages/reduce/reduce.hpp"
#include "stages/region_voting/region_voting.hpp"
#include "stages/repair/repair.hpp"
#include "stages/scanline/scanline.hpp"
#include "stages/sgm/sgm.hpp"
#include "stages/speckle/speckle.hpp"
#include "stages/subpixel/subpixel.hpp"
#include "stages/vote_fill/vote_fill.hpp"
#include "stages/weighted_median/weighted_median.hpp"
#include "stages/window_confidence/window_confidence.hpp"
#include "stages/window_sad/window_sad.hpp"
#include "stages/wta/wta.hpp"
#include "stages/zncc/zncc.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis {
namespace {

// Mei et al. 2011, with all steps of the paper.
PipelineData ad_census() {
  PipelineData p = only_selection();
  p.cost = ad_census::Parameters{};
  p.aggregation = cross_aggregation::Parameters{};
  p.optimisation = scanline::Parameters{};
  p.refinements = {{outliers::Parameters{}, true},      {region_voting::Parameters{}, true},
                   {interpolation::Parameters{}, true}, {discontinuity::Parameters{}, true},
                   {subpixel::Parameters{}, true},      {median::Parameters{.window = 3}, true}};
  return p;
}

// Prehn 2007, with the weights from the results of the thesis. The thesis clamps texture addresses, and has no
// refinements.
PipelineData prehn_window() {
  PipelineData p = only_selection();
  p.cost = window_sad::Parameters{};
  p.select = wta::Parameters{.border_candidates = true};
  p.refinements = {{left_right::Parameters{}, false},
                   {speckle::Parameters{}, false},
                   {median::Parameters{.window = 3}, false},
                   {fill::Parameters{.mode = fill::Mode::background}, false}};
  return p;
}

// The method prehn-window on a pyramid, with confidence and repair, as in the results of the thesis.
PipelineData prehn_pyramid() {
  PipelineData p = prehn_window();
  p.levels = pyramid::Parameters{};
  p.refinements = {{window_confidence::Parameters{}, true},
                   {repair::Parameters{}, true},
                   {left_right::Parameters{}, false},
                   {median::Parameters{.window = 3}, false},
                   {fill::Parameters{.mode = fill::Mode::background}, false}};
  return p;
}

// The method of Syed's report: no reduction, a check of the two maps, and filling along rows and columns. Small regions
// that pass the check by chance are removed, because filling would spread them. With fill.mode = box, fill2 fills the
// pixels that remain invalid after the box filling.
PipelineData zncc() {
  PipelineData p = only_selection();
  p.prepare = reduce::Parameters{};
  p.cost = zncc::Parameters{.window = 9};
  p.refinements = {{left_right::Parameters{}, true},
                   {speckle::Parameters{.size = 150}, true},
                   {fill::Parameters{.mode = fill::Mode::second_lowest}, true},
                   {fill::Parameters{.mode = fill::Mode::background}, false},
                   {median::Parameters{.window = 3}, false}};
  return p;
}

// Reis and Souza 2017. The refinements of Rhemann et al. can be switched on, and levels.lambda adds the coarser levels
// of Zhang et al.
PipelineData census_guided() {
  PipelineData p = only_selection();
  p.cost = census::Parameters{.window = census::Window::w9x7};
  p.aggregation = guided::Parameters{};
  p.levels = cross_scale::Parameters{};
  p.refinements = {{left_right::Parameters{.threshold = 0}, false},
                   {fill::Parameters{.mode = fill::Mode::background}, false},
                   {weighted_median::Parameters{}, false}};
  return p;
}

// Rhemann et al. 2011. The limits of colour and gradient are ours: docs/notes/costfilter.md.
PipelineData costfilter() {
  PipelineData p = census_guided();
  p.cost = colour_gradient::Parameters{};
  for (StageChoice& refinement : p.refinements) refinement.enabled = true;
  return p;
}

struct Method {
  const char *name, *summary, *paper;
  PipelineData (*data)();
};

constexpr Method all[] = {
    {"sgm", "semi-global matching on census and gradient, sub-pixel, checked and dense: the default",
     "Hirschmüller, Stereo processing by semiglobal matching and mutual information, PAMI 2008; our choice of cost "
     "and penalties",
     sgm_methods::sgm},
    {"sgm-learned", "semi-global matching on features that a small network computes, with census and gradient",
     "Hirschmüller, as sgm; the network and its training on generated scenes are ours", sgm_methods::sgm_learned},
    {"sgm-learned-fast", "sgm-learned with a network of half the channels and a third of the operations",
     "Hirschmüller, as sgm; the network and its training on generated scenes are ours", sgm_methods::sgm_learned_fast},
    {"banz-sgm", "rank transform, semi-global matching over 8 paths, median",
     "Banz, Blume and Pirsch, Real-time semi-global matching disparity estimation on the GPU, ICCV workshops 2011",
     sgm_methods::banz_sgm},
    {"ad-census", "differences and census, cross-based regions, scanlines, outliers refined by kind",
     "Mei, Sun, Zhou, Jiao, Wang and Zhang, On building an accurate stereo matching system on graphics hardware, "
     "GPUCV 2011",
     ad_census},
    {"prehn-window", "sums of absolute HSV differences over a window, winner takes all",
     "Prehn, GPU stereo vision, project thesis, Robotics Research Lab, University of Kaiserslautern 2007",
     prehn_window},
    {"prehn-pyramid",
     "window matching on a pyramid, repaired by confidence; its time hardly depends on the search range",
     "Prehn, GPU stereo vision, project thesis, Robotics Research Lab, University of Kaiserslautern 2007",
     prehn_pyramid},
    {"zncc", "zero-mean normalised cross-correlation over a window, both views checked, holes filled",
     "Syed, Final report: zero-mean normalised cross-correlation on CPUs and by OpenCL", zncc},
    {"census-guided", "census transform, guided filter on the slices of the cost volume, winner takes all",
     "Reis and Souza, Um algoritmo para correspondência estéreo baseado em GPU, 2017; across scales: Zhang et al., "
     "Cross-scale cost "
     "aggregation for stereo matching, CVPR 2014",
     census_guided},
    {"costfilter", "truncated colour and gradient, guided filter, left-right check, row fill, weighted median",
     "Rhemann, Hosni, Bleyer, Rother and Gelautz, Fast cost-volume filtering for visual correspondence and beyond, "
     "CVPR 2011",
     costfilter},
    {"esaw", "adaptive support weights in exponential steps: O(log N) for N pixels",
     "Yu, Chen and Hoe, Real time stereo vision using exponential step cost aggregation on GPU, 2010",
     colour_methods::esaw},
    {"asw", "adaptive support weights of both views over the full window, checked and filled",
     "Yoon and Kweon, Locally adaptive support-weight approach for visual correspondence search, CVPR 2005",
     colour_methods::asw},
    {"asw-separable", "adaptive support weights of the reference view in a horizontal and a vertical pass",
     "Gong, Yang, Wang and Gong, A performance study on different cost aggregation approaches used in real-time "
     "stereo matching, IJCV 2007",
     colour_methods::asw_separable},
    {"realtime-dp", "adaptive support weights along columns, dynamic programming along rows",
     "Wang, Liao, Gong, Yang and Nistér, High-quality real-time stereo using adaptive cost aggregation and dynamic "
     "programming, 3DPVT 2006",
     colour_methods::realtime_dp},
    {"realtime-bp", "adaptive support weights over a window, belief propagation on a pyramid, checked and filled",
     "Yang, Wang, Yang, Wang, Liao and Nistér, Real-time global stereo matching using hierarchical belief "
     "propagation, "
     "BMVC 2006",
     colour_methods::realtime_bp},
    {"segment-support", "aggregation over superpixels and a window, checked and dense",
     "Tombari, Mattoccia, Di Stefano and Addimanda, Near real-time stereo based on effective cost aggregation, ICPR "
     "2008",
     colour_methods::segment_support},
};

// docs/choosing.md has the errors and times of these presets.
constexpr Method all_presets[] = {
    {"fast", "no measured pipeline has fewer errors in the same time", "sgm", sgm_methods::sgm},
    {"balanced", "fewer errors than fast indoors, not on roads, for 20 % more time on a GPU and 40 % on a CPU",
     "sgm: vote_fill.enabled=true", sgm_methods::balanced},
    {"accurate", "18 % fewer errors than fast, for 4 times the time on a GPU and 9 times on a CPU",
     "sgm-learned: second_pass.stage=planes", sgm_methods::accurate},
};

std::vector<MethodInfo> infos_of(std::span<const Method> list) {
  std::vector<MethodInfo> infos;
  for (const Method& method : list) infos.push_back({method.name, method.summary, method.paper});
  return infos;
}

}  // namespace

const std::vector<MethodInfo>& presets() {
  static const std::vector<MethodInfo> infos = infos_of(all_presets);
  return infos;
}

const std::vector<MethodInfo>& methods() {
  static const std::vector<MethodInfo> infos = infos_of(all);
  return infos;
}

namespace {

// Adds refinements that can follow any method, switched off, to methods that lack them.
void add_post_processing(PipelineData& p) {
  const auto add = [&](const StageChoice& stage) {
    const auto is_same = [&](const StageChoice& r) { return r.entry == stage.entry; };
    if (std::none_of(p.refinements.begin(), p.refinements.end(), is_same)) p.refinements.push_back(stage);
  };
  add({window_confidence::Parameters{}, false});
  add({repair::Parameters{}, false});
  add({propagation::Parameters{}, false});
}

}  // namespace

PipelineData only_selection() {
  PipelineData p;
  p.select = wta::Parameters{};
  return p;
}

PipelineData method_data(std::string_view name) {
  const auto made = [](const Method& method, std::string_view named) {
    PipelineData data = method.data();
    data.method = named;
    add_post_processing(data);
    data.confidence = learned_confidence::Parameters{};
    return data;
  };
  std::vector<std::string> names;
  for (const Method& method : all) {
    if (method.name == name) return made(method, name);
    names.push_back(method.name);
  }
  for (const Method& preset : all_presets) {
    const std::string_view paper = preset.paper;
    if (preset.name == name) return made(preset, paper.substr(0, paper.find(':')));
    names.push_back(preset.name);
  }
  throw Error(ErrorCategory::call, text("there is no method '", name, "'", did_you_mean(name, names),
                                        "; `stereopsis methods` lists all methods"));
}

}  // namespace stereopsis
