// How stages register themselves. A folder's NAME_entry.cpp has one function, register_stage(Registry&), which CMake
// finds. Its descriptor states the slot that the stage fills, the images, volumes and maps that it reads and writes
// (its ports, by name), its cost, and its function for each device. No other code names the stage.
//
// Names of ports. Images of a view: image and mask (as given; for other formats channels, mosaic, luma and chroma),
// grey, grey8, image8, colours, rgb, lab, samples, and the outputs of other stages of the slot `image` (census9x7,
// cross); words (the features of a matching cost). Volumes: costs. Maps of the reference view: disparity, validity,
// right, confidence, kinds.
#pragma once

#include <any>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "device/gpu/properties.hpp"
#include "graph/any_view.hpp"
#include "graph/word_cost.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

class Threads;

// The parameters of any stage, type-erased.
class StageParameters {
 public:
  StageParameters() = default;
  template <class P>
    requires(!std::is_same_v<P, StageParameters>)
  StageParameters(P p) : value_(std::move(p)), type_(&type_of<P>()) {}

  template <class P>
  const P& as() const {
    return *std::any_cast<P>(&value_);
  }
  template <class P>
  P& as() {
    return *std::any_cast<P>(&value_);
  }
  template <class P>
  const P* get_if() const {
    return std::any_cast<P>(&value_);
  }
  // Sets one parameter as core/parameters.hpp does. A stage without parameters has no parameter of any name.
  bool set(std::string_view prefix, std::string_view name, std::string_view value) {
    return type_ != nullptr && type_->set(value_, prefix, name, value);
  }
  std::vector<ParameterInfo> list(std::string_view prefix) const {
    return type_ == nullptr ? std::vector<ParameterInfo>() : type_->list(value_, prefix);
  }

 private:
  struct Type {
    bool (*set)(std::any&, std::string_view, std::string_view, std::string_view);
    std::vector<ParameterInfo> (*list)(const std::any&, std::string_view);
  };
  template <class P>
  static const Type& type_of() {
    static constexpr auto visitor = [](auto&&...) {};
    static const Type type{[](std::any& p, std::string_view prefix, std::string_view name, std::string_view value) {
                             if constexpr (requires(P & q) { describe(q, visitor); })
                               return set_parameter(prefix, *std::any_cast<P>(&p), name, value);
                             return false;
                           },
                           [](const std::any& p, std::string_view prefix) {
                             std::vector<ParameterInfo> list;
                             if constexpr (requires(const P& q) { describe(q, visitor); })
                               list_parameters(prefix, *std::any_cast<P>(&p), list);
                             return list;
                           }};
    return type;
  }

  std::any value_;
  const Type* type_ = nullptr;
};

// Context passed to an operation in addition to its parameters and images.
struct StepContext {
  DisparityRange range = {};  // range of the candidates; with the right view as the reference, range of −d
  bool from_right = false;
  Element element = Element::u8;  // element type of the pair's pixels
  int bit_depth = 8;
  int channels = 1;     // of the pair
  Rows rows = {};       // of the rows that it is given, those that it is to make
  int stripe_rows = 0;  // of stripes that it is to work in; 0: as it likes
};

// The memory traffic and the computation of a stage: instructions × lanes on path costs, popcounts of 32-bit words,
// additions and minima of 32 bits. Omitted terms are small in comparison.
struct Work {
  double bytes = 0, path_ops = 0, popcounts = 0, int_ops = 0;
};

enum class On { oracle, cpu, gpu };

// The device on which a plan runs. The properties are those of a GPU.
struct Target : gpu::Properties {
  Target() = default;
  Target(On where, int thread_count) : device(where), threads(thread_count) {}
  explicit Target(const gpu::Properties& gpu) : gpu::Properties(gpu), device(On::gpu) {}

  On device = On::cpu;
  int threads = 1;
};

// An operation with its operands by index, in the order of its ports (if a port is for both views, the left operand
// precedes the right one). Absent operands are empty.
struct Shape {
  const StageParameters& parameters;
  const StepContext& context;
  std::span<const AnyView> operands;
  const Target& target;

