// Images of a pair, on the host or on one GPU, and the stream that they are matched in.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "arrays.hpp"

namespace stereopsis::python {
namespace {

AnyImage rgb_of(const AnyImageView& bgr, const std::string& name) {
  if (bgr.channels != 3) refuse(name + " has " + std::to_string(bgr.channels) + " channel; colour='bgr' needs 3");
  return with_pixels(bgr, [&]<class T>(ImageView<const T> from) {
    Image<T> to(from.size(), 3);
    for (int y = 0; y < from.height; ++y)
      for (int x = 0; x < from.width; ++x)
        for (int c = 0; c < 3; ++c) to(x, y, c) = from(x, y, 2 - c);
    AnyImage image(std::move(to));
    image.bit_depth = bgr.bit_depth;
    return image;
  });
}

nb::object kind_of(const AnyImageView& view) {
  if (view.data == nullptr) return nb::none();
  return nb::make_tuple(view.height, view.width, view.channels, dtype_of(view.type));
}

std::string place_of(const Lent& lent) { return lent.device().empty() ? "the memory of the host" : lent.device(); }

}  // namespace

LentPair::LentPair(nb::handle left_, nb::handle right_, nb::handle mask_left_, nb::handle mask_right_,
                   nb::handle costs_, int bit_depth, bool bgr, nb::handle stream_, const nb::dict& beside) {
  stream = stream_of(stream_);
  const auto take = [&](nb::handle array, const char* name) {
    return array.is_none() ? Lent() : Lent(array, name, stream);
  };
  left = take(left_, "left");
  right = take(right_, "right");
  mask_left = take(mask_left_, "mask_left");
  mask_right = take(mask_right_, "mask_right");
  costs = take(costs_, "volume");
  if (left.given() != right.given()) refuse("one image of a pair is None; give both");
  take_beside(beside);
  if (!left.given() && !costs.given() && pair.maps.disparity.empty())
    refuse("left and right are None; give two images, or a cost volume, or maps that are refined without");
  check_devices();
  if (!stream_.is_none() && device.empty())
    refuse("stream= is for arrays on a GPU, and these are in the memory of the host; leave it out");
  if (left.given()) pair.left = left.image(bit_depth);
  if (right.given()) pair.right = right.image(bit_depth);
  pair.mask_left = mask_left.mask();
  pair.mask_right = mask_right.mask();
  if (costs.given()) pair.costs = costs.volume();
  if (!bgr || !left.given()) return;
  if (is_on_device()) refuse("colour='bgr' is for arrays of the host, which are copied; give RGB on a GPU");
  left_rgb = rgb_of(pair.left, "left");
  right_rgb = rgb_of(pair.right, "right");
  pair.left = left_rgb;
  pair.right = right_rgb;
}

void LentPair::take_beside(const nb::dict& beside) {
  for (const auto& [key, array] : beside) {
    if (array.is_none()) continue;
    const std::string name = nb::cast<std::string>(key);
    const Lent& lent = lent_beside.emplace_back(array, name);
    if (!lent.device().empty()) refuse(name + " is in memory of " + lent.device() + "; copy it to the host");
    if (name == "paths_above") pair.paths_above = lent.paths();
    if (name == "paths_below") pair.paths_below = lent.paths();
    if (name == "disparity") pair.maps.disparity = lent.disparity();
    if (name == "validity") pair.maps.validity = lent.mask();
    if (name == "right") pair.maps.right = lent.disparity();
    if (name == "confidence") pair.maps.confidence = lent.disparity();
  }
}

// All in one place. __cuda_array_interface__ does not say which GPU it is.
void LentPair::check_devices() {
  const Lent* first = nullptr;
  for (const Lent* lent : all()) {
    if (!lent->given()) continue;
    if (first == nullptr) first = lent;
    const bool on_gpus = !lent->device().empty() && !first->device().empty();
    const bool alike = lent->device() == first->device() ||
                       (on_gpus && (lent->device() == unknown_gpu || first->device() == unknown_gpu));
    if (!alike)
      refuse(first->name() + " is in " + place_of(*first) + " and " + lent->name() + " in " + place_of(*lent) +
             "; copy them to one place");
    if (first->device() == unknown_gpu) first = lent;
  }
  if (first != nullptr) device = first->device();
}

DevicePair LentPair::device_pair() const {
  return {on_device(pair.left), on_device(pair.right), on_device(pair.mask_left), on_device(pair.mask_right),
          on_device(pair.costs)};
}

// Of maps without images, those that they would have.
nb::tuple LentPair::kind() const {
  const auto& maps = pair.maps.disparity;
  const bool alone = !left.given() && !maps.empty();
  return nb::make_tuple(alone ? nb::make_tuple(maps.height, maps.width, 1, "uint8") : kind_of(pair.left),
                        kind_of(pair.costs), device);
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
    refuse("stream=" + std::string(nb::repr(stream).c_str()) +
           " is no stream; give a stream of PyTorch, CuPy or Numba, one with __cuda_stream__, or its number");
  return found == 0 ? dlpack::default_stream : found;
}

}  // namespace stereopsis::python
