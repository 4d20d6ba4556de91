#include "device_arrays.hpp"

#include <algorithm>
#include <limits>

#include "bindings.hpp"

namespace stereopsis::python {
namespace {

// Rows without padding, as all frameworks take them.
DeviceImage make_image(const std::string& device, const DeviceImageView& shape) {
  const std::int64_t elements = std::int64_t{shape.width} * shape.height * shape.channels;
  if (elements > std::numeric_limits<int>::max())
    refuse("a result of " + std::to_string(elements) + " elements cannot be allocated on a GPU; pass an array in out=");
  return DeviceImage(device, Size{static_cast<int>(elements), 1}, shape.type);
}

int ordinal_of(const std::string& device) { return std::stoi(device.substr(device.find(':') + 1)); }

// The owners of an exported array, kept until the consumer releases it. The next pair in this memory waits for what the
// consumer's stream did before.
struct Kept {
  Kept(std::shared_ptr<OutputBuffers> buffers, std::shared_ptr<OutputBuffer> buffer, std::uint64_t reader)
      : buffers(std::move(buffers)), buffer(std::move(buffer)), reader(reader) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  std::shared_ptr<OutputBuffers> buffers;
  std::shared_ptr<OutputBuffer> buffer;
  std::uint64_t reader;
  std::int64_t shape[3], strides[3];

