#include "graph/builder.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/text.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

bool is_map(const StageDescriptor& stage) {
  return stage.slot == Slot::select || stage.slot == Slot::refinement || stage.slot == Slot::confidence ||
         stage.slot == Slot::density;
}
bool is_picture(const Port& port) { return port.name == std::string_view("image"); }

// Returns the rows of a view's image that a step reads. A step that derives an image or features reads all rows, and
// other steps read the rows that the method reads.
Rows rows_read(const Scope& scope, const StageDescriptor& stage) {
  const bool makes_images =
      stage.slot == Slot::image || (stage.slot == Slot::cost && stage.facet<WordCosts>() != nullptr);
  return makes_images ? Rows{} : scope.images.rows.count() == 0 ? scope.rows : scope.images.rows;
}

bool has_port(const StageParameters& parameters, const StageDescriptor& stage, std::string_view name,
              std::initializer_list<Port::Use> uses) {
  return std::ranges::any_of(stage.ports(parameters, {}), [&](const Port& port) {
    return port.name == name && std::ranges::count(uses, port.use) > 0;
  });
}

// Suggests a remedy for an image that no stage computes: names the refinements that compute it, and those that read it.
std::string switches_for(const PipelineData& pipeline, std::string_view name) {
  std::vector<std::string> makers, readers;
  for (const StageDescriptor* stage : registry().entries)
    if (stage->slot == Slot::refinement &&
        has_port(stage->parameters, *stage, name, {Port::Use::out, Port::Use::wanted}))
      makers.push_back(stage->name + ".enabled");
  for (const StageChoice& stage : pipeline.refinements)
    if (stage.enabled && has_port(stage.parameters, *stage.entry, name, {Port::Use::in, Port::Use::change}))
      readers.push_back(stage.entry->name + ".enabled");
  if (makers.empty() || readers.empty()) return "";
  return text("; set ", join(makers, " or "), " to true, or ", join(readers, " and "), " to false");
}

}  // namespace

int Builder::value(const AnyView& shape, Binding binding) {
  values_.push_back({shape, binding});
  return static_cast<int>(values_.size()) - 1;
}

int Builder::image(Size size, Element element, int channels) {
  // Rows start at multiples of a cache line.
  const std::int64_t line = (target_.device == On::gpu ? 128 : 64) / bytes_of(element);
  const std::int64_t pitch = (static_cast<std::int64_t>(size.width) * channels + line - 1) / line * line;
  return value({.element = element, .width = size.width, .height = size.height, .channels = channels, .pitch = pitch});
}

int Builder::volume(Size size, Element element, int disparities) {
  return value({.element = element,
                .width = size.width,
                .height = size.height,
                .disparities = disparities,
                .pitch = static_cast<std::int64_t>(size.width) * disparities});
}

StepContext Builder::context_of(const DisparityRange& range, const Images& images) const {
  return {.range = range,
          .element = images.info.element,
          .bit_depth = request_.bit_depth,
          .channels = images.info.channels,
          .stripe_rows = stripe_rows_};
}

StageParameters Builder::completed(const StageDescriptor& stage, StageParameters parameters,
                                   const PlanFacts& facts) const {
  if (stage.plan != nullptr) stage.plan(parameters, facts);
  return parameters;
}

void Builder::add(const StageDescriptor& stage, StageParameters parameters, const StepContext& context,
                  const std::vector<PortValue>& read, const std::vector<PortValue>& written, std::string title) {
  std::vector<Operand> operands;
  std::size_t named_values = 0;
  for_each_operand(stage.ports(parameters, {request_.element, request_.channels}), [&](const Port& port, Side view) {
    const auto& values = reads(port.use) ? read : written;
    const auto value = std::ranges::find_if(
        values, [&](const PortValue& v) { return v.view == view && v.port == std::string_view(port.name); });
    if (value != values.end()) ++named_values;
    operands.push_back(named(value == values.end() ? Operand{} : Operand{value->value}, port, view));
  });
  if (named_values != read.size() + written.size())
    throw std::logic_error(text("a step of ", stage.name, " has a value for a port that the stage does not have"));
  const PlanFacts facts{pipeline_, pipeline_.cost.parameters, {}, 255};
  add_completed(stage, completed(stage, std::move(parameters), facts), context, std::move(operands), std::move(title));
}

void Builder::add_completed(const StageDescriptor& stage, StageParameters parameters, const StepContext& context,
                            std::vector<Operand> operands, std::string title) {
  // Steps for images are inserted before the steps of the volumes that need them, so that the latter remain adjacent.
  auto place = steps_.end();
  if (stage.slot == Slot::image)
    while (place != steps_.begin() && makes_volume(*std::prev(place))) --place;
  const auto* own = stage.facet<UserFunction>();
  if (title.empty()) title = own != nullptr ? own->title(parameters) : stage.title;
  const Step& step =
      *steps_.insert(place, {&stage, std::move(parameters), context, std::move(operands), std::move(title), {}});
  if (stage.check == nullptr) return;
  std::vector<AnyView> shapes;
  for (const Operand& operand : step.operands)
    shapes.push_back(operand.value < 0 ? AnyView() : part_of(shape_of(operand.value), operand.rows));
  stage.check({step, shapes, target_});
}

bool Builder::makes_volume(const Step& step) const {
  const Operand& last = step.operands.back();
  return last.value >= 0 && shape_of(last.value).is_volume();
}

