// Stages and methods of the caller (stereopsis/user_stage.hpp). No list of stages has them, because their parameters,
// functions of the caller, have no names.
#include <algorithm>
#include <exception>

#include "core/text.hpp"
#include "device/consistent_validity.hpp"
#include "device/gpu/device.hpp"
#include "graph/builder.hpp"
#include "stereopsis/user_stage.hpp"

namespace stereopsis {

template <class T>
ImageView<T> on_host(const DeviceImageView& v) {
  if (v.memory == 0) return {};
  if (v.type != pixel_type_of<T>)
    throw Error(ErrorCategory::call,
                text("a view of ", to_string(v.type), " pixels cannot be read as ", to_string(pixel_type_of<T>)));
  return {reinterpret_cast<T*>(v.memory) + v.offset, v.width, v.height, v.channels, v.pitch};
}
template ImageView<std::uint8_t> on_host(const DeviceImageView&);
template ImageView<std::uint16_t> on_host(const DeviceImageView&);
template ImageView<float> on_host(const DeviceImageView&);
template ImageView<const std::uint8_t> on_host(const DeviceImageView&);
template ImageView<const std::uint16_t> on_host(const DeviceImageView&);
template ImageView<const float> on_host(const DeviceImageView&);

namespace user_stage {
namespace {

DeviceImageView view_of(const AnyView& v, int bit_depth = 8) {
  if (v.memory == 0) return {};
  const AnyView flat = v.flat();
  const PixelType type = v.element == Element::u8    ? PixelType::u8
                         : v.element == Element::u16 ? PixelType::u16
                                                     : PixelType::f32;
  return {flat.memory, flat.offset, type, flat.width, flat.height, flat.channels, flat.pitch, bit_depth};
}

// Returns the arguments for a user-defined stage. Members that the slot of the stage does not have are empty.
UserCall call_of(const Shape& s) {
  return {.reference = view_of(s.input("image"), s.context.bit_depth),
          .other = view_of(s.input("image", Side::other), s.context.bit_depth),
          .mask_reference = view_of(s.input("mask")),
          .mask_other = view_of(s.input("mask", Side::other)),
          .range = s.context.range,
          .from_right = s.context.from_right,
          .costs = view_of(s.input("costs")),
          .made = view_of(s.output("costs")),
          .disparity = view_of(s.output("disparity")),
          .validity = view_of(s.output("validity")),
          .confidence = view_of(s.operand("confidence")),
          .threads = s.target.threads};
}

std::string who(const UserStage& stage) { return text("the stage '", stage.name, "'"); }
std::string who(const UserMethod& method) { return text("the method '", method.name, "'"); }

// Calls a function of the caller. Converts every exception to an Error.
template <class Own, class F>
auto call_guarded(const Own& own, F&& function) {
  try {
    return function();
  } catch (const std::exception& e) {
    const auto* error = dynamic_cast<const Error*>(&e);
    std::throw_with_nested(  // language bindings find their own exception as the nested exception
        Error(error != nullptr ? error->category() : ErrorCategory::call, text(who(own), " failed: ", e.what())));
  } catch (...) {
    throw Error(
        ErrorCategory::call,
        text(who(own),
             " threw an object that is not a std::exception; throw stereopsis::Error or another std::exception"));
  }
}

// No image is larger than this limit. The limit leaves a reserve for later stages, which extend the rectangle.
constexpr int most = 1 << 29;
constexpr Rect everything{-most, -most, 2 * most, 2 * most};

constexpr std::uint8_t unwritten = 0xFF;  // interpreted as costs, these bytes are 255, 65535 or NaN

// Throws Error(call) if a function wrote no result. Costs that the function did not write are treated as missing, or as
// 255.
void check_written(const AnyView& made, const std::string& name) {
  const std::ptrdiff_t row_bytes = static_cast<std::ptrdiff_t>(made.row_elements()) * bytes_of(made.element);
  for (int y = 0; y < made.height; ++y) {
    const auto* row =
        reinterpret_cast<const std::uint8_t*>(made.memory) + (made.offset + y * made.pitch) * bytes_of(made.element);
    if (std::any_of(row, row + row_bytes, [](std::uint8_t byte) { return byte != unwritten; })) return;
  }
  throw Error(ErrorCategory::call, text("the stage '", name, "' wrote no costs; it must fill `made`"));
}

// Marks an output as not written.
template <On on>
void blank(const Call<on>& c, const AnyView& made) {
  if (made.empty()) return;
  const int bytes = bytes_of(made.element);
  if constexpr (on == On::gpu)
    c.worker().fill({made.memory, made.offset * bytes}, static_cast<std::size_t>(made.bytes()), unwritten);
  else
    for (int y = 0; y < made.height; ++y)
      std::fill_n(reinterpret_cast<std::uint8_t*>(made.memory) + (made.offset + y * made.pitch) * bytes,
                  static_cast<std::ptrdiff_t>(made.row_elements()) * bytes, unwritten);
}

// Runs the function of the caller for the device. Outputs that it does not write stay unwritten.
template <class Own, On on>
void run(const Call<on>& c, const char* made) {
  const auto& own = c.template as<Own>();
  UserCall call = call_of(c);
  blank(c, c.output(made));
  if constexpr (on == On::gpu) {
    c.worker().with_native([&](gpu::Handle queue) {
      call.stream = queue;
      call_guarded(own, [&] { own.gpu(call); });
    });
  } else {
    call_guarded(own, [&] { own.cpu(call); });
  }
}

template <On on>
void run_on_host(const Call<on>& c) {
  run<UserStage>(c, "costs");
  const AnyView made = c.output("costs");
  if (!made.empty()) check_written(made, c.template as<UserStage>().name);
  make_consistent(c.template image<float>("disparity"), c.template image<std::uint8_t>("validity"));
}

void run_on_gpu(const Call<On::gpu>& c) {
  run<UserStage>(c, "costs");
  make_consistent(c.image<float>("disparity"), c.image<std::uint8_t>("validity"), c.worker());
}

// The bytes of a disparity that is not written are NaN.
template <On on>
void run_method(const Call<on>& c) {
  run<UserMethod>(c, "disparity");
}

Element element_made(const UserStage& stage) { return element_of(stage.makes); }

Ports ports_of_cost(const UserStage& stage) {
  return {in("image", both), if_there("mask", both), out_volume("costs", element_made(stage))};
}
Ports ports_of_filter(const UserStage& stage) {
  const auto& takes = stage.takes;
  return {in_volume("costs", takes ? std::vector{element_of(*takes)} : std::vector<Element>()), in("image", both),
          if_there("mask", both), out_volume("costs", element_made(stage))};
}

template <class Own>
void check(const Shape& s) {
  const auto& own = s.as<Own>();
  const bool on_gpu = s.target.device == On::gpu;
  if (on_gpu ? !own.gpu : !own.cpu)
    throw Error(ErrorCategory::call, text(who(own), " has no function for ", on_gpu ? "a GPU" : "the cpu",
                                          "; set such a function, or plan for ", on_gpu ? "the cpu" : "a GPU"));
}

// Returns the largest cost of a type: the largest integer, or 1 for float unless the stage specifies another value.
double largest_of(PixelType type) { return type == PixelType::u8 ? 255 : type == PixelType::u16 ? 65535 : 1; }

Rect required_input(const UserStage& stage, const Rect& output) {
  if (!stage.required_input) return output;
  const Rect needed = call_guarded(stage, [&] { return stage.required_input(output); });
  const auto ends_before = [](std::int64_t a, int a_length, std::int64_t b, int b_length) {
    return a + a_length < b + b_length;
  };
  if (needed.x > output.x || needed.y > output.y || ends_before(needed.x, needed.width, output.x, output.width) ||
      ends_before(needed.y, needed.height, output.y, output.height))
    throw Error(ErrorCategory::call, text(who(stage), " returned the required input ", needed.x, ",", needed.y, ",",
                                          needed.width, ",", needed.height, " for the output ", output.x, ",", output.y,
                                          ",", output.width, ",", output.height, "; it must contain the output"));
  return intersect(needed, everything);
}

StageDescriptor entry(Slot slot, const char* name, const PortList& ports) {
  return {.slot = slot,
          .name = name,
          .title = name,
          .parameters = UserStage{},
          .ports = ports,
          .functions = {run_on_host<On::oracle>, run_on_host<On::cpu>, run_on_gpu},
          .required_input = required_input,
          .check = [](const Shape& s) { check<UserStage>(s); },
          .facets = {Costs{.units =
                               [](const UserStage& s) {
                                 return CostUnits{.largest = s.largest > 0 ? s.largest : largest_of(s.makes)};
                               }},
                     UserFunction{.title = [](const UserStage& stage) { return stage.name; }}}};
}

// Computes the maps of the left view and, if it is needed, the map of the right view.
void match(Builder& b, Images& images, const DisparityRange& range, Maps& maps) {
  const PipelineData& p = b.pipeline();
  const auto lower = [&](Maps& made, bool from_right) {
    Scope scope{images, made, b.context_of(seen_from(range, from_right), images)};
    scope.context.from_right = from_right;
    b.run(p.cost, scope);
    b.run(registry().with<MapCheck>(), {}, scope);
  };
  const auto right = maps.extract("right");
  if (!right.empty()) {
    Maps of_right{{"disparity", right.mapped()}, {"validity", b.image(images.size, Element::u8)}};
    lower(of_right, true);
  }
  lower(maps, false);
  if (!right.empty()) maps["right"] = right.mapped();
}

// Rejects stages that the method replaces, and outputs that it does not compute.
void check_method(const PipelineData& p, const Request& request) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCategory::call, text("the method '", p.method, "' ", why));
  };
  for (const SlotOfOne& one : slots_of_one) {
    const bool keeps = one.slot == Slot::prepare || one.slot == Slot::confidence || one.slot == Slot::density;
    if (p.*one.stage && !keeps && one.stage != &PipelineData::cost)
      refuse(text("has no slot '", one.name, "', whose stage would have no effect; leave the slot empty"));
  }
  if (request.stripe) refuse("reads whole images, so it cannot be matched in stripes; match the whole image");
  if (request.requests_costs() || !request.probes.empty())
    refuse("computes no costs, which are requested; request other outputs");
}

