#include "planning/user_stage.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "core/text.hpp"
#include "device/consistent_validity.hpp"
#include "device/gpu/device.hpp"

namespace stereopsis {

template <class T>
ImageView<T> on_host(const DeviceImageView& v) {
  if (v.type != pixel_type_of<T>)
    throw Error(ErrorCategory::call,
                text("a view of ", to_string(v.type), " pixels cannot be read as ", to_string(pixel_type_of<T>)));
  if (v.memory == 0) return {};
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
          .confidence = view_of(s.input("confidence")),
          .threads = s.target.threads};
}

// Calls a function of the caller. Converts every exception to an Error.
template <class F>
auto call_guarded(const std::string& name, F&& function) {
  try {
    return function();
  } catch (const std::exception& e) {
    std::throw_with_nested(  // language bindings find their own exception as the nested exception
        Error(ErrorCategory::call, text("the stage '", name, "' failed: ", e.what())));
  } catch (...) {
    throw Error(
        ErrorCategory::call,
        text("the stage '", name,
             "' threw an object that is not a std::exception; throw stereopsis::Error or another std::exception"));
  }
}

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

template <On on>
void run_on_host(const Call<on>& c) {
  const auto& stage = c.template as<UserStage>();
  UserCall call = call_of(c);
  const AnyView made = c.output("costs");
  for (int y = 0; y < made.height; ++y)
    std::fill_n(reinterpret_cast<std::uint8_t*>(made.memory) + (made.offset + y * made.pitch) * bytes_of(made.element),
                static_cast<std::ptrdiff_t>(made.row_elements()) * bytes_of(made.element), unwritten);
  call_guarded(stage.name, [&] { stage.cpu(call); });
  if (!made.empty()) check_written(made, stage.name);
  make_consistent(c.template image<float>("disparity"), c.template image<std::uint8_t>("validity"));
}

void run_on_gpu(const Call<On::gpu>& c) {
  const auto& stage = c.as<UserStage>();
  UserCall call = call_of(c);
  const AnyView made = c.output("costs");
  if (!made.empty())
    c.worker().fill({made.memory, made.offset * bytes_of(made.element)}, static_cast<std::size_t>(made.bytes()),
                    unwritten);
  c.worker().with_native([&](gpu::Handle queue) {
    call.stream = queue;
    call_guarded(stage.name, [&] { stage.gpu(call); });
  });
  make_consistent(c.image<float>("disparity"), c.image<std::uint8_t>("validity"), c.worker());
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

void check(const Shape& s) {
  const auto& stage = s.as<UserStage>();
  const bool on_gpu = s.target.device == On::gpu;
  if (on_gpu ? !stage.gpu : !stage.cpu)
    throw Error(ErrorCategory::call,
                text("the stage '", stage.name, "' has no function for ", on_gpu ? "a GPU" : "the cpu",
                     "; set such a function, or plan for ", on_gpu ? "the cpu" : "a GPU"));
}

// Returns the largest cost of a type: the largest integer, or 1 for float unless the stage specifies another value.
double largest_of(PixelType type) { return type == PixelType::u8 ? 255 : type == PixelType::u16 ? 65535 : 1; }

StageDescriptor entry(Slot slot, const char* name, const PortList& ports) {
  return {
      .slot = slot,
      .name = name,
      .title = name,
      .parameters = UserStage{},
      .ports = ports,
      .functions = {run_on_host<On::oracle>, run_on_host<On::cpu>, run_on_gpu},
      .required_input = +[](const StageParameters& p, const Rect& output) { return *required_input(p, output); },
      .check = [](const Shape& s) { check(s); },
      .units = [](const UserStage& s) { return CostUnits{.largest = s.largest > 0 ? s.largest : largest_of(s.makes)}; },
      .titled = [](const UserStage& stage) { return stage.name; },
      .capturable = false,
      .counts_in_regions = true};
}

}  // namespace

std::optional<Rect> required_input(const StageParameters& p, const Rect& output) {
  const auto* stage = p.get_if<UserStage>();
  if (stage == nullptr) return {};
  if (!stage->required_input) return output;
  const Rect needed = call_guarded(stage->name, [&] { return stage->required_input(output); });
  const auto ends_before = [](std::int64_t a, int a_length, std::int64_t b, int b_length) {
    return a + a_length < b + b_length;
  };
  if (needed.x > output.x || needed.y > output.y || ends_before(needed.x, needed.width, output.x, output.width) ||
      ends_before(needed.y, needed.height, output.y, output.height))
    throw Error(ErrorCategory::call,
                text("the stage '", stage->name, "' returned the required input ", needed.x, ",", needed.y, ",",
                     needed.width, ",", needed.height, " for the output ", output.x, ",", output.y, ",", output.width,
                     ",", output.height, "; it must contain the output"));
  // No image is larger than this limit. The limit leaves a reserve for later stages, which extend the rectangle.
  constexpr int most = 1 << 29;
  return intersect(needed, {-most, -most, 2 * most, 2 * most});
}

void check(const UserStage& stage, Slot slot) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCategory::call, sentence); };
  if (stage.name.empty() || (!stage.cpu && !stage.gpu))
    refuse("a user-defined stage requires a name, and a function for the cpu or a GPU; set both");
  if (stage.takes && (slot == Slot::cost || slot == Slot::refinement))
    refuse(text("the stage '", stage.name, "' does not filter a volume, so `takes` has no effect; leave `takes` out"));
  if (slot == Slot::refinement && (stage.makes != PixelType::u8 || stage.largest != 0))
    refuse(text("the stage '", stage.name,
                "' does not compute costs, so `makes` and `largest` have no effect; leave them out"));
  const double most = stage.makes == PixelType::f32 ? 1e30 : largest_of(stage.makes);
  if (!(stage.largest >= 0 && stage.largest <= most))
    refuse(text("the stage '", stage.name, "' has the largest cost ", stage.largest, "; for ", to_string(stage.makes),
                " costs it must be 0 to ", most));
}

const StageDescriptor* entry_of(Slot slot) {
  static const StageDescriptor entries[] = {entry(Slot::cost, "user_cost", ports_of_cost),
                                            entry(Slot::aggregation, "user_aggregation", ports_of_filter),
                                            entry(Slot::optimisation, "user_optimisation", ports_of_filter),
                                            entry(Slot::refinement, "user_refinement",
                                                  {change("disparity"), change("validity"), in("image", both),
                                                   if_there("mask", both), if_there("confidence")})};
  const auto found = std::ranges::find_if(entries, [&](const StageDescriptor& e) { return e.slot == slot; });
  return found == std::end(entries) ? nullptr : found;
}

}  // namespace user_stage
}  // namespace stereopsis
