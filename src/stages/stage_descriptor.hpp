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
#include <span>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "stages/any_view.hpp"
#include "stages/cost/any_kind.hpp"
#include "stages/cross/arms.hpp"
#include "stereopsis/disparity.hpp"

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
  int channels = 1;                       // channels of the pair
  Rows rows = {};                         // the rows to compute, among the rows given
  int stripe_rows = 0;                    // rows of the stripes to work in; 0: the operation's choice
  cost::AnyKind kind = {};                // kind of the words
  int most_cost = 255;                    // largest value of 8-bit costs
  int longest_arm = cross::longest_arm;   // longest arm that the pipeline's crosses may have
  const StageParameters* cost = nullptr;  // parameters of the pipeline's matching cost
};

// The memory traffic and the computation of a stage: instructions × lanes on path costs, popcounts of 32-bit words,
// additions and minima of 32 bits. Omitted terms are small in comparison.
struct Work {
  double bytes = 0, path_ops = 0, popcounts = 0, int_ops = 0;
};

enum class On { oracle, cpu, gpu };

// The device on which a plan runs.
struct Target {
  On device = On::cpu;
  int threads = 1;
  int cuda_capability = 0;      // capability of the tuned kernels: 90 is 9.0; 0: not a CUDA device
  std::size_t local_bytes = 0;  // available to a work-group of a GPU, independent of what its kernels were compiled for
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

// Element type and channels of the pair's images at one size.
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

struct StageDescriptor {
  Slot slot;                        // `image`: added to the plan if a port needs it; `internal`: part of another entry
  std::string name;                 // used in pipelines
  std::string title;                // used in timings
  StageParameters parameters = {};  // the defaults
  Ports (*ports)(const StageParameters&, const PairInfo&);
  Functions functions = {};

  // All fields below are optional.
  Rect (*required_input)(const StageParameters&, const Rect& output) = nullptr;  // null: the pixel alone
  bool global_support = false;                                                   // any pixel may depend on any other
  void (*check)(const Shape&) = nullptr;                                         // rejects operands that do not fit
  std::size_t (*scratch)(const Shape&) = nullptr;                                // bytes
  Work (*work)(const Shape&) = nullptr;                                          // null: every operand once
  // Data that the function on a GPU needs in addition to its operands, copied once; valid as long as the parameters.
  std::span<const std::int32_t> (*constants)(const StageParameters&) = nullptr;
  Size (*output_size)(const StageParameters&, Size) = nullptr;  // none: as the first operand's
  const char* (*alias)(const PairInfo&) = nullptr;              // of the slot `image`: which other image it is, or null
  cost::AnyKind (*kind)(const StageParameters&) = nullptr;      // of a cost that makes words
  bool separate_right_costs = false;  // the right view's disparity comes from costs of its own, by its own image
  bool row_tiles = false;             // of an aggregation: it makes some rows at a time, across scales, too
  CostUnits (*units)(const StageParameters&) = nullptr;     // of the costs that it makes
  int (*most_cost)(const StageParameters&) = nullptr;       // of those that it reads; none: its type's
  const char* after_selection = nullptr;                    // of a cost: a part that follows the selection
  std::string (*titled)(const StageParameters&) = nullptr;  // in the place of the title
  bool capturable = true;  // whether a graph of a GPU's commands can replay what it enqueues
  std::vector<std::vector<std::string>> examples = {{}};  // NAME=VALUE …, for checks
};

// An operand of a step: a value of the plan.
struct Operand {
  int value = -1;  // −1: none
  Rows rows = {};  // rows of the value; none: all
};
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
  const StageDescriptor* operation;     // what it does it with; its slot is `part`
  int (*length)(const Run&) = nullptr;  // of the run at the beginning of these steps; none: as `run` has it
  int (*tile_rows)(Size image, int disparities, const Target&) = nullptr;  // of strips that it works best on
  std::vector<std::string> examples = {};  // METHOD NAME=VALUE …: pipelines in which it serves
  bool both_views = false;  // the operation replaces the same run for the other view too, which follows later
};

struct Registry {
  std::vector<const StageDescriptor*> entries;
  std::vector<const Rule*> rules;

  void add(const StageDescriptor& entry) { entries.push_back(&entry); }
  void add(const Rule& rule) { rules.push_back(&rule); }
  // Returns null if there is no entry of that name.
  const StageDescriptor* find(std::string_view name) const;
  const StageDescriptor& at(std::string_view name) const;
  std::vector<std::string> names(Slot) const;
};
// Returns the registry of all folders' entries.
const Registry& registry();

}  // namespace stereopsis