  template <class P>
  const P& as() const {
    return parameters.as<P>();
  }
  AnyView operand(int i) const { return i >= 0 && i < static_cast<int>(operands.size()) ? operands[i] : AnyView(); }
  Size size(int i = 0) const { return operand(i).size(); }
  double pixels(int i = 0) const { return static_cast<double>(operand(i).width) * operand(i).height; }
  double cells(int i) const { return pixels(i) * operand(i).disparities; }
};

// Returns a view of GPU memory that is not allocated yet, for code that needs only its shape.
template <class T>
gpu::View<T> planned(const AnyView& v) {
  return {v.empty() ? gpu::Handle{0} : gpu::Handle{1}, 0, v.width, v.height, v.channels, v.pitch};
}

// A shape with its memory: the argument of a stage's functions.
template <On on>
class Call : public Shape {
 public:
  static constexpr On device = on;
  using Worker = std::conditional_t<on == On::gpu, gpu::Queue, Threads>;
  using Scratch = std::conditional_t<on == On::gpu, gpu::Span, std::span<std::byte>>;
  template <template <template <class> class> class Images>
  using Of = std::conditional_t<on == On::gpu, Images<gpu::View>, Images<ImageView>>;

  Call(const Shape& shape, Worker* worker, Scratch scratch) : Shape(shape), worker_(worker), scratch_(scratch) {}

  template <class T>
  auto image(int i) const {
    if constexpr (on == On::gpu)
      return operand(i).template on_gpu<T>();
    else
      return operand(i).template on_host<T>();
  }
  template <class T>
  auto volume(int i) const {
    if constexpr (on == On::gpu)
      return operand(i).template volume_on_gpu<T>();
    else
      return operand(i).template volume_on_host<T>();
  }
  // Calls f<T>() with the pixel type of operand i.
  template <class F>
  void with_pixels(int i, F&& f) const {
    switch (operand(i).element) {
      case Element::u8: return f.template operator()<std::uint8_t>();
      case Element::u16: return f.template operator()<std::uint16_t>();
      default: return f.template operator()<float>();
    }
  }
  Scratch scratch() const { return scratch_; }
  // Returns the memory of the entry's constants on a GPU.
  gpu::Span constants() const { return constants_; }
  Call with_constants(const gpu::Span& there) const {
    Call call = *this;
    call.constants_ = there;
    return call;
  }
  Worker& worker() const { return *worker_; }

 private:
  Worker* worker_;
  Scratch scratch_;
  gpu::Span constants_;
};

template <class C>
inline constexpr On device_of = std::decay_t<C>::device;

// The functions that run an operation; null if a device has none.
struct Functions {
  void (*oracle)(const Call<On::oracle>&) = nullptr;
  void (*cpu)(const Call<On::cpu>&) = nullptr;
  void (*gpu)(const Call<On::gpu>&) = nullptr;
};
// Returns functions from one function that is generic in the call.
template <class F>
constexpr Functions on_every_device(F) {
  return {[](const Call<On::oracle>& c) { F{}(c); },
#ifdef STEREOPSIS_SIMD
          [](const Call<On::cpu>& c) { F{}(c); },
#else
          nullptr,
#endif
          [](const Call<On::gpu>& c) { F{}(c); }};
}
// Returns functions for an operation whose only definition is the stages that it replaces.
template <class F>
constexpr Functions on_cpu_and_gpu(F f) {
  Functions functions = on_every_device(f);
  functions.oracle = nullptr;
  return functions;
}
// A generic lambda that calls a stage's function for the call's device, with the threads or the queue. In the second
// form, cpu and gpu also take scratch memory; in the third, only cpu does.
#define STEREOPSIS_DISPATCH(defines, on_cpu, on_gpu) \
  [](const auto& call, const auto&... arguments) {   \
    constexpr On on = device_of<decltype(call)>;     \
    if constexpr (on == On::oracle)                  \
      defines(arguments...);                         \
    else if constexpr (on == On::cpu)                \
      on_cpu(arguments..., call.worker());           \
    else                                             \
      on_gpu(arguments..., call.worker());           \
  }
