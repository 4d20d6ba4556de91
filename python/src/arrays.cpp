#include "arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <limits>
#include <string_view>

namespace stereopsis::python {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

std::string kind_name(nb::handle object) {
  return nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
}

bool on_device(nb::handle object) {
  if (nb::hasattr(object, "__cuda_array_interface__")) return true;
  if (!nb::hasattr(object, "__dlpack_device__")) return false;
  const nb::object device = object.attr("__dlpack_device__")();
  return nb::cast<int>(nb::int_(device[0])) != 1;
}

const char* dtype_of(PixelType type) {
  switch (type) {
    case PixelType::u8: return "uint8";
    case PixelType::u16: return "uint16";
    default: return "float32";
  }
}

template <class T>
nb::object lend_as(const AnyImageView& v, const std::shared_ptr<const void>& owner) {
  using Owner = std::shared_ptr<const void>;
  const nb::capsule capsule(new Owner(owner), [](void* p) noexcept { delete static_cast<Owner*>(p); });
  const std::size_t shape[] = {static_cast<std::size_t>(v.height), static_cast<std::size_t>(v.width),
                               static_cast<std::size_t>(v.channels)};
  const std::int64_t strides[] = {v.pitch, v.channels, 1};
  // The result is Python's own now: it may be written to.
  T* data = static_cast<T*>(const_cast<void*>(v.data));
  return nb::cast(nb::ndarray<nb::numpy, T>(data, v.channels == 1 ? 2 : 3, shape, capsule, strides));
}

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

}  // namespace

