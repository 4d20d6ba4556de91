// Images of a pair, on the host or on one GPU, and the stream that they are matched in.
#include <nanobind/stl/string.h>

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

}  // namespace

BorrowedPair::BorrowedPair(nb::handle left_, nb::handle right_, nb::handle mask_left_, nb::handle mask_right_,
                           nb::handle costs_, int bit_depth, const std::string& colour, nb::handle stream_,
                           const nb::dict& beside) {
  stream = stream_of(stream_);
  const auto take = [&](nb::handle array, const char* name) {
    return array.is_none() ? BorrowedArray() : BorrowedArray(array, name, stream);
  };
  left = take(left_, "left");
  right = take(right_, "right");
  mask_left = take(mask_left_, "mask_left");
  mask_right = take(mask_right_, "mask_right");
  costs = take(costs_, "volume");
  if (left.given() != right.given()) refuse("one image of the pair is None; pass both");
  take_beside(beside);
  if (!left.given() && !costs.given() && pair.maps.disparity.empty())
    refuse("left and right are None; pass two images, a cost volume, or maps that are refined without images");
  check_devices();
  if (!stream_.is_none() && device.empty())
    refuse("stream= applies to arrays on a GPU, but the passed arrays are in host memory; leave stream= out");
  pair.format = format_of(colour);
  if (left.given()) pair.left = left.image(bit_depth, pair.format);
  if (right.given()) pair.right = right.image(bit_depth, pair.format);
  pair.mask_left = mask_left.mask();
  pair.mask_right = mask_right.mask();
  if (costs.given()) pair.costs = costs.volume();
}

void BorrowedPair::take_beside(const nb::dict& beside) {
  for (const auto& [key, array] : beside) {
    if (array.is_none()) continue;
    const std::string name = text_of(key);
    const BorrowedArray& lent = lent_beside.emplace_back(array, name);
    if (!lent.device().empty()) refuse(name + " is in memory of " + lent.device() + "; copy it to the host");
    if (name == "paths_above") pair.paths_above = lent.paths();
    if (name == "paths_below") pair.paths_below = lent.paths();
    if (name == "disparity") pair.maps.disparity = lent.disparity();
    if (name == "validity") pair.maps.validity = lent.validity();
    if (name == "right") pair.maps.right = lent.disparity();
    if (name == "confidence") pair.maps.confidence = lent.disparity();
  }
}

// Checks that all arrays are on one device. __cuda_array_interface__ does not name the GPU.
void BorrowedPair::check_devices() {
  const BorrowedArray* first = nullptr;
  for (const BorrowedArray* lent : all()) {
    if (!lent->given()) continue;
    if (first == nullptr) first = lent;
    const bool on_gpus = !lent->device().empty() && !first->device().empty();
    const bool alike = lent->device() == first->device() ||
                       (on_gpus && (lent->device() == unknown_gpu || first->device() == unknown_gpu));
    if (!alike)
      refuse(first->name() + " is in " + place_of(*first) + " and " + lent->name() + " in " + place_of(*lent) +
             "; copy all to one device");
    if (first->device() == unknown_gpu) first = lent;
  }
  if (first != nullptr) device = first->device();
}

std::vector<std::pair<std::string, AnyImageView>> BorrowedPair::inputs() const {
  std::vector<std::pair<std::string, AnyImageView>> views{{"left", pair.left},
                                                          {"right", pair.right},
                                                          {"mask_left", pair.mask_left},
                                                          {"mask_right", pair.mask_right},
                                                          {"volume", pair.costs},
                                                          {"paths_above", pair.paths_above},
                                                          {"paths_below", pair.paths_below}};
  const GivenMaps& maps = pair.maps;
  views.insert(views.end(), {{"maps['disparity']", maps.disparity},
                             {"maps['validity']", maps.validity},
                             {"maps['right']", maps.right},
                             {"maps['confidence']", maps.confidence}});
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
  left = right = BorrowedArray();
}

DevicePair BorrowedPair::device_pair() const {
  return {on_device(pair.left),  on_device(pair.right), on_device(pair.mask_left), on_device(pair.mask_right),
          on_device(pair.costs), pair.format,           pair.row_alignment};
}

// For maps without images, the kind is that of images of the maps' size.
nb::tuple BorrowedPair::kind() const {
  const auto& maps = pair.maps.disparity;
  const bool alone = !left.given() && !maps.empty();
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
