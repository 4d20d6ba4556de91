#include "arrays.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <string_view>

#include "stereopsis/formats.hpp"
#include "stereopsis/mask.hpp"

namespace stereopsis::python {
namespace {

std::string kind_name(nb::handle object) {
  return text_of(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
}

nb::object take(nb::handle object, const char* name) { return nb::getattr(object, name, nb::none()); }

constexpr const char* exchange_attribute = "__dlpack_c_exchange_api__";

// The sentence of the Python exception that is being caught. KeyboardInterrupt and SystemExit go on as they are.
std::string raised(nb::python_error& error) {
  if (!error.matches(PyExc_Exception)) throw;
  return text_of(error.value());
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

}  // namespace

std::string text_of(nb::handle object) {
  const auto bytes = nb::steal<nb::object>([&]() -> PyObject* {
    const auto text = nb::steal<nb::object>(PyObject_Str(object.ptr()));
    return text.is_valid() ? PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace") : nullptr;
  }());
  if (bytes.is_valid()) return PyBytes_AsString(bytes.ptr());
  PyErr_Clear();
  return std::string("<") + nb::type_name(object.type()).c_str() + " without a text>";
}

void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

BorrowedArray::BorrowedArray(nb::handle array, std::string name, std::uint64_t stream) : name_(std::move(name)) {
  if (take_buffer(array) || take_exchange(array)) return;
  if (nb::hasattr(array, "__dlpack__"))
    take_dlpack(array, stream);
  else if (nb::hasattr(array, "__cuda_array_interface__"))
    take_interface(array);
  else if (PyUnicode_Check(array.ptr()) || nb::hasattr(array, "__fspath__"))
    refuse(name_ + " is the name of a file, " + text_of(array) +
           ", and an array is required; read the file with st.read_image() or st.read_disparity()");
  else
    refuse(name_ + " is a " + kind_name(array) +
           ", not an array; pass a NumPy array, or an array with DLPack or __cuda_array_interface__");
}

// 'u' or 'f', and bits of an element; `shown` is asked for what a type that is not taken is called.
template <class F>
void BorrowedArray::set_type(char kind, int bits, F&& shown) {
  if (kind == 'u' && bits == 8)
    type_ = PixelType::u8;
  else if (kind == 'u' && bits == 16)
    type_ = PixelType::u16;
  else if (kind == 'f' && bits == 32)
    type_ = PixelType::f32;
  else
    refuse(name_ + " has the type " + shown() +
           "; it must be uint8, uint16 or float32 (float images are in 8-bit units, 0 to 255), so convert it with "
           ".astype('float32'), or .float() of a tensor");
}

bool BorrowedArray::take_buffer(nb::handle array) {
  if (!PyObject_CheckBuffer(array.ptr())) return false;
  const bool is_plain =
      std::string_view(nb::type_name(array.type()).c_str()) == "ndarray";  // NumPy's, which is not asked more
  if (!is_plain && nb::hasattr(array, "mask"))
    refuse(name_ + " is a masked array; pass the .data of the array, and the mask separately (0 for unusable pixels)");
  struct Buffer {
    ~Buffer() { PyBuffer_Release(&buffer); }  // nothing, where none was got
    Py_buffer buffer{};                       // stays where it is: some exporters point into it
  };
  const auto kept = std::make_shared<Buffer>();
  Py_buffer& buffer = kept->buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
    PyErr_Clear();  // an array on a GPU, perhaps
    return false;
  }
  constexpr bool little = std::endian::native == std::endian::little;
  std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  if (!format.empty() && (format[0] == '=' || format[0] == '@' || format[0] == (little ? '<' : '>')))
    format.remove_prefix(1);
  is_bool_ = format == "?";
  const bool bytes = format == "B" || is_bool_;
  const char kind = bytes || format == "H" ? 'u' : format == "f" ? 'f' : '?';
  // NumPy takes as long to name a dtype as all the rest here takes.
  set_type(kind, 8 * static_cast<int>(buffer.itemsize), [&] {
    const nb::object dtype = take(array, "dtype");
    return dtype.is_none() ? std::string(format) : text_of(dtype);
  });
  data_ = buffer.buf;
  read_only_ = buffer.readonly != 0;
  shape_.assign(buffer.shape, buffer.shape + buffer.ndim);
  if (buffer.strides == nullptr)  // as of arrays of ctypes, which have rows without gaps
    set_strides_in_order();
  else
    strides_.assign(buffer.strides, buffer.strides + buffer.ndim);
  owner_ = kept;
  return true;
}

// PyTorch's __dlpack__ and __dlpack_device__ take about 10 µs for each array; these functions take less than 1 µs. Only
// arrays of integers on a GPU are taken here: floats of PyTorch may require a gradient or be stored with the opposite
// sign, which __dlpack__ rejects.
bool BorrowedArray::take_exchange(nb::handle array) {
  const nb::object capsule = take(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(array.ptr()))), exchange_attribute);
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return false;
  const auto* api = static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  dlpack::VersionedManaged* managed = nullptr;
  if (api->major != 1 || api->tensor_of(array.ptr(), &managed) != 0) {
    PyErr_Clear();  // __dlpack__ says what is wrong
    return false;
  }
  owner_ = std::shared_ptr<void>(managed, [](void* p) {
    if (auto* m = static_cast<dlpack::VersionedManaged*>(p); m->deleter != nullptr) m->deleter(m);
  });
  const dlpack::Tensor& tensor = managed->tensor;
  void* stream = nullptr;
  const bool applies = tensor.device.device_type == dlpack::cuda &&
                       tensor.dtype.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt);
  if (!applies || api->current_stream(tensor.device.device_type, tensor.device.device_id, &stream) != 0) {
    PyErr_Clear();
    owner_.reset();
    return false;
  }
  device_ = "cuda:" + std::to_string(tensor.device.device_id);
  is_tensor_ = nb::hasattr(array, "permute");
  producer_ = stream == nullptr ? dlpack::default_stream : reinterpret_cast<std::uint64_t>(stream);
  read_only_ = (managed->flags & dlpack::read_only) != 0;
  take_tensor(tensor);
  return true;
}