void Builder::run(const StageDescriptor& stage, const StageParameters& parameters, Scope& scope, std::string title) {
  std::vector<Operand> operands;
  struct Made {
    Port port;
    int view, value;
  };
  std::vector<Made> made;
  const int reference = scope.context.from_right ? 1 : 0;
  for_each_operand(stage.ports(parameters, scope.images.info), [&](const Port& port, Side side) {
    const int view = side == Side::other ? 1 - reference : reference;
    const AnyView first =
        operands.empty() || operands[0].value < 0 ? AnyView() : part_of(shape_of(operands[0].value), operands[0].rows);
    operands.push_back(named(resolve(port, view, stage, parameters, scope, first), port, side));
    if (port.use == Port::Use::out) made.push_back({port, view, operands.back().value});
  });
  for (const Made& m : made) {
    if (m.port.volume) scope.cost_rows = {};
    if (is_map(stage) || m.port.volume)
      scope.maps[m.port.name] = m.value;
    else
      scope.images.put(m.port.name, m.view, m.value);
  }
  const PlanFacts facts{pipeline_, scope.cost != nullptr ? *scope.cost : pipeline_.cost.parameters, scope.word_cost,
                        scope.most_cost};
  add_completed(stage, completed(stage, parameters, facts), scope.context, std::move(operands), std::move(title));
}

void Builder::check_element(const Port& port, const StageDescriptor& stage, Element element) const {
  const auto& accepted = port.accepts;
  if (accepted.empty() || std::ranges::count(accepted, element) > 0) return;
  std::vector<std::string> names;
  for (const Element e : accepted) names.emplace_back(name_of(e));
  throw Error(ErrorCategory::call, text("the pipeline '", pipeline_.method, "' gives ", name_of(element), " costs to ",
                                        stage.name, ", which accepts ", join(names, " or "),
                                        "; choose another cost, or add a stage that converts the costs"));
}

Operand Builder::resolve(const Port& port, int view, const StageDescriptor& stage, const StageParameters& parameters,
                         const Scope& scope, const AnyView& first) {
  const auto found = scope.maps.find(port.name);
  const bool is_there = found != scope.maps.end();
  switch (port.use) {
    case Port::Use::in:
    case Port::Use::change: {
      if (!is_there) return {need(scope.images, port.name, view), rows_read(scope, stage)};
      check_element(port, stage, shape_of(found->second).element);
      return {found->second, port.volume ? scope.cost_rows : Rows{}};
    }
    case Port::Use::if_there: {
      if (is_there) return {found->second};
      const int there = scope.images.find(port.name, view);
      return there < 0 ? Operand{} : Operand{there, rows_read(scope, stage)};
    }
    case Port::Use::wanted: return is_there ? Operand{found->second, is_map(stage) ? scope.rows : Rows{}} : Operand{};
    case Port::Use::out:
      if (stage.slot == Slot::select) return {found->second, scope.rows};
      break;
    case Port::Use::scratch: break;
  }
  return {make_output(port, stage, parameters, scope, first)};
}

// Creates the value of an output, with the size of the first operand unless the stage specifies another.
int Builder::make_output(const Port& port, const StageDescriptor& stage, const StageParameters& parameters,
                         const Scope& scope, const AnyView& first) {
  const Element element = port.element == Element::same ? first.element : port.element;
  if (port.volume) {
    const int rows = scope.context.rows.count() > 0 ? scope.context.rows.count() : first.height;
    return volume({first.width, rows}, element, scope.context.range.count);
  }
  if (is_picture(port)) return image(scope.images.full_size(), element, scope.images.info.channels);
  if (is_map(stage)) return image(scope.images.size, element);
  const auto* shape = stage.facet<ImageShape>();
  if (shape == nullptr) return image(first.size(), element);
  return image(shape->size != nullptr ? shape->size(parameters, first.size()) : first.size(), element,
               shape->keeps_channels ? first.channels : 1);
}

int Builder::need(Images& images, std::string_view name, int view) {
  const int there = images.find(name, view);
  if (there >= 0) return there;
  if (name == "image" && make_picture_ != nullptr) return make_picture_(*this, images, view);
  const StageDescriptor* maker = registry().find(name);
  if (maker == nullptr || maker->slot != Slot::image)
    throw Error(ErrorCategory::call, text("the pipeline '", pipeline_.method, "' has a stage that requires '", name,
                                          "', which no earlier stage computes", switches_for(pipeline_, name)));
  const auto* shape = maker->facet<ImageShape>();
  const char* alias = shape != nullptr && shape->alias != nullptr ? shape->alias(images.info) : nullptr;
  if (alias != nullptr) {
    images.put(name, view, need(images, alias, view));
    return images.find(name, view);
  }
  Maps none;
  Scope scope{images, none, context_of(seen_from(request_.range, view == 1), images)};
  scope.context.from_right = view == 1;  // in this view, the reference view
  run(*maker, pipeline_.parameters_of(*maker), scope);
  return images.find(name, view);
}

void Builder::rewind(const Mark& mark) {
  values_.resize(mark.values);
  steps_.resize(mark.steps);
}

void Builder::share_time(const Mark& mark, const std::string& title) {
  for (std::size_t i = mark.steps; i < steps_.size(); ++i) steps_[i].title = title;
}

bool Builder::fuses_all_of(const StageDescriptor& stage, const Mark& mark) const {
  std::vector<Step> steps(steps_.begin() + static_cast<std::ptrdiff_t>(mark.steps), steps_.end());
  fuse(steps, values_, target_);
  return std::ranges::none_of(steps, [&](const Step& step) { return step.entry == &stage; });
}

std::vector<Step> Builder::take_steps() {
  if (fused_) fuse(steps_, values_, target_);
  return std::move(steps_);
}

}  // namespace stereopsis
