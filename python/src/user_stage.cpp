#include "user_stage.hpp"

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "device_arrays.hpp"

namespace stereopsis::python {
namespace {

using Sides = std::tuple<int, int, int, int>;
using Bytes = std::vector<std::byte>;

template <class T>
nb::object view_as(const DeviceImageView& v, bool volume, bool written, const std::shared_ptr<Bytes>& memory) {
  const nb::capsule owner(new std::shared_ptr<Bytes>(memory),
                          [](void* p) noexcept { delete static_cast<std::shared_ptr<Bytes>*>(p); });
  T* data = reinterpret_cast<T*>(v.memory) + v.offset;
  const std::size_t shape[] = {static_cast<std::size_t>(v.height), static_cast<std::size_t>(v.width),
                               static_cast<std::size_t>(v.channels)};
  const std::int64_t strides[] = {v.pitch, v.channels, 1};
  const std::size_t ndim = volume || v.channels > 1 ? 3 : 2;
  if (written) return nb::cast(nb::ndarray<nb::numpy, T>(data, ndim, shape, owner, strides));
  return nb::cast(nb::ndarray<nb::numpy, nb::ro, const T>(data, ndim, shape, owner, strides));
}

std::byte* row_of(const DeviceImageView& v, int y) {
  return reinterpret_cast<std::byte*>(v.memory) + (v.offset + y * v.pitch) * bytes_of(v.type);
}

std::size_t row_bytes(const DeviceImageView& v) {
  return static_cast<std::size_t>(bytes_of(v.type)) * v.width * v.channels;
}

void copy_rows(const DeviceImageView& from, const DeviceImageView& to) {
  for (int y = 0; y < from.height; ++y) std::memcpy(row_of(to, y), row_of(from, y), row_bytes(from));
}

// Memory of the arrays of calls on the CPU, by name. The arrays are copies, because a function may keep them, or an array
// that is made of them, and the library reuses and frees its own memory. Used under the GIL.
class HostCopies {
 public:
  // Returns memory that no array of an earlier or concurrent call uses.
  std::shared_ptr<Bytes> take(const char* name, std::size_t bytes) {
    std::shared_ptr<Bytes>& memory = all_[name];
    if (memory.use_count() != 1) memory = std::make_shared<Bytes>();
    memory->resize(bytes);
    return memory;
  }