#define STEREOPSIS_DISPATCH_WITH_SCRATCH(defines, on_cpu, on_gpu) \
  [](const auto& call, const auto&... arguments) {                \
    constexpr On on = device_of<decltype(call)>;                  \
    if constexpr (on == On::oracle)                               \
      defines(arguments...);                                      \
    else if constexpr (on == On::cpu)                             \
      on_cpu(arguments..., call.scratch(), call.worker());        \
    else                                                          \
      on_gpu(arguments..., call.scratch(), call.worker());        \
  }

#define STEREOPSIS_DISPATCH_WITH_CPU_SCRATCH(defines, on_cpu, on_gpu) \
  [](const auto& call, const auto&... arguments) {                    \
    constexpr On on = device_of<decltype(call)>;                      \
    if constexpr (on == On::oracle)                                   \
      defines(arguments...);                                          \
    else if constexpr (on == On::cpu)                                 \
      on_cpu(arguments..., call.scratch(), call.worker());            \
    else                                                              \
      on_gpu(arguments..., call.worker());                            \
  }

// Returns the scratch memory for the rows of a volume, which only the CPU needs; `volume` is the operand's index.
template <std::size_t (*bytes)(int width, int disparities, int threads), int volume>
std::size_t cpu_scratch(const Shape& s) {
  return s.target.device == On::cpu ? bytes(s.size().width, s.operand(volume).disparities, s.target.threads) : 0;
}

// The view that a port refers to: the reference view, the other view, or both, the left one first.
enum class Side { reference, other, both };

// An image, volume or map that an operation reads or writes.
struct Port {
  enum class Use {
    in,        // read; computed by an earlier step, or added to the plan for this port
    if_there,  // read if it was given or computed
    out,       // written
    wanted,    // written if it is requested
    change,    // read and written
    scratch,   // memory only
  };
  const char* name;
  Use use;
  Element element = Element::same;  // element type of an output; same: that of the first operand
  Side side = Side::reference;
  bool volume = false;
  std::vector<Element> accepts = {};  // element types of an input volume
};
inline Port in(const char* name, Side side = Side::reference) { return {name, Port::Use::in, Element::same, side}; }
inline Port in_volume(const char* name, std::vector<Element> accepts) {
  return {name, Port::Use::in, Element::same, Side::reference, true, std::move(accepts)};
}
inline Port if_there(const char* name, Side side = Side::reference) {
  return {name, Port::Use::if_there, Element::same, side};
}
inline Port out(const char* name, Element e, Side side = Side::reference) { return {name, Port::Use::out, e, side}; }
inline Port out_volume(const char* name, Element e) { return {name, Port::Use::out, e, Side::reference, true}; }
inline Port wanted(const char* name, Element e) { return {name, Port::Use::wanted, e}; }
inline Port change(const char* name) { return {name, Port::Use::change}; }
inline Port change_volume(const char* name, std::vector<Element> accepts) {
  return {name, Port::Use::change, Element::same, Side::reference, true, std::move(accepts)};
}
inline Port scratch(const char* name, Element e) { return {name, Port::Use::scratch, e}; }
inline constexpr Side both = Side::both;
using Ports = std::vector<Port>;

enum class Slot { prepare, cost, aggregation, optimisation, select, levels, refinement, image, internal };

// What the planner needs of a stage that no slot of a pipeline names. One stage has each role.
enum class Role {
  none,
  word_volume,  // makes a volume of the costs of words
  quantise,     // brings costs to 8 bits
  sum,          // adds two volumes
  rectify,      // resamples an image by a map
  triangulate,  // makes depth and points of a disparity
  mark_filled,  // sets the confidence of pixels that were not measured
};

// The pair, as the images of a size have it.
struct PairInfo {
  Element element = Element::u8;
  int channels = 1;

  bool is_float() const { return element == Element::f32; }
};

// Properties of a stage's costs that are known before they are computed: the largest cost, 0 for that of their type;
// and the number of output units per unit of the input costs.
struct CostUnits {
  double largest = 0, units = 1;
};

struct PipelineData;
struct StageChoice;
struct Request;
struct Images;
class Builder;
using Maps = std::map<std::string, int, std::less<>>;

// What a step's parameters may depend on besides the stage's own ones.
struct PlanFacts {
  const PipelineData& pipeline;
  const StageParameters& cost;  // of the matching cost whose volume is made
  WordCost word_cost;           // of the words, if the costs are still those of words
  int most_cost = 255;          // the largest cost of 8 bits
};

