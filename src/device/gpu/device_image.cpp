#include "stereopsis/device_image.hpp"

#include <limits>

#include "core/text.hpp"
#include "device/gpu/device.hpp"

namespace stereopsis {
namespace {

std::size_t bytes_of(PixelType type) { return type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4; }

template <class T>
gpu::View<T> as(const DeviceImageView& v) {
  return {v.memory, v.offset, v.width, v.height, v.channels, v.pitch};
}

}  // namespace

DeviceImageView DeviceImageView::crop(const Rect& r) const {
  DeviceImageView part = *this;
  part.offset += r.y * static_cast<std::int64_t>(pitch) + static_cast<std::int64_t>(r.x) * channels;
  part.width = r.width;
  part.height = r.height;
  return part;
}

struct DeviceImage::State {
  State(gpu::Device& device_, std::size_t bytes) : device(device_), memory(device, bytes) {}

  // Returns the queue for copies, which is created at the first copy.
  gpu::Queue& queue() {
    if (!copies) copies = device.make_queue();
    return *copies;
  }

  gpu::Device& device;
  gpu::Buffer memory;
  std::unique_ptr<gpu::Queue> copies;
};

DeviceImage::DeviceImage() = default;
DeviceImage::~DeviceImage() = default;
DeviceImage::DeviceImage(DeviceImage&&) noexcept = default;
DeviceImage& DeviceImage::operator=(DeviceImage&&) noexcept = default;

DeviceImage::DeviceImage(const std::string& device, Size size, PixelType type, int channels, int bit_depth) {
  if (size.width < 1 || size.height < 1 || channels < 1)
    throw Error(ErrorCategory::call, text("an image on a device cannot have ", size.width, "×", size.height,
                                          " pixels with ", channels, " channels; all three must be at least 1"));
  const std::size_t line = 256 / bytes_of(type), row = static_cast<std::size_t>(size.width) * channels;
  const std::size_t pitch = (row + line - 1) / line * line;
  if (pitch > std::size_t{std::numeric_limits<std::ptrdiff_t>::max()} / bytes_of(type) / size.height)
    throw Error(ErrorCategory::memory,
                text("an image of ", size.width, "×", size.height, " pixels with ", channels,
                     " channels is larger than the address range of a device; use a smaller image"));
  state_ = std::make_unique<State>(gpu::device(device), pitch * size.height * bytes_of(type));
  view_ = {state_->memory.handle(),
           0,
           type,
           size.width,
           size.height,
           channels,
           static_cast<std::ptrdiff_t>(pitch),
           bit_depth};
}

DeviceImage::DeviceImage(const std::string& device, const AnyImageView& pixels)
    : DeviceImage(device, pixels.size(), pixels.type, pixels.channels, pixels.bit_depth) {
  upload(pixels);
}

void DeviceImage::check_fits(const AnyImageView& host) const {
  if (state_ == nullptr)
    throw Error(
        ErrorCategory::call,
        "the image on the device is empty, so nothing can be copied; construct it with a device and a size first");
  const auto& [data, type, width, height, channels, pitch, bit_depth] = host;
  const Size size = host.size();
  if (size != view_.size() || type != view_.type || channels != view_.channels)
    throw Error(ErrorCategory::call,
                text("the image on the device has ", view_.width, "×", view_.height, " pixels, ", to_string(view_.type),
                     ", ", view_.channels, " channels, but the host image has ", size.width, "×", size.height, ", ",
                     to_string(type), ", ", channels, "; both must have the same size, pixel type and channels"));
  if (data == nullptr || pitch < std::int64_t{width} * channels)
    throw Error(ErrorCategory::call,
                text("the host image has ", data == nullptr ? "no pixels (its data is null)" : "rows that overlap",
                     " and a pitch of ", pitch, " elements; pass an image with pixels and a pitch of at least ",
                     std::int64_t{width} * channels));
}

void DeviceImage::upload(const AnyImageView& pixels) {
  check_fits(pixels);
  with_pixels(pixels, [&]<class T>(ImageView<const T> view) { state_->queue().upload(view, as<T>(view_)); });
  state_->queue().wait();
}

template <class T>
void DeviceImage::download_as(ImageView<T> pixels) const {
  check_fits(AnyImageView(pixels));
  state_->queue().download(as<const T>(view_), pixels);
  state_->queue().wait();
}
void DeviceImage::download(ImageView<std::uint8_t> pixels) const { download_as(pixels); }
void DeviceImage::download(ImageView<std::uint16_t> pixels) const { download_as(pixels); }
void DeviceImage::download(ImageView<float> pixels) const { download_as(pixels); }

template <class T>
Image<T> page_locked_image(const std::string& device, Size size, int channels) {
  if (resolve_device(device) == "cpu") return Image<T>(size, channels);
  gpu::Device& there = gpu::device(resolve_device(device));
  return Image<T>(
      size, channels,
      {[&there](std::size_t bytes) { return gpu::allocate_page_locked(there, bytes); }, gpu::release_page_locked});
}
template Image<std::uint8_t> page_locked_image(const std::string&, Size, int);
template Image<std::uint16_t> page_locked_image(const std::string&, Size, int);
template Image<float> page_locked_image(const std::string&, Size, int);

}  // namespace stereopsis
