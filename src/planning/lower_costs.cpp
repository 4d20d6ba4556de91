// Lowers the slots from the images to the maps: cost, aggregation, optimisation and selection.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "planning/lowering.hpp"
#include "planning/probe.hpp"

namespace stereopsis {
namespace {

// The cost volume at a point between the matching cost and the selection.
struct CostState {
  Scope& scope;
  CostUnits units = {};

  int& volume() { return scope.maps.find("costs")->second; }
  void forget_words() { scope.word_cost = {}; }
};

CostUnits units_of(const StageChoice& stage, const CostUnits& before) {
  const auto* costs = stage.facet<Costs>();
  return costs == nullptr ? before : costs->units(stage.parameters);
}

// Adds the steps that compute a cost volume, unless the caller passes one. Returns the units of its costs.
CostUnits make_costs_of(Builder& b, const StageChoice& cost, Scope& scope) {
  if (const auto* given = cost.facet<GivenCosts>()) {
    scope.maps["costs"] = b.given_costs;
    const Element element = b.shape_of(b.given_costs).element;
    const PipelineData& p = b.pipeline();
    const bool goes_on = p.plus || p.aggregation || p.optimisation;
    if (goes_on && element != Element::u8) b.run(registry().at(given->before_stages), {}, scope);
    const double largest = units_of(cost, {}).largest;
    return {largest > 0 ? largest : element == Element::f32 ? 1 : element == Element::u8 ? 255 : 65535, 1};
  }
  if (cost.facet<WordCosts>() != nullptr) {
    scope.word_cost = word_cost_of(cost);
    if (scope.images.find("words", 0) < 0) b.run(cost, scope);
    b.run(registry().with<WordVolume>(), registry().with<WordVolume>().parameters, scope);
    return {255, 1};
  }
  b.run(cost, scope);
  CostUnits units = units_of(cost, {});
  if (units.largest == 0) units.largest = b.shape_of(scope.maps.at("costs")).element == Element::u8 ? 255 : 65535;
  return units;
}

// Converts costs to 8 bits if the next stage does not accept them. Copies a volume of the caller if the stage would
// change the volume.
void fit_costs(Builder& b, const StageDescriptor& next, const StageParameters& parameters, CostState& costs) {
  const Ports ports = next.ports(parameters, costs.scope.images.info);
  const Port* port = cost_port(ports, true);
  if (port == nullptr) return;
  const Element element = b.shape_of(costs.volume()).element;
  const auto takes = [&](Element e) { return port->accepts.empty() || std::ranges::count(port->accepts, e) > 0; };
  const auto* limit = next.facet<CostLimit>();
  const bool too_large = limit != nullptr && element != Element::u8 && costs.units.largest > limit->largest(parameters);
  const Binding binding = b.binding_of(costs.volume());
  const bool is_shared = port->use == Port::Use::change && binding != Binding::none;
  if ((takes(element) && !too_large && !is_shared) || !takes(Element::u8)) return;
  const bool has_holes = element == Element::f32 && binding == Binding::costs;
  b.run(registry().with<Quantisation>(),
        facet_of<Quantisation>().fit(b.pipeline().quantising, element, has_holes, costs.units), costs.scope);
  costs.forget_words();
}

// Converts both costs to 8 bits and adds them.
CostUnits add_costs(Builder& b, Scope& scope) {
  const PipelineData& p = b.pipeline();
  const StageDescriptor& sum = registry().with<Summation>();
  const auto largest_of = [&](const StageChoice& cost, Scope& in) {
    CostState costs{in, make_costs_of(b, cost, in)};
    fit_costs(b, sum, p.summing, costs);
    return in.word_cost ? std::min(255, in.word_cost.max_cost()) : costs.units.largest;
  };
  const double first = largest_of(p.cost, scope);
  const int costs = scope.maps.at("costs");
  Images images = scope.images;  // each stage of a matching cost has its own words
  for (const int view : {0, 1}) images.put("words", view, scope.images.find("plus_words", view));
  Scope other{images, scope.maps, scope.context, scope.rows};
  other.cost = &p.plus.parameters;
  const double second = largest_of(p.plus, other);
  for (const int view : {0, 1}) scope.images.put("plus_words", view, images.find("words", view));
  const int sums = scope.maps["plus_costs"] = scope.maps.at("costs");
  scope.maps["costs"] = costs;
  b.run(sum, p.summing, scope);
  scope.maps["costs"] = sums;
  scope.maps.erase("plus_costs");
  scope.word_cost = {};
  return {sum.facet<Summation>()->largest(p.summing, first, second), 1};
}

const char* output_name(Binding output) { return output_rows[output_row(output)].name; }

// Writes the volume in its present state to the output, or the costs of the probed pixels.
void deliver_costs(Builder& b, Scope& scope, std::size_t state) {
  const Request& request = b.request();
  const int costs = scope.maps.at("costs");
  if (const Binding output = volume_outputs[state]; request.requests(output)) {
    if (b.binding_of(costs) != Binding::none)
      throw Error(ErrorCategory::call,
                  text("the output '", output_name(output),
                       "' is requested, but it equals the given volume; do not request this output"));
    b.bind(costs, output);
  }
  if (request.probes.empty()) return;
  probe::Parameters p;
  const int factor = reduction_factor(b.pipeline());
  for (const Pixel& pixel : request.probes)
    p.pixels.push_back({(pixel.x - b.shown().x) / factor, (pixel.y - b.shown().y) / factor});
  const int probed =
      b.image({b.shape_of(costs).disparities, static_cast<int>(p.pixels.size())}, b.shape_of(costs).element);
  b.bind(probed, probe_outputs[state]);
  b.add(probe::entry(), std::move(p), scope.context, {{"costs", costs}}, {{"probed", probed}});
}

double largest_of(const CostState& costs) {
  return costs.scope.word_cost ? costs.scope.word_cost.max_cost() : costs.units.largest;
}

void set_most_cost(CostState& costs) {
  costs.scope.most_cost = static_cast<int>(std::clamp(std::ceil(largest_of(costs)), 1.0, 255.0));
}

// Adds a stage that reads and writes volumes.
void run_on_costs(Builder& b, const StageChoice& stage, CostState& costs) {
  fit_costs(b, *stage.entry, stage.parameters, costs);
  Scope& scope = costs.scope;
  set_most_cost(costs);
  b.run(stage, scope);
  costs.units = units_of(stage, costs.units);
  costs.forget_words();
}

// Adds the term of the seeds to the matching costs.
void add_seeds(Builder& b, const StageChoice& seeds, CostState& costs) {
  const double before = largest_of(costs);
  run_on_costs(b, seeds, costs);
  costs.units.largest = seeds.facet<AddedCosts>()->largest(seeds.parameters, std::min(255.0, before));
}

// Computes the matching costs, with those of the seeds.
CostState matching_costs(Builder& b, Scope& scope) {
  const PipelineData& p = b.pipeline();
  CostState costs{scope, p.plus ? add_costs(b, scope) : make_costs_of(b, p.cost, scope)};
  if (p.seeds && scope.context.from_right) facet_of<MirroredSeeds>().add_to(b, scope.images);
  if (p.seeds) add_seeds(b, p.seeds, costs);
  return costs;
}

void select(Builder& b, Scope& scope) {
  const PipelineData& p = b.pipeline();
  const int candidates = scope.images.find("candidates", 0), mask = scope.images.find("mask", 0);
  if (candidates >= 0) scope.images.put("mask", 0, candidates);
  b.run(p.select, scope);
  if (candidates >= 0) scope.images.put("mask", 0, mask);
  const auto* costs = p.cost.facet<Costs>();
  if (costs != nullptr && !costs->after_selection.empty() && (p.cost.facet<GivenCosts>() == nullptr || candidates >= 0))
    b.run(registry().at(costs->after_selection), p.cost.parameters, scope);
}

// Adds the stages that read and write volumes. The volumes are outputs if `delivers` is true.
void change_costs(Builder& b, CostState& costs, bool delivers) {
  const PipelineData& p = b.pipeline();
  for (std::size_t state = 1; const StageChoice* stage : {&p.aggregation, &p.optimisation}) {
    const Binding output = volume_outputs[state];
    if (!*stage && b.request().requests(output))
      throw Error(ErrorCategory::call,
                  text("the pipeline '", p.method, "' has no stage that computes the output '", output_name(output),
                       "', which is requested; add such a stage, or do not request the output"));
    if (*stage) {
      run_on_costs(b, *stage, costs);
      if (delivers) deliver_costs(b, costs.scope, state);
    }
    ++state;
  }
}

// Adds the terms of the seeds that a first pass made to the matching costs.
void add_terms(Builder& b, const std::vector<int>& seeds, CostState& costs) {
  const StageChoice term(registry().with<AddedCosts>());
  for (std::size_t i = 0; i < seeds.size(); i += 2) {
    const WithImage prior(costs.scope.images, "prior", seeds[i]);
    const WithImage further(costs.scope.images, "further_prior", i + 1 < seeds.size() ? seeds[i + 1] : -1);
    add_seeds(b, term, costs);
  }
}

// Adds the steps that compute the matching costs of the scope's rows, and of those around them that these need.
void add_costs_of_rows(Builder& b, Scope& scope, const std::vector<int>& seeds) {
  const Rows own = scope.rows;
  const int reach = rows_around_costs(b.pipeline());
  scope.rows = {std::max(own.first - reach, 0), std::min(own.last + reach, scope.images.size.height)};
  lower_matching_costs(b, scope, seeds);
  scope.cost_rows = {own.first - scope.rows.first, own.last - scope.rows.first};
  scope.rows = own;
}

// Computes the maps of the left view in stripes, whose volumes are computed one after the other. Returns false if the view
// must be matched as a whole, or if a fused operation has stripes of its own.
bool match_in_stripes(Builder& b, Images& images, const DisparityRange& range, Maps& maps, const FirstPass& first) {
  const PipelineData& p = b.pipeline();
  const bool is_fused = b.is_fused() && b.target().device != On::oracle && !follows_volume(p) && first.seeds.empty();
  if (b.stripe_rows() == 0 || b.stripe_rows() >= images.size.height || is_fused || b.request().stripe ||
      b.request().requests_costs() || rows_around_costs(p) < 0)
    return false;
  const Builder::Mark mark = b.mark();
  p.optimisation.facet<PathBoundary>()->match_stripes(
      b, {images, maps, b.context_of(range, images)}, [&](Scope& stripe) { add_costs_of_rows(b, stripe, first.seeds); },
      [&](Scope& stripe) {
        CostState costs{stripe, {1.0 * stripe.most_cost, 1}};
        change_costs(b, costs, false);
        select(b, stripe);
      });
  b.share_time(mark, text(p.optimisation.entry->title, " in stripes"));
  return true;
}

// Computes the maps of a view.
FirstPass match_view(Builder& b, Images& images, const DisparityRange& range, Maps& maps, bool from_right,
                     const FirstPass& first = {}) {
  const PipelineData& p = b.pipeline();
  const bool is_second = !first.seeds.empty();
  Scope scope{images, maps, b.context_of(seen_from(range, from_right), images)};
  scope.context.from_right = from_right;
  scope.context.rows = {0, images.size.height};
  if (is_second) maps["costs"] = first.costs;
  CostState costs = is_second ? CostState{scope, {first.largest, 1}} : matching_costs(b, scope);
  const FirstPass kept{costs.volume(), largest_of(costs)};
  if (!from_right && !is_second) deliver_costs(b, scope, 0);
  add_terms(b, first.seeds, costs);
  change_costs(b, costs, !from_right && (is_second || !p.second_pass));
  if (from_right)
    b.run(*p.select.entry, p.select.facet<OtherView>()->parameters(p.select.parameters), scope);
  else
    select(b, scope);
  return kept;
}

bool has_right_costs(const PipelineData& p) {
  const auto separate = [](const StageChoice& stage) { return stage.facet<RightCosts>() != nullptr; };
  return (separate(p.aggregation) || separate(p.optimisation)) && p.cost.facet<GivenCosts>() == nullptr;
}

}  // namespace

const Lowering* own_lowering(const PipelineData& p, const Request& request) {
  for (const StageChoice* stage : {&p.cost, &p.levels, &p.aggregation})
    if (const auto* own = stage->facet<Lowering>(); own != nullptr && own->applies(p, request)) return own;
  return nullptr;
}

void lower_matching_costs(Builder& b, Scope& scope, const std::vector<int>& seeds) {
  const StageChoice& optimisation = b.pipeline().optimisation;
  CostState costs = matching_costs(b, scope);
  add_terms(b, seeds, costs);
  fit_costs(b, *optimisation.entry, optimisation.parameters, costs);
  set_most_cost(costs);
}

FirstPass lower_costs(Builder& b, Images& images, const DisparityRange& range, Maps& maps, const FirstPass& first) {
  const PipelineData& p = b.pipeline();
  const Lowering* own = own_lowering(p, b.request());
  if (own != nullptr) return own->match(b, images, range, maps), FirstPass{};
  if (match_in_stripes(b, images, range, maps, first)) return {};
  const auto right = has_right_costs(p) ? maps.find("right") : maps.end();
  if (right == maps.end()) return match_view(b, images, range, maps, false, first);
  // The right view is matched first, with integer disparities, because later stages may read the costs of the left
  // view.
  const int made = right->second;
  Maps of_right{{"disparity", made}, {"validity", b.image(images.size, Element::u8)}};
  match_view(b, images, range, of_right, true);
  maps.erase("right");
  const FirstPass kept = match_view(b, images, range, maps, false);
  maps["right"] = made;
  return kept;
}

}  // namespace stereopsis
