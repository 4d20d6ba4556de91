#include "program/composer.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "stages/cross/cross.hpp"
#include "stages/cross_scale/cross_scale.hpp"
#include "stages/quantise/quantise.hpp"
#include "stages/reduce/reduce.hpp"
#include "stages/volume/volume.hpp"
#include "stages/wta/wta.hpp"

namespace stereopsis {

Composer::Composer(Program& program, const ProgramRequest& request)
    : program_(program),
      request_(request),
      pipeline_(program.pipeline_),
      problem_(request.problem),
      shown_(program.shown_) {}

// Where the slots become steps: the taxonomy, from the pair to what is delivered.
void Composer::compose() {
  if (!problem_.refine_only) check_combination();
  Images full = given_images();
  const bool reduces = reduction_of(pipeline_).factor > 1;
  Images reduced = reduces ? reduced_images(full) : Images();
  Images& seen = reduces ? reduced : full;
  const DisparityRange range = reduce::reduced_range(reduction_of(pipeline_), problem_.range);

  Maps edges;
  if (problem_.stripe) cut_stripe(seen, edges);
  if (problem_.stripe && problem_.stripe->follow != BoundaryStripe::Follow::none) {
    follow_paths(seen, edges);
    return finish();
  }
  Maps maps = problem_.refine_only ? given_maps(seen.size) : wanted_maps(seen.size);
  maps.merge(edges);
  if (!problem_.refine_only) match(seen, range, maps);
  Scope scope{seen, maps, context_of(range, seen)};
  for (const StageChoice& refinement : pipeline_.refinements)
    if (refinement.enabled) run(refinement, scope);

  if (reduces) restore(full, reduced, maps);
  triangulate(full, maps);
  deliver(full, maps);
  finish();
}

void Composer::finish() {
  if (request_.fused) fuse(steps_, program_.values_, request_.target);
  for (Step& step : steps_) program_.steps_.push_back({.step = std::move(step)});
}

void Composer::match(Images& images, const DisparityRange& range, Maps& maps) {
  if (pipeline_.levels.is("pyramid")) return match_pyramid(images, range, maps);
  if (uses_row_tiles(pipeline_) && !requests_costs(problem_)) return match_in_row_tiles(images, range, maps);
  const auto separate_right_costs = [](const StageChoice& stage) { return stage && stage.entry->separate_right_costs; };
  const bool apart = (separate_right_costs(pipeline_.aggregation) || separate_right_costs(pipeline_.optimisation)) &&
                     !pipeline_.cost.is(volume::Parameters::stage);
  const auto right = apart ? maps.find("right") : maps.end();
  if (right == maps.end()) return match_view(images, range, maps, false);
  // The right view's, in whole pixels, is matched first: stages that follow may read the left one's costs.
  const int made = right->second;
  Maps of_right{{"disparity", made}, {"validity", image(images.size, Element::u8)}};
  match_view(images, range, of_right, true);
  maps.erase(right);
  match_view(images, range, maps, false);
  maps["right"] = made;
}

StepContext Composer::context_of(const DisparityRange& range, const Images& images) const {
  StepContext n{.range = range,
                .element = images.info.element,
                .bit_depth = problem_.bit_depth,
                .channels = images.info.channels,
                .stripe_rows = request_.stripe_rows,
                .longest_arm = pipeline_.parameters_of(registry().at("cross")).as<cross::Parameters>().longest(),
                .cost = &pipeline_.cost.parameters};
  if (pipeline_.cost.entry->kind != nullptr) n.kind = pipeline_.cost.entry->kind(pipeline_.cost.parameters);
  return n;
}

int Composer::value(const AnyView& shape, Binding binding) {
  program_.values_.push_back({shape, binding});
  return static_cast<int>(program_.values_.size()) - 1;
}

int Composer::image(Size size, Element element, int channels) {
  // Rows start at multiples of a line.
  const std::int64_t line = (request_.target.device == On::gpu ? 128 : 64) / bytes_of(element);
  const std::int64_t pitch = (static_cast<std::int64_t>(size.width) * channels + line - 1) / line * line;
  return value({.element = element, .width = size.width, .height = size.height, .channels = channels, .pitch = pitch});
}

void Composer::add(const StageDescriptor& entry, const StageParameters& parameters, const StepContext& n,
                   std::vector<Operand> operands, std::string title) {
  // Images are made before the volumes of the run that asks for them, so that the run stays in one piece.
  auto place = steps_.end();
  if (entry.slot == Slot::image)
    while (place != steps_.begin() && makes_volume(*std::prev(place))) --place;
  if (title.empty()) title = entry.titled != nullptr ? entry.titled(parameters) : entry.title;
  const Step& step = *steps_.insert(place, {&entry, parameters, n, std::move(operands), std::move(title), {}});
  if (entry.check == nullptr) return;
  std::vector<AnyView> shapes;
  for (const Operand& operand : step.operands)
    shapes.push_back(operand.value < 0 ? AnyView() : part_of(shape_of(operand.value), operand.rows));
  entry.check({step.parameters, step.context, shapes, request_.target});
}

bool Composer::makes_volume(const Step& step) const {
  const Operand& last = step.operands.back();
  return last.value >= 0 && shape_of(last.value).is_volume();
}

namespace {

bool is_map(const StageDescriptor& entry) { return entry.slot == Slot::select || entry.slot == Slot::refinement; }

}  // namespace

void Composer::run(const StageDescriptor& entry, const StageParameters& parameters, Scope& scope, std::string title) {
  std::vector<Operand> operands;
  struct Made {
    Port port;
    int view, value;
  };
  std::vector<Made> made;
  for (const Port& port : entry.ports(parameters, scope.images.info)) {
    const int reference = scope.context.from_right ? 1 : 0;
    for (int side = port.side == Side::other ? 1 : 0; side < (port.side == Side::reference ? 1 : 2); ++side) {
      const int view = side == 0 ? reference : 1 - reference;
      const AnyView first = operands.empty() || operands[0].value < 0
                                ? AnyView()
                                : part_of(shape_of(operands[0].value), operands[0].rows);
      operands.push_back(resolve(port, view, entry, parameters, scope, first));
      if (port.use == Port::Use::out) made.push_back({port, view, operands.back().value});
    }
  }
  for (const Made& m : made) register_output(m.port, m.view, m.value, entry, scope);
  add(entry, parameters, scope.context, std::move(operands), std::move(title));
}

void Composer::check_element(const Port& port, const StageDescriptor& entry, Element element) const {
  const auto& accepted = port.accepts;
  if (accepted.empty() || std::find(accepted.begin(), accepted.end(), element) != accepted.end()) return;
  std::vector<std::string> names;
  for (const Element e : accepted) names.emplace_back(name_of(e));
  throw Error(ErrorCategory::call,
              text("the pipeline '", pipeline_.method, "' gives ", name_of(element), " costs to ", entry.name,
                   ", which takes ", join(names, " or "), "; choose another cost, or a stage between"));
}

// The operand of a port. What is made has the size of the first operand, or what the entry says of it.
Operand Composer::resolve(const Port& port, int view, const StageDescriptor& entry, const StageParameters& parameters,
                          const Scope& scope, const AnyView& first) {
  const auto found = scope.maps.find(port.name);
  const bool is_there = found != scope.maps.end();
  switch (port.use) {
    case Port::Use::in:
    case Port::Use::change: {
      if (!is_there) return of_stripe(scope, need(scope.images, port.name, view), entry);
      check_element(port, entry, shape_of(found->second).element);
      return {found->second, {}};
    }
    case Port::Use::if_there: {
      if (is_there) return {found->second, {}};
      const int there = scope.images.find(port.name, view);
      return there < 0 ? Operand{} : of_stripe(scope, there, entry);
    }
    case Port::Use::wanted: return is_there ? Operand{found->second, scope.rows} : Operand{};
    case Port::Use::out:
      if (entry.slot == Slot::select) return {found->second, scope.rows};
      break;
    case Port::Use::scratch: break;
  }
  const Element element = port.element == Element::same ? first.element : port.element;
  if (port.volume) {
    const int rows = scope.context.rows.count() > 0 ? scope.context.rows.count() : first.height,
              disparities = scope.context.range.count;
    return {value({.element = element,
                   .width = first.width,
                   .height = rows,
                   .disparities = disparities,
                   .pitch = static_cast<std::int64_t>(first.width) * disparities}),
            {}};
  }
  return {image(size_made(port, entry, parameters, scope, first), element, channels_made(port, entry, scope, first)),
          {}};
}

namespace {

// The pair's, of what is given otherwise.
bool is_picture(const Port& port) { return port.name == std::string_view("image"); }

}  // namespace

Size Composer::size_made(const Port& port, const StageDescriptor& entry, const StageParameters& parameters,
                         const Scope& scope, const AnyView& first) const {
  if (is_picture(port)) return given_part().size();
  if (is_map(entry)) return scope.images.size;
  return entry.output_size != nullptr ? entry.output_size(parameters, first.size()) : first.size();
}

int Composer::channels_made(const Port& port, const StageDescriptor& entry, const Scope& scope,
                            const AnyView& first) const {
  if (is_picture(port)) return scope.images.info.channels;
  return entry.name == "image8" || entry.name == "halve" ? first.channels : 1;
}

void Composer::register_output(const Port& port, int view, int value, const StageDescriptor& entry, Scope& scope) {
  if (is_map(entry) || port.volume)
    scope.maps[port.name] = value;
  else
    scope.images.put(port.name, view, value);
}

static bool has_port(const StageParameters& parameters, const StageDescriptor& entry, std::string_view name,
                     std::initializer_list<Port::Use> uses) {
  return std::ranges::any_of(entry.ports(parameters, {}), [&](const Port& port) {
    return port.name == name && std::ranges::count(uses, port.use) > 0;
  });
}

// Says what to do about an image that nothing makes: which refinements make it, and which read it.
static std::string switches_for(const PipelineData& pipeline, std::string_view name) {
  std::vector<std::string> makers, readers;
  for (const StageDescriptor* entry : registry().entries)
    if (entry->slot == Slot::refinement &&
        has_port(entry->parameters, *entry, name, {Port::Use::out, Port::Use::wanted}))
      makers.push_back(entry->name + ".enabled");
  for (const StageChoice& stage : pipeline.refinements)
    if (stage.enabled && has_port(stage.parameters, *stage.entry, name, {Port::Use::in, Port::Use::change}))
      readers.push_back(stage.entry->name + ".enabled");
  if (makers.empty() || readers.empty()) return "";
  return text("; set ", join(makers, " or "), " to true, or ", join(readers, " and "), " to false");
}

// An image of a view by its name: as it is there, under another name, or made.
int Composer::need(Images& images, std::string_view name, int view) {
  const int there = images.find(name, view);
  if (there >= 0) return there;
  if (name == "image" && problem_.format && !problem_.volumes.without_images) return make_picture(images, view);
  const StageDescriptor* maker = registry().find(name);
  if (maker == nullptr || maker->slot != Slot::image)
    throw Error(ErrorCategory::call, text("the pipeline '", pipeline_.method, "' has a stage that needs '", name,
                                          "', which no stage before it makes", switches_for(pipeline_, name)));
  const char* alias = maker->alias != nullptr ? maker->alias(images.info) : nullptr;
  if (alias != nullptr) {
    images.put(name, view, need(images, alias, view));
    return images.find(name, view);
  }
  Maps none;
  StepContext n = context_of(problem_.range, images);
  n.from_right = view == 1;  // the reference is this view
  Scope scope{images, none, n};
  run(*maker, pipeline_.parameters_of(*maker), scope);
  return images.find(name, view);
}

}  // namespace stereopsis