void BorrowedArray::take_dlpack(nb::handle array, std::uint64_t stream) {
  is_tensor_ = nb::hasattr(array, "permute");
  nb::object capsule;
  try {
    const nb::object device = array.attr("__dlpack_device__")();
    std::pair<int, int> kind;
    if (!nb::try_cast(device, kind))
      refuse(name_ + ", a " + kind_name(array) + ", does not support DLPack: __dlpack_device__ returned " +
             text_of(device) + "; it must return (device type, device number)");
    const bool on_gpu = kind.first == dlpack::cuda || kind.first == dlpack::cuda_managed;
    if (!on_gpu && kind.first != dlpack::cpu && kind.first != dlpack::cuda_host)
      refuse(name_ + " is in the memory of a device of DLPack's type " + std::to_string(kind.first) +
             "; it must be in host memory or on CUDA, so copy it first");
    if (on_gpu) device_ = "cuda:" + std::to_string(kind.second);
    const nb::object give = array.attr("__dlpack__"), for_stream = on_gpu ? nb::object(nb::int_(stream)) : nb::none();
    try {
      capsule = give(nb::arg("stream") = for_stream, nb::arg("max_version") = nb::make_tuple(1, 0));
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      capsule = give(nb::arg("stream") = for_stream);  // the protocol before version 1
    }
  } catch (nb::python_error& error) {
    refuse(name_ + ", a " + kind_name(array) + ", does not support DLPack: " + raised(error));
  }
  const auto keep = [&]<class M>(M*, const char* name, const char* used) -> const M* {
    if (!PyCapsule_IsValid(capsule.ptr(), name)) return nullptr;
    auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule.ptr(), name));
    PyCapsule_SetName(capsule.ptr(), used);
    owner_ = std::shared_ptr<void>(managed, [](void* p) {
      if (auto* m = static_cast<M*>(p); m->deleter != nullptr) m->deleter(m);
    });
    return managed;
  };
  if (const auto* m =
          keep(static_cast<dlpack::VersionedManaged*>(nullptr), "dltensor_versioned", "used_dltensor_versioned")) {
    if (m->major > 1)
      refuse(name_ + " uses version " + std::to_string(m->major) + " of DLPack; only version 1 is supported");
    read_only_ = (m->flags & dlpack::read_only) != 0;
    return take_tensor(m->tensor);
  }
  if (const auto* m = keep(static_cast<dlpack::Managed*>(nullptr), "dltensor", "used_dltensor"))
    return take_tensor(m->tensor);
  refuse(name_ + " has a __dlpack__ that does not return a tensor; pass a NumPy array");
}

