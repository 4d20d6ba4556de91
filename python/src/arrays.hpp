// Arrays between Python and the library, without a copy. Arrays of the host come by the buffer protocol or DLPack, those
// on a GPU by DLPack or __cuda_array_interface__; NumPy arrays go out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "dlpack.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/pair_judge.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis::python {

[[noreturn]] void refuse(const std::string& sentence);  // Error(call)

// Returns str(object) in UTF-8. Lone surrogates, which are in the name of every file that is not UTF-8, become \udcff.
std::string text_of(nb::handle object);

inline constexpr const char* unknown_gpu = "cuda";  // __cuda_array_interface__ does not say which

// An array that Python lends: any strides that the library's views can have, read-only ones too. Made, and done
// with, under the GIL.
class BorrowedArray {
 public:
  BorrowedArray() = default;
  // `name` is for sentences: "left". Its owner makes it ready for `stream`, if it is on a GPU, or says for which stream it
  // is: producer(). Throws Error(call) for what is no array, or one of another type.
  BorrowedArray(nb::handle array, std::string name, std::uint64_t stream = dlpack::default_stream);

  bool given() const { return data_ != nullptr || ndim() > 0; }
  const std::string& name() const { return name_; }
  // "cuda:1", or unknown_gpu; empty for the host's.
  const std::string& device() const { return device_; }
  const std::optional<std::uint64_t>& producer() const { return producer_; }
  bool read_only() const { return read_only_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  PixelType type() const { return type_; }
  std::string shape() const;  // "(480, 640)"

  // (height, width) or (height, width, 3), or as the format has it. A bit depth of 0: all bits of the type.
  AnyImageView image(int bit_depth = 0, const std::optional<PixelFormat>& format = {}) const;
  AnyImageView volume() const;  // (height, width, disparities)
  // (height, width), of uint8 by the rule of stereopsis/mask.hpp, or bool; empty if not given. On the host it is 255 or 0.
  ImageView<const std::uint8_t> mask() const;
  ImageView<const std::uint8_t> validity() const;  // (height, width), of uint8
  ImageView<const float> disparity() const;        // (height, width), of float32
  ImageView<const std::uint16_t> paths() const;    // (kinds, width, disparities), of uint16
  ImageView<const float> points() const;           // (height, width, 3), of float32
  ImageView<const std::uint8_t> image_8() const;   // (height, width) or (height, width, 3), of uint8

 private:
  bool take_buffer(nb::handle array);    // false: it has none
  bool take_exchange(nb::handle array);  // false: its type has no exchange functions, or they do not apply
  void take_dlpack(nb::handle array, std::uint64_t stream);
  void take_tensor(const dlpack::Tensor& tensor);
  void take_interface(nb::handle array);
  template <class F>
  void set_type(char kind, int bits, F&& shown);
  void set_strides_in_order();
  int ndim() const { return static_cast<int>(shape_.size()); }
  std::string contiguous(const std::string& array) const;
  std::string shape_advice() const;
  AnyImageView view(int channels, int bit_depth) const;
  ImageView<const std::uint8_t> bytes(const char* what) const;

  std::string name_, device_;
  std::optional<std::uint64_t> producer_;
  void* data_ = nullptr;
  PixelType type_ = PixelType::u8;
  std::vector<std::int64_t> shape_, strides_;                     // in elements, in bytes
  bool read_only_ = false, is_bool_ = false, is_tensor_ = false;  // is_tensor_: with PyTorch's methods
  mutable std::shared_ptr<const Image<std::uint8_t>> made_mask_;  // set if mask() is not the array itself
  std::shared_ptr<void> owner_;                                   // releases the array
};

// Borrows an array of the host. Throws Error(call) for an array on a GPU.
BorrowedArray host_array(nb::handle array, const std::string& name);

std::int64_t bytes_of(PixelType type);

// Returns (width, height).
inline std::pair<int, int> to_pair(Size size) { return {size.width, size.height}; }

// Returns whether two views on one device have a byte in common. Columns of one array, side by side, have none.
bool overlap(const AnyImageView& a, const AnyImageView& b);

// Returns the same view by its address on a device; an empty one for an empty view.
DeviceImageView on_device(const AnyImageView& view);

// Images of a pair as Python gives them, and what keeps them.
struct BorrowedPair {
  // `inputs` has arrays by their names in Python: the names of input_table, `volume` for costs, and maps['disparity'] and the
  // like for maps that are refined. Inputs that are None do not exist. `colour` is how images lie: format_of().
  BorrowedPair(const nb::dict& inputs, int bit_depth, const std::string& colour, nb::handle stream);

  bool is_on_device() const { return !device.empty(); }
  DevicePair device_pair() const;
  // All images, masks, volumes and maps on the host or the device, by name; views of what was not given are empty.
  std::vector<std::pair<std::string, AnyImageView>> inputs() const;
  // Copies both images into `memory`, and gives the caller's back.
  void copy_images(std::array<std::vector<std::byte>, 2>& memory);
  // Returns ((height, width, channels, dtype) of the images, the same of the costs, device); None for a part that was
  // not given.
  nb::tuple kind() const;
  // Returns the least and the greatest value of a left float image in host memory; nothing for other images.
  std::optional<std::pair<float, float>> float_limits() const;

  std::vector<BorrowedArray> lent;  // the arrays that are given
  StereoPair pair;                  // on a device: where it is there
  std::string device;               // "cuda:0"; "cuda" where that is not known; empty: the host
  std::uint64_t stream = dlpack::default_stream;

 private:
  void check_devices();
};

// "rgb": none; "bgr", "nv12", …
std::optional<PixelFormat> format_of(const std::string& colour);

// Returns the handle of a framework's stream: a number, or an object of PyTorch, CuPy, Numba or with __cuda_stream__.
// None: the default stream.
std::uint64_t stream_of(nb::handle stream);

const char* dtype_of(PixelType type);
PixelType pixel_type(const std::string& dtype);

// A new array over the image's memory, which `owner` keeps: (height, width), or (height, width, channels).
nb::object lend(const AnyImageView& image, const std::shared_ptr<const void>& owner);
template <class ImageType>
nb::object give(ImageType&& image) {
  const auto kept = std::make_shared<std::decay_t<ImageType>>(std::forward<ImageType>(image));
  return lend(AnyImageView(*kept), kept);
}

// Calls f(row, field), as for_each_output does, for the maps, images and volumes that Result has as members.
template <class F>
void for_each_image(F&& f) {
  for_each_output([&](std::size_t row, auto field) {
    const OutputKind kind = output_table[row].kind;
    if (kind == OutputKind::map || kind == OutputKind::picture || kind == OutputKind::volume) f(row, field);
  });
}

// All images that there are, by name: what Result is made of.
nb::dict arrays_of(const std::shared_ptr<Matched>& matched);

}  // namespace stereopsis::python