// How a stage of the slot `prepare` works on images of another size.
struct Reduction {
  int (*factor)(const StageParameters&);                    // 1: the images keep their size
  Size (*output_size)(const StageParameters&, Size input);  // of the maps
  int (*output_factor)(const StageParameters&);             // pixels of the input in a row of one of the maps
  DisparityRange (*range)(const StageParameters&, const DisparityRange&);
  Images (*reduce)(Builder&, const StageChoice&, Images& full);
  void (*restore)(Builder&, const StageChoice&, Images& full, Images& reduced, Maps& maps);
};

// How a stage that changes the shape of the pipeline makes the steps from the images to the maps.
struct Lowering {
  bool (*applies)(const PipelineData&, const Request&);
  void (*match)(Builder&, Images&, const DisparityRange&, Maps&);
};

// How a pipeline with this stage is computed in a region of interest, where the general rule would give too much or too
// little.
struct RegionRule {
  bool (*applies)(const PipelineData&);
  Rect (*required_input)(const PipelineData&, const Request&);
};

// How an optimisation goes on from stripe to stripe by its path costs.
struct PathBoundary {
  int (*kinds)(const StageParameters&);                            // of paths, as Matched::paths has rows
  StageParameters (*parameters)(const StageParameters&, bool up);  // of the stage that follows the paths alone
  std::string stage;                                               // which stage that is
};

// The rows that a refinement reads around a stripe of rows.
struct RowSupport {
  int rows = 0;                // above and below
  bool fills_columns = false;  // it looks along columns, up to the next measured pixel
  bool before_fills = false;   // it must not follow a refinement that fills columns
  std::string unlimited = {};  // why no number of rows is enough; empty: a number is
};

struct StageDescriptor {
  Slot slot;          // `image`: made where a port asks for it; `internal`: part of what another stage does
  std::string name;   // in pipelines
  std::string title;  // in times
  StageParameters parameters = {};  // the defaults
  Ports (*ports)(const StageParameters&, const PairInfo&);
  Functions functions = {};

  // All fields below are optional.
  Rect (*required_input)(const StageParameters&, const Rect& output) = nullptr;  // null: the pixel alone
  bool global_support = false;                                                   // any pixel may depend on any other
  void (*check)(const Shape&) = nullptr;           // throws Error(call) for what does not fit together
  std::size_t (*scratch)(const Shape&) = nullptr;  // bytes
  Work (*work)(const Shape&) = nullptr;            // none: every operand once
  // What its function on a GPU finds there beside its operands, copied once; it stays as long as the parameters.
  std::span<const std::int32_t> (*constants)(const StageParameters&) = nullptr;
  Size (*output_size)(const StageParameters&, Size) = nullptr;  // none: that of the first operand
  bool keeps_channels = false;                                  // what is made has the channels of the first operand
  const char* (*alias)(const PairInfo&) = nullptr;              // of the slot `image`: which other image it is, or null
  WordCost (*word_cost)(const StageParameters&) = nullptr;      // of a cost that makes words
  bool separate_right_costs = false;  // the right view's disparity comes from costs of its own, by its own image
  bool row_tiles = false;             // of an aggregation: it makes some rows at a time, across scales, too
  CostUnits (*units)(const StageParameters&) = nullptr;     // of the costs that it makes
  int (*most_cost)(const StageParameters&) = nullptr;       // of those that it reads; none: its type's
  std::string after_selection = {};                         // of a cost: an internal stage behind the selection
  std::string (*titled)(const StageParameters&) = nullptr;  // in the place of the title
  bool capturable = true;                                   // whether a graph of a GPU's commands can replay it
  Role role = Role::none;
  // Completes the parameters of a step by what is known when it is planned.
  void (*plan)(StageParameters&, const PlanFacts&) = nullptr;

  // Costs.
  bool from_outside = false;       // of a cost: the volume comes with the pair
  std::string before_stages = {};  // of a cost: an internal stage that follows where another stage reads the costs
  StageParameters (*of_other_view)(const StageParameters&) = nullptr;  // of a selection
  // Of the role `quantise`: its parameters for costs of these units, which become those of its result.
  StageParameters (*fit)(const StageParameters&, Element, bool has_holes, CostUnits& units) = nullptr;
  double (*largest_sum)(const StageParameters&, double first, double second) = nullptr;  // of the role `sum`

