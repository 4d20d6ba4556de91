// Stages register themselves. A folder's NAME_entry.cpp has one function, register_stage(Registry&), which CMake finds. Its
// descriptor says which slot the stage fills, which images, volumes and maps it reads and makes (its ports, by name), what it
// costs, and which function does it on which device. Nothing else names the stage.
//
// What ports can be named. Images of a view: image and mask (as given; what is given in another format are channels, mosaic, luma and
// chroma), grey, grey8, image8, colours, rgb, lab, samples, and what other stages of the slot `image` make (census9x7, cross); words
// (the features of a matching cost). Volumes: costs. Maps of the reference view: disparity, validity, right, confidence, kinds.
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

// The parameters of any stage.
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
  // As in core/parameters.hpp. A stage without parameters has none of any name.
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
  DisparityRange range = {};  // of the candidates; with the right view as the reference, of −d
  bool from_right = false;
  Element element = Element::u8;  // of the pair's pixels
  int bit_depth = 8;
  int channels = 1;                       // of the pair
  Rows rows = {};                         // of the rows that it is given, those that it is to make
  int stripe_rows = 0;                    // of stripes that it is to work in; 0: as it likes
  cost::AnyKind kind = {};                // of the words
  int most_cost = 255;                    // that costs of 8 bits have
  int longest_arm = cross::longest_arm;   // that the pipeline's crosses may have
  const StageParameters* cost = nullptr;  // of the pipeline's matching cost
};

// What a stage reads and writes, and computes: instructions × lanes on path costs, popcounts of 32-bit words, additions and
// minima of 32 bits. What is left out is small beside the rest.
struct Work {
  double bytes = 0, path_ops = 0, popcounts = 0, int_ops = 0;
};

enum class On { oracle, cpu, gpu };

// Where a plan runs.
struct Target {
  On device = On::cpu;
  int threads = 1;
  int cuda_capability = 0;      // of tuned kernels: 90 is 9.0; 0 is no CUDA device
  std::size_t local_bytes = 0;  // that a work-group of a GPU may have, whatever its kernels were compiled for
};

// An operation on its images, by number, in the order of its ports (first the left and then the right one of both views);
// those that are absent are empty.
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

// A view of a GPU's memory that is not there yet, for those that only ask for its shape.
template <class T>
gpu::View<T> planned(const AnyView& v) {
  return {v.empty() ? gpu::Handle{0} : gpu::Handle{1}, 0, v.width, v.height, v.channels, v.pitch};
}

// A shape with its memory: what the functions of a stage are called with.
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
  // Calls f<T>() with the pixels' type of operand i.
  template <class F>
  void with_pixels(int i, F&& f) const {
    switch (operand(i).element) {
      case Element::u8: return f.template operator()<std::uint8_t>();
      case Element::u16: return f.template operator()<std::uint16_t>();
      default: return f.template operator()<float>();
    }
  }
  Scratch scratch() const { return scratch_; }
  // On a GPU, where the entry's constants are.
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

// What does an operation; null where nothing does.
struct Functions {
  void (*oracle)(const Call<On::oracle>&) = nullptr;
  void (*cpu)(const Call<On::cpu>&) = nullptr;
  void (*gpu)(const Call<On::gpu>&) = nullptr;
};
// From one function that is generic in the call.
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
// The same of an operation that no definition has but the stages that it does at once.
template <class F>
constexpr Functions on_cpu_and_gpu(F f) {
  Functions functions = on_every_device(f);
  functions.oracle = nullptr;
  return functions;
}
// A generic lambda that calls the one of a stage's three functions which belongs to the call's device, with the threads or the
// queue; in the second form, cpu and gpu take scratch memory, too, and in the third cpu alone.
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

// The scratch memory that the CPU alone takes for the rows of a volume, by their number.
template <std::size_t (*bytes)(int width, int disparities, int threads), int volume>
std::size_t cpu_scratch(const Shape& s) {
  return s.target.device == On::cpu ? bytes(s.size().width, s.operand(volume).disparities, s.target.threads) : 0;
}

// Which view's image a port means: the reference's, the other's, or both, the left one first.
enum class Side { reference, other, both };

// An image, volume or map that an operation reads or makes.
struct Port {
  enum class Use {
    in,        // read; made before, or made for it
    if_there,  // read where somebody gave or made it
    out,       // made
    wanted,    // made where somebody wants it
    change,    // read and written
    scratch,   // memory alone
  };
  const char* name;
  Use use;
  Element element = Element::same;  // of what is made; same: as the first operand's
  Side side = Side::reference;
  bool volume = false;
  std::vector<Element> accepts = {};  // of a volume that is read
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

// The pair, as the images of a size have it.
struct PairInfo {
  Element element = Element::u8;
  int channels = 1;

