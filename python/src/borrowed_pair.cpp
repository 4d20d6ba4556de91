// Images of a pair, on the host or on one GPU, and the stream that they are matched in.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "arrays.hpp"
#include "stereopsis/formats.hpp"

namespace stereopsis::python {
namespace {

nb::object kind_of(const AnyImageView& view, const std::optional<PixelFormat>& format = {}) {
  if (view.data == nullptr) return nb::none();
  const Size size = format ? picture_size(view, *format) : view.size();
  return nb::make_tuple(size.height, size.width, format ? 3 : view.channels, dtype_of(view.type));
}

std::string place_of(const BorrowedArray& lent) {
  return lent.device().empty() ? "the memory of the host" : lent.device();
}

// Returns the name of an input in Python.
std::string python_name(const Input& input) {
  if (input.kind == InputKind::volume) return "volume";
  const std::string name = input.name;
  return input.kind == InputKind::map ? "maps['" + name.substr(name.find('_') + 1) + "']" : name;
}

// Sets an input of a pair to the array, which is checked for the kind of the input.
void place(AnyImageView& to, const BorrowedArray& array, const Input& input, int bit_depth, const StereoPair& pair) {
  to = input.kind == InputKind::volume ? array.volume() : array.image(bit_depth, pair.format);
}
void place(ImageView<const std::uint8_t>& to, const BorrowedArray& array, const Input& input, int, const StereoPair&) {
  to = input.kind == InputKind::mask ? array.mask() : array.validity();
}
void place(ImageView<const float>& to, const BorrowedArray& array, const Input&, int, const StereoPair&) {
  to = array.disparity();
}
void place(ImageView<const std::uint16_t>& to, const BorrowedArray& array, const Input&, int, const StereoPair&) {
  to = array.paths();
}

}  // namespace

BorrowedPair::BorrowedPair(const nb::dict& inputs, int bit_depth, const std::string& colour, nb::handle stream_) {
  stream = stream_of(stream_);
  pair.format = format_of(colour);
  lent.reserve(input_table.size());
  const auto array_of = [&](const Input& input) {
    const std::string name = python_name(input);
    const nb::object array = inputs.contains(name.c_str()) ? nb::object(inputs[name.c_str()]) : nb::none();
    return array.is_none() ? nullptr : &lent.emplace_back(array, name, stream);
  };
  std::array<const BorrowedArray*, input_table.size()> arrays{};
  std::ranges::transform(input_table, arrays.begin(), array_of);
  if ((arrays[0] == nullptr) != (arrays[1] == nullptr)) refuse("one image of the pair is None; pass both");
  check_devices();
  for_each_input([&](std::size_t row, auto field) {
    const BorrowedArray* const array = arrays[row];
    if (array == nullptr) return;
    if constexpr (!requires(DevicePair & there) { field(there); })
      if (!array->device().empty())
        refuse(array->name() + " is in memory of " + array->device() + "; copy it to the host");
    place(field(pair), *array, input_table[row], bit_depth, pair);
  });
  if (pair.left.data == nullptr && pair.costs.data == nullptr && pair.maps.disparity.empty())
    refuse("left and right are None; pass two images, a cost volume, or maps that are refined without images");
  if (!stream_.is_none() && device.empty())
    refuse("stream= applies to arrays on a GPU, but the passed arrays are in host memory; leave stream= out");
}

// Checks that all arrays are on one device. __cuda_array_interface__ does not name the GPU.
void BorrowedPair::check_devices() {
  const BorrowedArray* first = nullptr;
  for (const BorrowedArray& array : lent) {
    if (first == nullptr) first = &array;
    const bool on_gpus = !array.device().empty() && !first->device().empty();
    const bool alike = array.device() == first->device() ||
                       (on_gpus && (array.device() == unknown_gpu || first->device() == unknown_gpu));
    if (!alike)
      refuse(first->name() + " is in " + place_of(*first) + " and " + array.name() + " in " + place_of(array) +
             "; copy all to one device");
    if (first->device() == unknown_gpu) first = &array;
  }
  if (first != nullptr) device = first->device();
}

std::vector<std::pair<std::string, AnyImageView>> BorrowedPair::inputs() const {
  std::vector<std::pair<std::string, AnyImageView>> views;
  for_each_input([&](std::size_t row, auto field) {
    views.emplace_back(python_name(input_table[row]), AnyImageView(field(pair)));
  });
  return views;
}

void BorrowedPair::copy_images(std::array<std::vector<std::byte>, 2>& memory) {
  const auto copy = [](AnyImageView& view, std::vector<std::byte>& to) {
    const auto item = static_cast<std::size_t>(bytes_of(view.type)), row = item * view.width * view.channels;
    to.resize(row * view.height);
    const auto* from = static_cast<const std::byte*>(view.data);
    for (int y = 0; y < view.height; ++y)
      std::memcpy(to.data() + row * y, from + static_cast<std::ptrdiff_t>(item) * view.pitch * y, row);
    view.data = to.data();
    view.pitch = static_cast<std::ptrdiff_t>(view.width) * view.channels;
  };
  {
    const nb::gil_scoped_release release;
    copy(pair.left, memory[0]);
    copy(pair.right, memory[1]);
  }
  std::erase_if(lent, [](const BorrowedArray& array) { return array.name() == "left" || array.name() == "right"; });
}

DevicePair BorrowedPair::device_pair() const {
  DevicePair there;
  there.format = pair.format;
  there.row_alignment = pair.row_alignment;
  for_each_input([&](std::size_t, auto field) {
    if constexpr (requires { field(there); }) field(there) = on_device(field(pair));
  });
  return there;
}

// For maps without images, the kind is that of images of the maps' size.
nb::tuple BorrowedPair::kind() const {
  const auto& maps = pair.maps.disparity;
  const bool alone = pair.left.data == nullptr && !maps.empty();
  return nb::make_tuple(
      alone ? nb::make_tuple(maps.height, maps.width, pair.format ? 3 : 1, "uint8") : kind_of(pair.left, pair.format),
      kind_of(pair.costs), device);
}

std::optional<std::pair<float, float>> BorrowedPair::float_limits() const {
  if (is_on_device() || pair.left.type != PixelType::f32 || pair.left.empty()) return {};
  const auto view = pair.left.as<float>();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::pair limits(infinity, -infinity);
  for (int y = 0; y < view.height; ++y)
    for (const float* v = view.row(y); v != view.row(y) + std::ptrdiff_t{view.width} * view.channels; ++v)
      if (std::isfinite(*v)) limits = {std::min(limits.first, *v), std::max(limits.second, *v)};
  return limits;
}

std::optional<PixelFormat> format_of(const std::string& colour) {
  constexpr std::array names{"bgr", "rgba", "bgra", "nv12", "bayer_rggb", "bayer_bggr", "bayer_grbg", "bayer_gbrg"};
  if (colour == "rgb") return {};
  const auto found = std::ranges::find(names, colour);
  if (found == names.end())
    refuse("color='" + colour +
           "' is not allowed; it must be rgb, bgr, rgba, bgra, nv12 or a Bayer format such as bayer_rggb");
  return static_cast<PixelFormat>(found - names.begin());
}

DeviceImageView on_device(const AnyImageView& view) {
  if (view.data == nullptr) return {};
  return {reinterpret_cast<std::uint64_t>(view.data),
          0,
          view.type,
          view.width,
          view.height,
          view.channels,
          view.pitch,
          view.bit_depth};
}

std::uint64_t stream_of(nb::handle stream) {
  if (stream.is_none()) return dlpack::default_stream;
  nb::object number = nb::borrow(stream);
  if (nb::hasattr(stream, "__cuda_stream__")) {
    number = stream.attr("__cuda_stream__")()[1];
  } else {
    for (const char* name : {"cuda_stream", "ptr", "handle", "value"})  // PyTorch's, CuPy's, Numba's, of ctypes
      if (nb::hasattr(number, name)) number = number.attr(name);
  }
  if (number.is_none()) return dlpack::default_stream;
  std::uint64_t found = 0;
  if (!PyLong_Check(number.ptr()) || !nb::try_cast(number, found))
    refuse("stream=" + text_of(nb::repr(stream)) +
           " is not a stream; pass a stream of PyTorch, CuPy or Numba, an object with __cuda_stream__, or the address "
           "of a stream");
  return found == 0 ? dlpack::default_stream : found;
}

}  // namespace stereopsis::python