  // Inputs and outputs.
  bool (*takes_format)(PixelFormat) = nullptr;  // of the slot `image`: it makes the image of pictures in this format
  StageParameters (*of_format)(PixelFormat, Pixel first) = nullptr;  // its parameters; the output begins at `first`
  StageParameters (*of_geometry)(const Request&, const Rect& shown) = nullptr;  // of the role `triangulate`

  // Support.
  bool spans_range = false;            // its input spreads over the search range
  bool spans_window = false;           // its input spreads over the window that the matching cost shares
  bool counts_in_regions = false;      // its required input counts in a region besides the region's margin
  bool reads_both_candidates = false;  // of a cost: in a region, columns of both views' candidates are read
  Rect (*shared_window)(const StageParameters&, const Rect& output) = nullptr;  // of a cost
  RowSupport (*row_support)(const StageParameters&) = nullptr;                  // none: that of required_input

  // The shape of the pipeline.
  int (*tile_rows)(const StageParameters&, Size, int disparities, const Target&) = nullptr;  // of row tiles
  void (*check_pipeline)(const PipelineData&, const Request&) = nullptr;
  const Reduction* reduction = nullptr;
  const Lowering* lowering = nullptr;
  const RegionRule* region_rule = nullptr;
  const PathBoundary* boundary = nullptr;

  std::vector<std::vector<std::string>> examples = {{}};  // NAME=VALUE …, for checks
};

// A value that a step reads or writes.
struct Operand {
  int value = -1;        // none
  Rows rows = {};        // of it; none: all
  bool written = false;  // whether the step writes it
};
// A step of a plan: an operation on values of the plan.
struct Step {
  const StageDescriptor* entry = nullptr;
  StageParameters parameters = {};
  StepContext context = {};
  std::vector<Operand> operands = {};
  std::string title = {};
  std::string note = {};  // reason why no rule replaced the step
};

// Returns rows of an image; none: all.
inline AnyView part_of(const AnyView& whole, Rows rows) {
  return rows.count() > 0 && !whole.empty() ? whole.rows(rows.first, rows.count()) : whole;
}

// A run of steps, with the shapes of their operands and the device.
struct Run {
  std::span<const Step> steps;
  std::span<const AnyView> values;  // by index
  const Target& target;
  std::span<const Step> second_view = {};  // the same run for the other view, if the rule has `both_views`

  AnyView shape(const Operand& operand) const {
    return operand.value < 0 ? AnyView() : part_of(values[operand.value], operand.rows);
  }
};

// One operation that replaces a run of steps without changing the result. The widest run takes precedence.
struct Rule {
  std::string name;
  std::vector<std::string> run;  // names of the entries, with | between alternatives
  // Returns the step that replaces the run. A step without an entry means that the rule does not apply, and its note
  // gives the reason.
  Step (*fuse)(const Run&);
  const StageDescriptor* operation;     // the operation of the step; its slot is `internal`
  int (*length)(const Run&) = nullptr;  // length of the run that starts at these steps; null: that of `run`
  int (*tile_rows)(Size image, int disparities, const Target&) = nullptr;  // preferred number of rows of a tile
  std::vector<std::string> examples = {};  // METHOD NAME=VALUE …: pipelines in which the rule applies
  bool both_views = false;  // the operation also replaces the same run for the other view, which follows later
};

struct Registry {
  std::vector<const StageDescriptor*> entries;
  std::vector<const Rule*> rules;

  void add(const StageDescriptor& entry) { entries.push_back(&entry); }
  void add(const Rule& rule) { rules.push_back(&rule); }
  // Returns null if there is no entry of that name.
  const StageDescriptor* find(std::string_view name) const;
  const StageDescriptor& at(std::string_view name) const;
  const StageDescriptor& at(Role role) const;
  std::vector<std::string> names(Slot) const;
};
// Returns the registry of all folders' entries.
const Registry& registry();

}  // namespace stereopsis