  bool is_float() const { return element == Element::f32; }
};

// What is known of a stage's costs before there are any: the largest, 0 for that of their type; and how many of them are one
// of the costs that it reads.
struct CostUnits {
  double largest = 0, units = 1;
};

struct StageDescriptor {
  Slot slot;                        // `image`: made where a port asks for it; `part`: of what another entry does
  std::string name;                 // in pipelines
  std::string title;                // in times
  StageParameters parameters = {};  // the defaults
  Ports (*ports)(const StageParameters&, const PairInfo&);
  Functions functions = {};

  // All that follows may be left out.
  Rect (*required_input)(const StageParameters&, const Rect& output) = nullptr;  // none: the pixel alone
  bool global_support = false;                                                   // any pixel may depend on any other
  void (*check)(const Shape&) = nullptr;                                         // refuses what does not fit together
  std::size_t (*scratch)(const Shape&) = nullptr;                                // bytes
  Work (*work)(const Shape&) = nullptr;                                          // none: every operand once
  // What its function on a GPU finds there beside its operands, copied once; it stays as long as the parameters.
  std::span<const std::int32_t> (*constants)(const StageParameters&) = nullptr;
  Size (*output_size)(const StageParameters&, Size) = nullptr;  // none: as the first operand's
  const char* (*alias)(const PairInfo&) = nullptr;              // of the slot `image`: which other image it is, or null
  cost::AnyKind (*kind)(const StageParameters&) = nullptr;      // of a cost that makes words
  bool separate_right_costs = false;  // the right view's disparity comes from costs of its own, by its own image
  bool in_strips = false;             // of an aggregation: it makes some rows at a time, across scales, too
  CostUnits (*units)(const StageParameters&) = nullptr;     // of the costs that it makes
  int (*most_cost)(const StageParameters&) = nullptr;       // of those that it reads; none: its type's
  const char* after_selection = nullptr;                    // of a cost: a part that follows the selection
  std::string (*titled)(const StageParameters&) = nullptr;  // in the place of the title
  bool capturable = true;  // whether a graph of a GPU's commands can replay what it enqueues
  std::vector<std::vector<std::string>> examples = {{}};  // NAME=VALUE …, for checks
};

// A step of a plan: an operation on values of the plan.
struct Operand {
  int value = -1;  // none
  Rows rows = {};  // of it; none: all
};
struct Step {
  const StageDescriptor* entry = nullptr;
  StageParameters parameters = {};
  StepContext context = {};
  std::vector<Operand> operands = {};
  std::string title = {};
  std::string note = {};  // why nothing fused took its place
};

// The rows of an image; none: all.
inline AnyView part_of(const AnyView& whole, Rows rows) {
  return rows.count() > 0 && !whole.empty() ? whole.rows(rows.first, rows.count()) : whole;
}

// A run of steps, with the shapes of their operands, and where it is to run.
struct Run {
  std::span<const Step> steps;
  std::span<const AnyView> values;  // by number
  const Target& target;
  std::span<const Step> second_view = {};  // the same run for the other view, if the rule has `both_views`

  AnyView shape(const Operand& operand) const {
    return operand.value < 0 ? AnyView() : part_of(values[operand.value], operand.rows);
  }
};

// One operation in the place of a run of steps, never with another meaning. The widest run comes first.
struct Rule {
  std::string name;
  std::vector<std::string> run;  // the entries' names, | between alternatives
  // The step that takes the run's place; without an entry it does not serve, and the note says why.
  Step (*fuse)(const Run&);
  const StageDescriptor* operation;     // what it does it with; its slot is `part`
  int (*length)(const Run&) = nullptr;  // of the run at the beginning of these steps; none: as `run` has it
  int (*strip_rows)(Size image, int disparities, const Target&) = nullptr;  // of strips that it works best on
  std::vector<std::string> examples = {};  // METHOD NAME=VALUE …: pipelines in which it serves
  bool both_views = false;  // the operation replaces the same run for the other view too, which follows later
};

struct Registry {
  std::vector<const StageDescriptor*> entries;
  std::vector<const Rule*> rules;

  void add(const StageDescriptor& entry) { entries.push_back(&entry); }
  void add(const Rule& rule) { rules.push_back(&rule); }
  // Null if there is none of that name.
  const StageDescriptor* find(std::string_view name) const;
  const StageDescriptor& at(std::string_view name) const;
  std::vector<std::string> names(Slot) const;
};
// All that the folders say.
const Registry& registry();

}  // namespace stereopsis