Lent::Lent(nb::handle array, std::string name) : name_(std::move(name)) {
  if (on_device(array)) refuse(name_ + " is in the memory of a device; copy it to the host first, as a NumPy array");
  buffer_.reset(new Py_buffer{});
  if (PyObject_GetBuffer(array.ptr(), buffer_.get(), PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    refuse(name_ + " is a " + kind_name(array) + ", not an array; give a NumPy array");
  }
  constexpr bool little = std::endian::native == std::endian::little;
  std::string_view format = buffer_->format == nullptr ? "B" : buffer_->format;
  if (!format.empty() && (format[0] == '=' || format[0] == '@' || format[0] == (little ? '<' : '>')))
    format.remove_prefix(1);
  if (format == "B" || format == "?") {
    type_ = PixelType::u8;
  } else if (format == "H") {
    type_ = PixelType::u16;
  } else if (format == "f") {
    type_ = PixelType::f32;
  } else {
    std::string given(format);
    if (nb::hasattr(array, "dtype")) {
      const nb::object dtype = array.attr("dtype");
      given = nb::str(nb::handle(dtype)).c_str();
    }
    refuse(name_ + " has the type " + given +
           "; it must be uint8, uint16 or float32 (float images are in 8-bit units, 0 to 255): convert it with "
           ".astype(...)");
  }
}

std::string Lent::shape() const {
  std::string text = "(";
  for (int i = 0; i < buffer_->ndim; ++i) text += (i > 0 ? ", " : "") + std::to_string(buffer_->shape[i]);
  return text + (buffer_->ndim == 1 ? ",)" : ")");
}

AnyImageView Lent::view(int channels, int bit_depth) const {
  const Py_ssize_t item = buffer_->itemsize, pixel = channels * item, width = buffer_->shape[1],
                   height = buffer_->shape[0], row = width * pixel;
  if (width == 0 || height == 0 || channels == 0) refuse(name_ + " has the shape " + shape() + " and no pixels");
  if (width > std::numeric_limits<int>::max() / 4 || height > std::numeric_limits<int>::max() / 4)
    refuse(name_ + " has the shape " + shape() + "; height and width must be at most 536870911");
  const Py_ssize_t* strides = buffer_->strides;
  const bool channels_touch = buffer_->ndim == 2 || channels == 1 || strides[2] == item;
  const bool pixels_touch = width == 1 || strides[1] == pixel;
  const Py_ssize_t pitch = height == 1 ? row : strides[0];
  const bool aligned = reinterpret_cast<std::uintptr_t>(buffer_->buf) % item == 0 && pitch % item == 0;
  if (!channels_touch || !pixels_touch || pitch < row || !aligned)
    refuse(name_ +
           " is a view whose pixels do not lie side by side in rows from the top down; give numpy.ascontiguousarray(" +
           name_ + ")" +
           (channels == 3 && strides[2] == -item ? ", or the array that it is a view of with colour='bgr'" : ""));
  AnyImageView view;
  view.data = buffer_->buf;
  view.type = type_;
  view.width = static_cast<int>(width);
  view.height = static_cast<int>(height);
  view.channels = channels;
  view.pitch = pitch / item;
  view.bit_depth = bit_depth != 0 ? bit_depth : type_ == PixelType::u16 ? 16 : 8;
  return view;
}

AnyImageView Lent::image(int bit_depth) const {
  const int n = buffer_->ndim;
  if (n != 2 && !(n == 3 && (buffer_->shape[2] == 1 || buffer_->shape[2] == 3)))
    refuse(name_ + " has the shape " + shape() + "; an image is (height, width) or, in colour, (height, width, 3)");
  return view(n == 2 ? 1 : static_cast<int>(buffer_->shape[2]), bit_depth);
}

AnyImageView Lent::volume() const {
  if (buffer_->ndim != 3 || buffer_->shape[2] > std::numeric_limits<int>::max() / 4)
    refuse(name_ + " has the shape " + shape() + "; a cost volume is (height, width, disparities)");
  return view(static_cast<int>(buffer_->shape[2]), 0);
}

ImageView<const std::uint8_t> Lent::mask() const {
  if (!given()) return {};
  if (buffer_->ndim != 2 || type_ != PixelType::u8)
    refuse(name_ + " has the shape " + shape() + " and the type " + dtype_of(type_) +
           "; a mask is (height, width), of uint8 or bool, and 0 where a pixel is not usable");
  return view(1, 0).as<std::uint8_t>();
}

ImageView<const float> Lent::disparity() const {
  if (buffer_->ndim != 2 || type_ != PixelType::f32)
    refuse(name_ + " has the shape " + shape() + " and the type " + dtype_of(type_) +
           "; a disparity image is (height, width), of float32");
  return view(1, 0).as<float>();
}

LentPair::LentPair(nb::handle left_, nb::handle right_, nb::handle mask_left_, nb::handle mask_right_,
                   nb::handle costs_, int bit_depth, bool bgr) {
  const auto take = [](nb::handle array, const char* name) { return array.is_none() ? Lent() : Lent(array, name); };
  left = take(left_, "left");
  right = take(right_, "right");
  mask_left = take(mask_left_, "mask_left");
  mask_right = take(mask_right_, "mask_right");
  costs = take(costs_, "volume");
  if (left.given() != right.given()) refuse("one image of a pair is None; give both");
  if (!left.given() && !costs.given()) refuse("left and right are None; give two images, or a cost volume");
  if (left.given()) pair.left = left.image(bit_depth);
  if (right.given()) pair.right = right.image(bit_depth);
  pair.mask_left = mask_left.mask();
  pair.mask_right = mask_right.mask();
  if (costs.given()) pair.costs = costs.volume();
  if (!bgr || !left.given()) return;
  left_rgb = rgb_of(pair.left, "left");
  right_rgb = rgb_of(pair.right, "right");
  pair.left = left_rgb;
  pair.right = right_rgb;
}

nb::object lend(const AnyImageView& image, const std::shared_ptr<const void>& owner) {
  switch (image.type) {
    case PixelType::u8: return lend_as<std::uint8_t>(image, owner);
    case PixelType::u16: return lend_as<std::uint16_t>(image, owner);
    default: return lend_as<float>(image, owner);
  }
}

nb::dict arrays_of(const std::shared_ptr<Matched>& matched) {
  nb::dict arrays;
  const auto add = [&](const char* name, const AnyImageView& image) {
    if (!image.empty()) arrays[name] = lend(image, matched);
  };
  add("disparity", matched->disparity);
  add("validity", matched->validity);
  add("right", matched->right);
  add("confidence", matched->confidence);
  add("depth", matched->depth);
  add("points", matched->points);
  add("uncertainty", matched->uncertainty);
  add("rectified", matched->rectified);
  add("cost", matched->cost);
  add("aggregated", matched->aggregated);
  add("optimised", matched->optimised);
  nb::list times;
  for (const StageTime& time : matched->times) times.append(nb::make_tuple(time.name, time.ms));
  arrays["times"] = times;
  return arrays;
}

nb::tuple kind_of(nb::handle array, const std::string& name, bool volume) {
  const Lent lent(array, name);
  const AnyImageView view = volume ? lent.volume() : lent.image();
  return nb::make_tuple(view.height, view.width, view.channels, dtype_of(view.type));
}

PixelType pixel_type(const std::string& dtype) {
  if (dtype == "uint8") return PixelType::u8;
  if (dtype == "uint16") return PixelType::u16;
  if (dtype == "float32") return PixelType::f32;
  refuse("the type " + dtype + " is not allowed; it must be uint8, uint16 or float32");
}

}  // namespace stereopsis::python