void BorrowedArray::take_tensor(const dlpack::Tensor& tensor) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(tensor.dtype.code);
  is_bool_ = code == Code::Bool;
  const char kind = tensor.dtype.lanes != 1                                                ? '?'
                    : code == Code::UInt || (code == Code::Bool && tensor.dtype.bits == 8) ? 'u'
                    : code == Code::Float                                                  ? 'f'
                                                                                           : '?';
  constexpr std::array names{"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};  // by DLPack's codes
  const char* name = tensor.dtype.code < names.size() ? names[tensor.dtype.code] : "float";
  set_type(kind, tensor.dtype.bits, [&] { return name + std::to_string(tensor.dtype.bits); });
  const std::int64_t item = tensor.dtype.bits / 8;
  data_ = static_cast<char*>(tensor.data) + tensor.byte_offset;
  shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides == nullptr) return set_strides_in_order();
  strides_.assign(tensor.strides, tensor.strides + tensor.ndim);
  for (std::int64_t& stride : strides_) stride *= item;
}

void BorrowedArray::take_interface(nb::handle array) {
  try {
    const nb::object interface = array.attr("__cuda_array_interface__");
    const auto get = [&](const char* key) { return interface.attr("get")(key); };
    if (!get("mask").is_none()) refuse(name_ + " is a masked array; pass its mask as mask_left or mask_right");
    const std::string type = nb::cast<std::string>(get("typestr"));
    const bool native = type.size() > 2 && (type[0] == '|' || type[0] == '<');
    set_type(native ? (type[1] == 'b' ? 'u' : type[1]) : '?', native ? 8 * std::atoi(type.c_str() + 2) : 0,
             [&] { return type; });
    const auto data = nb::cast<std::pair<std::uint64_t, bool>>(nb::tuple(get("data")));
    data_ = reinterpret_cast<void*>(data.first);
    read_only_ = data.second;
    for (const nb::handle side : nb::tuple(get("shape"))) shape_.push_back(nb::cast<std::int64_t>(side));
    if (const nb::object strides = get("strides"); !strides.is_none())
      for (const nb::handle stride : nb::tuple(strides)) strides_.push_back(nb::cast<std::int64_t>(stride));
    else
      set_strides_in_order();
    if (const nb::object stream = get("stream"); !stream.is_none()) producer_ = nb::cast<std::uint64_t>(stream);
    if (producer_ == 0u)
      refuse(name_ +
             " has the stream 0 in its __cuda_array_interface__; the stream must be None, 1, 2 or the address of a "
             "stream");
    device_ = unknown_gpu;
    owner_ =
        std::shared_ptr<void>(array.inc_ref().ptr(), [](void* p) { nb::handle(static_cast<PyObject*>(p)).dec_ref(); });
  } catch (nb::python_error& error) {
    refuse(name_ + ", a " + kind_name(array) + ", has an invalid __cuda_array_interface__: " + raised(error));
  } catch (const nb::cast_error&) {
    refuse(name_ + ", a " + kind_name(array) +
           ", has an invalid __cuda_array_interface__; pass an array that follows the protocol");
  }
}

void BorrowedArray::set_strides_in_order() {
  strides_.assign(shape_.size(), type_ == PixelType::u8 ? 1 : type_ == PixelType::u16 ? 2 : 4);
  for (int i = ndim() - 2; i >= 0; --i) strides_[i] = strides_[i + 1] * shape_[i + 1];
}