 private:
  std::map<std::string, std::shared_ptr<Bytes>> all_;
};

// Marks are made once for all calls on a device, and kept until the process ends.
std::shared_ptr<OutputBuffers> marks_of(const std::string& device) {
  static auto& all = *new std::map<std::string, std::shared_ptr<OutputBuffers>>();
  auto& buffers = all[device];
  if (!buffers) buffers = std::make_shared<OutputBuffers>(device, std::vector<DeviceImageView>());
  return buffers;
}

// The function's arguments. On a GPU, it also tells whether somebody still has one of their arrays.
class Arguments {
 public:
  Arguments(const UserCall& call, HostCopies& copies) : copies_(copies) {
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
    const auto add = [&](const char* name, const DeviceImageView& v, bool volume = false, bool written = false) {
      fields[name] = view(name, v, volume, written);
    };
    add("reference", call.reference);
    add("other", call.other);
    add("mask_reference", call.mask_reference);
    add("mask_other", call.mask_other);
    add("costs", call.costs, true);
    add("made", call.made, true, true);
    add("disparity", call.disparity, false, true);
    add("validity", call.validity, false, true);
    add("confidence", call.confidence, false, true);
    fields["first"] = call.range.min;
    fields["count"] = call.range.count;
    fields["from_right"] = call.from_right;
    fields["bit_depth"] = call.reference.bit_depth;
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

  // Copies what the function wrote to the memory of the library.
  void write_back() const {
    for (const Written& one : written_) copy_rows(one.copy, one.target);
  }

  // Called after the function: work that it gave to other streams is ordered before later work in this one.
  bool is_kept() {
    object_ = nb::none();
    if (!buffer_) return false;
    buffer_->ended = true;
    for (const auto& mark : buffer_->released) mark->hold(buffer_->stream);
    return buffer_.use_count() > 1;
  }

 private:
  struct Written {
    DeviceImageView copy, target;
    std::shared_ptr<Bytes> memory;
  };

  nb::object view(const char* name, const DeviceImageView& v, bool volume, bool written) {
    if (v.memory == 0) return nb::none();
    if (buffer_) {
      DeviceImageView at = v;
      at.memory += v.offset * bytes_of(v.type);
      at.offset = 0;
      return nb::cast(DeviceArray(buffers_, buffer_, at));
    }
    const std::shared_ptr<Bytes> memory = copies_.take(name, row_bytes(v) * v.height);
    DeviceImageView copy = v;
    copy.memory = reinterpret_cast<std::uint64_t>(memory->data());
    copy.offset = 0;
    copy.pitch = std::ptrdiff_t{v.width} * v.channels;
    copy_rows(v, copy);
    if (written) written_.push_back({copy, v, memory});
    switch (v.type) {
      case PixelType::u8: return view_as<std::uint8_t>(copy, volume, written, memory);
      case PixelType::u16: return view_as<std::uint16_t>(copy, volume, written, memory);
      default: return view_as<float>(copy, volume, written, memory);
    }
  }

  HostCopies& copies_;
  std::vector<Written> written_;
  std::shared_ptr<OutputBuffers> buffers_;
  std::shared_ptr<OutputBuffer> buffer_;
  nb::object object_;
};

// Frees arrays that only a cycle keeps, such as an exception and the frame that caught it.
void collect_garbage() { nb::module_::import_("gc").attr("collect")(); }

// Throws the exception, within an Error of its category if it is one of the package.
[[noreturn]] void throw_raised(nb::python_error& error) {
  try {
    throw RaisedInPython(error);
  } catch (const RaisedInPython& raised) {
    if (const auto category = category_of(error.value())) std::throw_with_nested(Error(*category, raised.what()));
    throw;
  }
}

std::function<void(const UserCall&)> called(const nb::handle function) {
  return [function = shared_object(function), copies = std::make_shared<HostCopies>()](const UserCall& call) {
    const nb::gil_scoped_acquire lock;
    Arguments arguments(call, *copies);
    try {
      (*function)(arguments.object());
      arguments.write_back();
      if (arguments.is_kept() && (collect_garbage(), arguments.is_kept()))
        refuse("the stage keeps an array of its call, but the array is valid only during the call; keep a copy");
    } catch (nb::python_error& error) {
      // The traceback keeps the function's frames, and these the arrays.
      if (const nb::object trace = nb::borrow(error.traceback()); trace.is_valid() && !trace.is_none())
        nb::module_::import_("traceback").attr("clear_frames")(trace);
      arguments.let_go();
      throw_raised(error);
    }
  };
}

std::function<Rect(const Rect&)> part_needed(nb::handle function) {
  return [function = shared_object(function)](const Rect& r) {
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

std::optional<ErrorCategory> category_of(nb::handle exception) {
  const nb::module_ errors = nb::module_::import_("stereopsis._errors");
  const auto is_a = [&](const char* name) {
    return PyObject_IsInstance(exception.ptr(), errors.attr(name).ptr()) == 1;
  };
  if (is_a("CallError")) return ErrorCategory::call;
  if (is_a("FileError")) return ErrorCategory::file;
  if (is_a("FormatError")) return ErrorCategory::format;
  if (is_a("OutOfMemoryError")) return ErrorCategory::memory;
  if (is_a("DeviceError")) return ErrorCategory::device;
  if (is_a("Error")) return ErrorCategory::unsupported;
  return {};
}

// The sentence of an error of the package needs no name of its class.
std::shared_ptr<nb::object> shared_object(nb::handle object) {
  return {new nb::object(nb::borrow(object)), [](nb::object* o) {
            if (!Py_IsInitialized()) return;  // the process ends
            const nb::gil_scoped_acquire lock;
            delete o;
          }};
}

RaisedInPython::RaisedInPython(nb::python_error& error)
    : std::runtime_error((category_of(error.value()) ? "" : text_of(error.type().attr("__name__")) + ": ") +
                         text_of(error.value())),
      exception_(shared_object(error.value())) {}

void set_stage(Pipeline& pipeline, const std::string& slot, nb::handle function, const std::string& name,
               const std::string& makes, double largest, const std::optional<std::string>& takes,
               nb::handle required_input) {
  UserStage stage{
      .name = name, .cpu = called(function), .gpu = called(function), .makes = pixel_type(makes), .largest = largest};
  if (takes) stage.takes = pixel_type(*takes);
  if (!required_input.is_none()) stage.required_input = part_needed(required_input);
  pipeline.set_stage(slot, std::move(stage));
}

void set_method(Pipeline& pipeline, nb::handle function, const std::string& name) {
  pipeline.set_method({.name = name, .cpu = called(function), .rates = true});
}

}  // namespace stereopsis::python