  ~Kept() {
    if (reader == buffer->stream) return;
    try {
      const auto mark = buffers->take_mark();
      mark->take(reader);
      buffer->released.push_back(mark);
    } catch (const std::exception&) {  // that stream is gone, and all that it did is done
    }
  }
};

template <class Managed>
void release(Managed* managed) {
  if (!Py_IsInitialized()) return;  // the process ends
  const nb::gil_scoped_acquire lock;
  delete static_cast<Kept*>(managed->context);
  delete managed;
}

nb::dlpack::dtype dtype_in_dlpack(PixelType type) {
  switch (type) {
    case PixelType::u8: return nb::dtype<std::uint8_t>();
    case PixelType::u16: return nb::dtype<std::uint16_t>();
    default: return nb::dtype<float>();
  }
}

const char* typestr(PixelType type) { return type == PixelType::u8 ? "|u1" : type == PixelType::u16 ? "<u2" : "<f4"; }

}  // namespace

OutputBuffers::OutputBuffers(std::string device, std::vector<DeviceImageView> shapes)
    : device_(std::move(device)), shapes_(std::move(shapes)) {}

std::shared_ptr<StreamMark> OutputBuffers::take_mark() {
  for (const auto& mark : marks_)
    if (mark.use_count() == 1) return mark;
  return marks_.emplace_back(std::make_shared<StreamMark>(device_));
}

std::shared_ptr<OutputBuffer> OutputBuffers::take(std::uint64_t stream) {
  const auto free = std::ranges::find_if(
      buffers_, [&](const auto& buffer) { return buffer.use_count() == 1 && buffer->stream == stream; });
  if (free != buffers_.end()) {
    for (const auto& mark : (*free)->released) mark->hold(stream);
    (*free)->released.clear();
    return *free;
  }
  auto buffer = std::make_shared<OutputBuffer>();
  buffer->stream = stream;
  buffer->images.resize(shapes_.size());
  return buffers_.emplace_back(std::move(buffer));
}

DeviceImageView OutputBuffers::image(OutputBuffer& buffer, std::size_t i) const {
  DeviceImageView view = shapes_[i];
  if (buffer.images[i].view().empty()) buffer.images[i] = make_image(device_, view);
  view.memory = buffer.images[i].view().memory;
  return view;
}

nb::tuple DeviceArray::shape() const {
  if (ndim() == 2) return nb::make_tuple(view_.height, view_.width);
  return nb::make_tuple(view_.height, view_.width, view_.channels);
}

nb::tuple DeviceArray::dlpack_device() const {
  return nb::make_tuple(static_cast<int>(dlpack::cuda), ordinal_of(device()));
}

void DeviceArray::check_open() const {
  if (buffer_->ended) refuse("the array of a stage is valid only during the call of the stage; keep a copy");
}

template <class Managed>
nb::capsule DeviceArray::export_as(const char* name, std::uint64_t reader) const {
  auto kept = std::make_unique<Kept>(buffers_, buffer_, reader);
  const std::int64_t shape[] = {view_.height, view_.width, view_.channels},
                     strides[] = {view_.pitch, view_.channels, 1};
  std::copy(shape, shape + 3, kept->shape);
  std::copy(strides, strides + 3, kept->strides);
  auto managed = std::make_unique<Managed>();
  managed->tensor = {reinterpret_cast<void*>(view_.memory),
                     {dlpack::cuda, ordinal_of(device())},
                     ndim(),
                     dtype_in_dlpack(view_.type),
                     kept->shape,
                     kept->strides,
                     0};
  managed->deleter = release<Managed>;
  if constexpr (requires { managed->major; }) {
    managed->major = 1;
    managed->minor = 0;
    managed->flags = 0;
  }
  managed->context = kept.release();
  // A consumer renames the capsule. If nobody has taken it, its destructor releases the memory.
  PyObject* capsule = PyCapsule_New(managed.get(), name, [](PyObject* object) {
    for (const char* untaken : {"dltensor", "dltensor_versioned"})
      if (PyCapsule_IsValid(object, untaken)) {
        auto* m = static_cast<Managed*>(PyCapsule_GetPointer(object, untaken));
        m->deleter(m);
      }
  });
  if (capsule == nullptr) {
    delete static_cast<Kept*>(managed->context);
    throw nb::python_error();
  }
  managed.release();
  return nb::steal<nb::capsule>(capsule);
}

// `stream` as DLPack has it: None is the default one, −1 asks for no order.
nb::capsule DeviceArray::to_dlpack(nb::handle stream, nb::handle max_version, nb::handle device,
                                   nb::handle copy) const {
  check_open();
  if (!device.is_none() && !device.equal(dlpack_device()))
    throw nb::buffer_error(
        ("it is on " + this->device() + ", and DLPack does not copy it to another device; use .to_numpy()").c_str());
  if (!copy.is_none() && nb::cast<bool>(copy))
    throw nb::buffer_error("DLPack does not copy this array; copy the imported array instead");
  std::uint64_t reader = dlpack::default_stream;
  std::int64_t number = 0;
  const bool unordered = nb::try_cast(stream, number) && number == -1;
  if (unordered)
    reader = buffer_->stream;
  else
    reader = stream_of(stream);
  if (reader != buffer_->stream && buffer_->done) buffer_->done->hold(reader);
  const bool versioned = !max_version.is_none() && nb::cast<int>(nb::object(max_version[0])) >= 1;
  return versioned ? export_as<dlpack::VersionedManaged>("dltensor_versioned", reader)
                   : export_as<dlpack::Managed>("dltensor", reader);
}

// The interface does not name the consumer's stream, and the consumer keeps this object as long as the memory. When the
// object goes, the default stream is marked, which waits for the work in all streams but non-blocking ones.
nb::dict DeviceArray::interface() {
  check_open();
  if (!lent_) lent_ = std::make_shared<Kept>(buffers_, buffer_, dlpack::default_stream);
  nb::dict d;
  d["version"] = 3;
  d["shape"] = shape();
  d["typestr"] = typestr(view_.type);
  d["data"] = nb::make_tuple(view_.memory, false);
  const int item = view_.type == PixelType::u8 ? 1 : view_.type == PixelType::u16 ? 2 : 4;
  if (view_.pitch == std::ptrdiff_t{view_.width} * view_.channels)
    d["strides"] = nb::none();
  else if (ndim() == 2)
    d["strides"] = nb::make_tuple(view_.pitch * item, item);
  else
    d["strides"] = nb::make_tuple(view_.pitch * item, view_.channels * item, item);
  d["stream"] = buffer_->stream;
  return d;
}

nb::object DeviceArray::to_numpy() const {
  const auto copy = [&]<class T>(const Image<T>&) {
    const auto kept = std::find_if(buffer_->images.begin(), buffer_->images.end(),
                                   [&](const DeviceImage& image) { return image.view().memory == view_.memory; });
    if (kept == buffer_->images.end())
      refuse("to_numpy() does not support arrays of a stage call; use torch.from_dlpack(array).cpu()");
    Image<T> flat(Size{view_.width * view_.height * view_.channels, 1});
    {
      const nb::gil_scoped_release release;
      if (buffer_->done) buffer_->done->wait();
      kept->download(flat);
    }
    return nb::object(give(std::move(flat)).attr("reshape")(shape()));
  };
  switch (view_.type) {
    case PixelType::u8: return copy(Image<std::uint8_t>());
    case PixelType::u16: return copy(Image<std::uint16_t>());
    default: return copy(Image<float>());
  }
}

void bind_device_arrays(nb::module_& m) {
  nb::class_<DeviceArray>(m, "DeviceArray",
                          "An array of a result on a GPU.\n\n"
                          "torch.from_dlpack, cupy.from_dlpack, jax.numpy.from_dlpack and numba.cuda.as_cuda_array "
                          "import the array without\n"
                          "a copy. Later work in the stream of the importing library waits until the array is written.")
      .def_prop_ro("shape", &DeviceArray::shape, nb::sig("def shape(self) -> tuple[int, ...]"), "Shape of the array.")
      .def_prop_ro("dtype", &DeviceArray::dtype, "Type of the elements, such as \"float32\".")
      .def_prop_ro("device", &DeviceArray::device, "Name of the device, such as \"cuda:0\".")
      .def_prop_ro("stream", &DeviceArray::stream,
                   "Address of the CUDA stream that writes the array; 1 is the default stream.")
      .def("to_numpy", &DeviceArray::to_numpy, "Waits until the array is written, and returns a copy on the host.",
           nb::sig("def to_numpy(self) -> numpy.typing.NDArray[Any]"))
      .def("__dlpack__", &DeviceArray::to_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __dlpack__(self, *, stream: object | None = None, max_version: tuple[int, int] | None = None, "
                   "dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object"))
      .def("__dlpack_device__", &DeviceArray::dlpack_device, nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def_prop_ro("__cuda_array_interface__", &DeviceArray::interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, Any]"))
      .def(
          "__array__",
          [](const DeviceArray& a, nb::args, nb::kwargs) -> nb::object {
            throw nb::type_error(("it is on " + a.device() + "; .to_numpy() copies it to the host").c_str());
          },
          nb::sig("def __array__(self, *args: object, **kwargs: object) -> numpy.typing.NDArray[Any]"))
      .def("__repr__", [](const DeviceArray& a) {
        return std::string("<array ") + nb::repr(a.shape()).c_str() + " of " + a.dtype() + " on " + a.device() + ">";
      });
}

}  // namespace stereopsis::python
