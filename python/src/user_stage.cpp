#include "user_stage.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <map>
#include <tuple>

#include "device_arrays.hpp"

namespace stereopsis::python {
namespace {

using Sides = std::tuple<int, int, int, int>;

// Kept by whoever keeps the function, on any thread.
std::shared_ptr<nb::object> shared(nb::handle function) {
  return {new nb::object(nb::borrow(function)), [](nb::object* o) {
            if (!Py_IsInitialized()) return;  // the process ends
            const nb::gil_scoped_acquire lock;
            delete o;
          }};
}

template <class T>
nb::object view_as(const DeviceImageView& v, bool volume, bool written, const std::shared_ptr<int>& users) {
  ++*users;
  const nb::capsule owner(new std::shared_ptr<int>(users), [](void* p) noexcept {
    auto* left = static_cast<std::shared_ptr<int>*>(p);
    --**left;
    delete left;
  });
  T* data = reinterpret_cast<T*>(v.memory) + v.offset;
  const std::size_t shape[] = {static_cast<std::size_t>(v.height), static_cast<std::size_t>(v.width),
                               static_cast<std::size_t>(v.channels)};
  const std::int64_t strides[] = {v.pitch, v.channels, 1};
  const std::size_t ndim = volume || v.channels > 1 ? 3 : 2;
  if (written) return nb::cast(nb::ndarray<nb::numpy, T>(data, ndim, shape, owner, strides));
  return nb::cast(nb::ndarray<nb::numpy, nb::ro, const T>(data, ndim, shape, owner, strides));
}

// Marks are made once for all calls on a device, and kept until the process ends.
std::shared_ptr<OutputBuffers> marks_of(const std::string& device) {
  static auto& all = *new std::map<std::string, std::shared_ptr<OutputBuffers>>();
  auto& buffers = all[device];
  if (!buffers) buffers = std::make_shared<OutputBuffers>(device, std::vector<DeviceImageView>());
  return buffers;
}

// The function's arguments. It also tells whether somebody still has one of their arrays.
class Arguments {
 public:
  explicit Arguments(const UserCall& call) : call_(call) {
    if (call.stream) {
      if (!device_of_call().starts_with("cuda"))
        refuse("stages in Python run only on the CPU and on CUDA, not on " + device_of_call());
      buffers_ = marks_of(device_of_call());
      buffer_ = std::make_shared<OutputBuffer>();
      buffer_->stream = *call.stream;
      buffer_->done = buffers_->take_mark();
      buffer_->done->take(buffer_->stream);
    }
    nb::dict fields;
    fields["reference"] = view(call.reference);
    fields["other"] = view(call.other);
    fields["mask_reference"] = view(call.mask_reference);
    fields["mask_other"] = view(call.mask_other);
    fields["costs"] = view(call.costs, true);
    fields["made"] = view(call.made, true, true);
    fields["disparity"] = view(call.disparity, false, true);
    fields["validity"] = view(call.validity, false, true);
    fields["confidence"] = view(call.confidence, false, true);
    fields["first"] = call.range.min;
    fields["count"] = call.range.count;
    fields["from_right"] = call.from_right;
    fields["threads"] = call.threads;
    fields["stream"] = call.stream ? nb::object(nb::int_(*call.stream)) : nb::none();
    object_ = nb::module_::import_("stereopsis._stage").attr("StageCall")(**fields);
  }

  nb::object& object() { return object_; }

  // Nobody who still has the object reaches the arrays by it.
  void let_go() {
    for (const char* name :
         {"reference", "other", "mask_reference", "mask_other", "costs", "made", "disparity", "validity", "confidence"})
      nb::setattr(object_, name, nb::none());
  }

  // Called after the function: work that it gave to other streams is ordered before later work in this one.
  bool is_kept() {
    object_ = nb::none();
    if (!buffer_) return *users_ > 0;
    for (const auto& mark : buffer_->released) mark->hold(buffer_->stream);
    return buffer_.use_count() > 1;
  }

 private:
  nb::object view(const DeviceImageView& v, bool volume = false, bool written = false) const {
    if (v.memory == 0) return nb::none();
    if (buffer_) {
      DeviceImageView at = v;
      at.memory += v.offset * (v.type == PixelType::u8 ? 1 : v.type == PixelType::u16 ? 2 : 4);
      at.offset = 0;
      return nb::cast(DeviceArray(buffers_, buffer_, at));
    }
    switch (v.type) {
      case PixelType::u8: return view_as<std::uint8_t>(v, volume, written, users_);
      case PixelType::u16: return view_as<std::uint16_t>(v, volume, written, users_);
      default: return view_as<float>(v, volume, written, users_);
    }
  }

  const UserCall& call_;
  std::shared_ptr<int> users_ = std::make_shared<int>(0);
  std::shared_ptr<OutputBuffers> buffers_;
  std::shared_ptr<OutputBuffer> buffer_;
  nb::object object_;
};

// Frees arrays that only a cycle keeps, such as an exception and the frame that caught it.
void collect_garbage() { nb::module_::import_("gc").attr("collect")(); }

std::function<void(const UserCall&)> called(const nb::handle function) {
  return [function = shared(function)](const UserCall& call) {
    const nb::gil_scoped_acquire lock;
    Arguments arguments(call);
    try {
      (*function)(arguments.object());
      if (arguments.is_kept() && (collect_garbage(), arguments.is_kept()))
        refuse("the stage keeps an array of its call, but the array is valid only during the call; keep a copy");
    } catch (nb::python_error& error) {
      // The traceback keeps the function's frames, and these the arrays.
      if (const nb::object trace = nb::borrow(error.traceback()); trace.is_valid() && !trace.is_none())
        nb::module_::import_("traceback").attr("clear_frames")(trace);
      arguments.let_go();
      throw RaisedInPython(error);
    }
  };
}

std::function<Rect(const Rect&)> part_needed(nb::handle function) {
  return [function = shared(function)](const Rect& r) {
    const nb::gil_scoped_acquire lock;
    try {
      const auto [x, y, w, h] = nb::cast<Sides>((*function)(r.x, r.y, r.width, r.height));
      return Rect{x, y, w, h};
    } catch (nb::python_error& error) {
      try {
        throw RaisedInPython(error);
      } catch (const RaisedInPython& raised) {
        std::throw_with_nested(Error(ErrorCategory::call, std::string("required_input failed with ") + raised.what()));
      }
    } catch (const nb::cast_error&) {
      refuse(
          "required_input must return (x, y, width, height), the region of the images that a region of the result "
          "requires");
    }
  };
}

}  // namespace

std::string& device_of_call() {
  thread_local std::string device;
  return device;
}

RaisedInPython::RaisedInPython(nb::python_error& error)
    : std::runtime_error(std::string(nb::str(error.type().attr("__name__")).c_str()) + ": " +
                         nb::str(error.value()).c_str()),
      exception_(shared(error.value())) {}

void set_stage(Pipeline& pipeline, const std::string& slot, nb::handle function, const std::string& name,
               const std::string& makes, double largest, const std::optional<std::string>& takes,
               nb::handle required_input) {
  UserStage stage{
      .name = name, .cpu = called(function), .gpu = called(function), .makes = pixel_type(makes), .largest = largest};
  if (takes) stage.takes = pixel_type(*takes);
  if (!required_input.is_none()) stage.required_input = part_needed(required_input);
  pipeline.set_stage(slot, std::move(stage));
}

}  // namespace stereopsis::python