std::string BorrowedArray::shape() const {
  std::string text = "(";
  for (int i = 0; i < ndim(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape_[i]);
  return text + (ndim() == 1 ? ",)" : ")");
}

std::string BorrowedArray::contiguous(const std::string& array) const {
  if (is_tensor_) return array + ".contiguous()";
  return device_.empty() ? "numpy.ascontiguousarray(" + array + ")" : "a contiguous copy of " + array;
}

// Says what to do with a batch, with channels before the rows, and with other shapes that images have elsewhere.
std::string BorrowedArray::shape_advice() const {
  const auto is_channels = [](std::int64_t side) { return side == 1 || side == 3 || side == 4; };
  const auto moved = [&](const std::string& array, const char* axes) {
    return contiguous(array + (is_tensor_ ? ".permute(" : ".transpose(") + axes + ")");
  };
  const std::string one_by_one = device_.empty()
                                     ? "; match its pairs one by one, as in matcher.stream(zip(lefts, rights))"
                                     : "; call the matcher for each pair";
  if (ndim() == 4) {
    const bool channels_first = is_channels(shape_[1]) && !is_channels(shape_[3]);
    if (shape_[0] == 1) return "; pass " + (channels_first ? moved(name_ + "[0]", "1, 2, 0") : name_ + "[0]");
    return "; this is a batch of " + std::to_string(shape_[0]) +
           (channels_first ? " with the channels first, so pass " + moved(name_, "0, 2, 3, 1") : " images") +
           one_by_one;
  }
  if (ndim() != 3) return "";
  if (shape_[2] == 4) return "; for images with alpha, pass color='rgba' (or 'bgra')";
  if (shape_[2] == 2) return "; pass its first channel, " + contiguous(name_ + "[..., 0]");
  if (shape_[0] == 1) return "; pass " + name_ + "[0]";
  if (is_channels(shape_[0])) return "; its channels are first, so pass " + moved(name_, "1, 2, 0");
  return "; this seems to be a batch of " + std::to_string(shape_[0]) + " grey images" + one_by_one;
}

AnyImageView BorrowedArray::view(int channels, int bit_depth) const {
  const std::int64_t item = bytes_of(type_), pixel = channels * item, width = shape_[1], height = shape_[0],
                     row = width * pixel;
  if (width == 0 || height == 0 || channels == 0)
    refuse(name_ + " has the shape " + shape() + ", which has no pixels; height and width must be at least 1");
  if (width > std::numeric_limits<int>::max() / 4 || height > std::numeric_limits<int>::max() / 4)
    refuse(name_ + " has the shape " + shape() + "; height and width must be at most 536870911");
  const bool channels_touch = ndim() == 2 || channels == 1 || strides_[2] == item;
  const bool pixels_touch = width == 1 || strides_[1] == pixel;
  const std::int64_t pitch = height == 1 ? row : strides_[0];
  const bool aligned = reinterpret_cast<std::uintptr_t>(data_) % item == 0 && pitch % item == 0;
  if (!channels_touch || !pixels_touch || pitch < row || !aligned)
    refuse(name_ + " has a layout that is not supported: pixels must be contiguous, in rows from top to bottom; pass " +
           contiguous(name_) +
           (channels == 3 && strides_[2] == -item ? ", or the reversed array with color='bgr'" : ""));
  AnyImageView view;
  view.data = data_;
  view.type = type_;
  view.width = static_cast<int>(width);
  view.height = static_cast<int>(height);
  view.channels = channels;
  view.pitch = pitch / item;
  view.bit_depth = bit_depth != 0 ? bit_depth : type_ == PixelType::u16 ? 16 : 8;
  return view;
}

AnyImageView BorrowedArray::image(int bit_depth, const std::optional<PixelFormat>& format) const {
  if (is_bool_)
    refuse(name_ +
           " has the type bool; it must be uint8, uint16 or float32, so pass a mask as mask_left or mask_right, "
           "or convert the image to uint8 and multiply it by 255");
  if (format) {
    const int channels = ndim() == 3 && shape_[2] <= 4 ? static_cast<int>(shape_[2]) : ndim() == 2 ? 1 : 0;
    if (channels != channels_of(*format))
      refuse(name_ + " has the shape " + shape() + "; an image in the format " + to_string(*format) +
             " must be (height, width" +
             (channels_of(*format) == 1 ? ")" : ", " + std::to_string(channels_of(*format)) + ")") +
             (ndim() == 3 && shape_[2] <= 4 ? "" : shape_advice()));
    const AnyImageView image = view(channels, bit_depth);
    picture_size(image, *format);  // refuses what is none
    return image;
  }
  if (ndim() != 2 && !(ndim() == 3 && (shape_[2] == 1 || shape_[2] == 3)))
    refuse(name_ + " has the shape " + shape() +
           "; an image must be (height, width) or, in colour, (height, width, 3)" + shape_advice());
  return view(ndim() == 2 ? 1 : static_cast<int>(shape_[2]), bit_depth);
}

AnyImageView BorrowedArray::volume() const {
  if (ndim() != 3 || shape_[2] > std::numeric_limits<int>::max() / 4)
    refuse(name_ + " has the shape " + shape() + "; a cost volume must be (height, width, disparities)");
  return view(static_cast<int>(shape_[2]), 0);
}

ImageView<const std::uint8_t> BorrowedArray::bytes(const char* what) const {
  if (ndim() != 2 || type_ != PixelType::u8)
    refuse(name_ + " has the shape " + shape() + " and the type " + dtype_of(type_) + "; " + what);
  return view(1, 0).as<std::uint8_t>();
}

ImageView<const std::uint8_t> BorrowedArray::mask() const {
  if (!given()) return {};
  const ImageView<const std::uint8_t> given_mask =
      bytes("a mask must be (height, width), of bool, or of uint8 with 255 for usable pixels");
  if (!device_.empty()) return given_mask;
  if (!is_bool_) try {
      check_mask(given_mask);
    } catch (const Error& error) {
      refuse(name_ + ": " + error.what());
    }
  const std::uint8_t counts = is_bool_ ? 1 : mask_counts;
  const auto as_it_is = [](std::uint8_t value) { return value == 0 || value == mask_counts; };
  bool usable_as_it_is = true;
  for (int y = 0; y < given_mask.height && usable_as_it_is; ++y)
    usable_as_it_is = std::all_of(given_mask.row(y), given_mask.row(y) + given_mask.width, as_it_is);
  if (usable_as_it_is) return given_mask;
  auto made = std::make_shared<Image<std::uint8_t>>(given_mask.size());
  for (int y = 0; y < given_mask.height; ++y)
    for (int x = 0; x < given_mask.width; ++x) (*made)(x, y) = given_mask(x, y) == counts ? mask_counts : 0;
  made_mask_ = made;
  return *made_mask_;
}

ImageView<const std::uint8_t> BorrowedArray::validity() const {
  return bytes("validity must be (height, width), of uint8");
}

ImageView<const float> BorrowedArray::disparity() const {
  if (ndim() != 2 || type_ != PixelType::f32)
    refuse(name_ + " has the shape " + shape() + " and the type " + dtype_of(type_) +
           "; a disparity map must be (height, width), of float32");
  return view(1, 0).as<float>();
}

ImageView<const std::uint16_t> BorrowedArray::paths() const {
  if (ndim() != 3 || type_ != PixelType::u16)
    refuse(name_ + " has the shape " + shape() + " and the type " + dtype_of(type_) +
           "; path costs must be (kinds of paths, width, disparities), of uint16");
  return view(static_cast<int>(shape_[2]), 0).as<std::uint16_t>();
}

ImageView<const float> BorrowedArray::points() const {
  if (ndim() != 3 || shape_[2] != 3 || type_ != PixelType::f32)
    refuse(name_ + " has the shape " + shape() + " and the type " + dtype_of(type_) +
           "; points must be (height, width, 3), of float32");
  return view(3, 0).as<float>();
}

ImageView<const std::uint8_t> BorrowedArray::image_8() const {
  if (type_ != PixelType::u8) refuse(name_ + " has the type " + dtype_of(type_) + "; it must be uint8");
  return image().as<std::uint8_t>();
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
  for_each_image([&](std::size_t row, auto field) {
    if (const AnyImageView image = field(*matched); !image.empty())
      arrays[output_table[row].name] = lend(image, matched);
  });
  nb::dict probed;
  const char* states[] = {"cost", "aggregated", "optimised"};
  for (std::size_t state = 0; state < matched->probed.size(); ++state)
    if (const AnyImageView rows = matched->probed[state]; !rows.empty()) probed[states[state]] = lend(rows, matched);
  if (probed.size() > 0) arrays["probed"] = probed;
  if (const AnyImageView paths = matched->paths; !paths.empty()) arrays["paths"] = lend(paths, matched);
  nb::list times;
  for (const StageTime& time : matched->times) times.append(nb::make_tuple(time.name, time.ms));
  arrays["times"] = times;
  return arrays;
}

BorrowedArray host_array(nb::handle array, const std::string& name) {
  BorrowedArray lent(array, name);
  if (!lent.device().empty()) refuse(lent.name() + " is on a GPU; copy it to the host first, as a NumPy array");
  return lent;
}

std::int64_t bytes_of(PixelType type) { return type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4; }

bool overlap(const AnyImageView& a, const AnyImageView& b) {
  if (a.empty() || b.empty()) return false;
  struct Rows {
    explicit Rows(const AnyImageView& v)
        : first(reinterpret_cast<std::intptr_t>(v.data)),
          pitch(static_cast<std::intptr_t>(v.pitch) * bytes_of(v.type)),
          bytes(static_cast<std::intptr_t>(v.width) * v.channels * bytes_of(v.type)),
          count(v.height) {}
    std::intptr_t first, pitch, bytes, count;
  };
  const Rows one(a), other(b);
  for (std::intptr_t y = 0; y < one.count; ++y) {
    const std::intptr_t begin = one.first + y * one.pitch, end = begin + one.bytes;
    // The first row of the other one that ends behind `begin`.
    const std::intptr_t before = begin - other.first - other.bytes;
    const std::intptr_t row = before < 0 ? 0 : before / other.pitch + 1;
    if (row < other.count && other.first + row * other.pitch < end) return true;
  }
  return false;
}

const char* dtype_of(PixelType type) {
  switch (type) {
    case PixelType::u8: return "uint8";
    case PixelType::u16: return "uint16";
    default: return "float32";
  }
}

PixelType pixel_type(const std::string& dtype) {
  if (dtype == "uint8") return PixelType::u8;
  if (dtype == "uint16") return PixelType::u16;
  if (dtype == "float32") return PixelType::f32;
  refuse("the type " + dtype + " is not allowed; it must be uint8, uint16 or float32");
}

}  // namespace stereopsis::python