constexpr Lowering method_lowering{.applies = [](const PipelineData&, const Request&) { return true; }, .match = match};

Ports ports_of_method(const UserMethod& method) {
  Ports ports{in("image", both), if_there("mask", both), wanted("disparity", Element::f32),
              wanted("right", Element::f32)};
  if (method.rates) ports.push_back(wanted("confidence", Element::f32));
  return ports;
}

StageDescriptor method_entry() {
  return {
      .slot = Slot::cost,
      .name = "user_method",
      .title = "user_method",
      .parameters = UserMethod{},
      .ports = ports_of_method,
      .functions = {run_method<On::oracle>, run_method<On::cpu>, run_method<On::gpu>},
      .required_input = [](const UserMethod&, const Rect&) { return everything; },
      .global_support = true,
      .check = [](const Shape& s) { check<UserMethod>(s); },

      .check_pipeline = check_method,
      .facets = {UserFunction{.title = [](const UserMethod& method) { return method.name; }}, OwnMethod{},
                 &method_lowering},
  };
}

}  // namespace

void register_stage(Registry& registry) {
  static const StageDescriptor entries[] = {
      entry(Slot::cost, "user_cost", ports_of_cost), entry(Slot::aggregation, "user_aggregation", ports_of_filter),
      entry(Slot::optimisation, "user_optimisation", ports_of_filter),
      entry(
          Slot::refinement, "user_refinement",
          {change("disparity"), change("validity"), in("image", both), if_there("mask", both), if_there("confidence")}),
      method_entry()};
  for (const StageDescriptor& one : entries) registry.add_own(one);
}

}  // namespace user_stage
}  // namespace stereopsis
