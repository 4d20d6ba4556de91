// Images in the memory of a device, for matching without transfers, and images of the host that a device's copies reach
// without a detour.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stereopsis/image.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

// A window on pixels in the memory of a device, which somebody else owns. CUDA: memory that the driver knows as this device's, such
// as a framework's own (is_memory_of() in stream_mark.hpp). OpenCL: a buffer of this library's context, as DeviceImage makes it.
struct DeviceImageView {
  std::uint64_t memory = 0;        // CUDA: the address; OpenCL: the cl_mem; 0 is none
  std::int64_t offset = 0;         // of pixel (0, 0), in elements
  PixelType type = PixelType::u8;  // of each channel
  int width = 0;                   // pixels in a row
  int height = 0;                  // rows
  int channels = 1;                // side by side in a pixel
  std::ptrdiff_t pitch = 0;        // elements
  int bit_depth = 8;               // bits that carry the intensity

  bool empty() const { return memory == 0 || width <= 0 || height <= 0; }  // nothing is there
  Size size() const { return {width, height}; }                            // in pixels
  DeviceImageView crop(const Rect&) const;                                 // a window on the same memory
  bool operator==(const DeviceImageView&) const = default;
};

// Owns its pixels in the memory of a GPU.
class DeviceImage {
 public:
  DeviceImage();  // empty
  // On a GPU, by its name; new pixels are not initialised. Throws as resolve_device() and Error(memory).
  DeviceImage(const std::string& device, Size size, PixelType type = PixelType::u8, int channels = 1,
              int bit_depth = 8);
  // A copy of what the view shows, done when this returns.
  DeviceImage(const std::string& device, const AnyImageView& pixels);
  ~DeviceImage();
  DeviceImage(DeviceImage&&) noexcept;
  DeviceImage& operator=(DeviceImage&&) noexcept;

  DeviceImageView view() const { return view_; }  // for matchers, which write to it too
  operator DeviceImageView() const { return view_; }

  // Both wait until the copy is done. The images have this one's size and type. Throws Error(call) for others, and where this
  // image is empty.
  void upload(const AnyImageView& pixels);
  void download(ImageView<std::uint8_t> pixels) const;
  void download(ImageView<std::uint16_t> pixels) const;
  void download(ImageView<float> pixels) const;

 private:
  struct State;
  template <class T>
  void download_as(ImageView<T> pixels) const;
  void check_fits(const AnyImageView& host) const;

  std::unique_ptr<State> state_;
  DeviceImageView view_;
};

// A pair, and its results, on the device.
struct DevicePair {
  DeviceImageView left;                    // as StereoPair has it
  DeviceImageView right;                   // of the same size and type
  DeviceImageView mask_left;               // 255 where a pixel is usable, else 0 (not checked); empty: all are
  DeviceImageView mask_right;              // likewise
  DeviceImageView costs = {};              // a volume, if it was planned: rows without padding
  std::optional<PixelFormat> format = {};  // how both images lie, as Problem::format says; none: grey or RGB

  bool operator==(const DevicePair&) const = default;
};
// Where the results go: views of memory that is there; those that are not wanted are empty.
struct DeviceMatched {
  DeviceImageView disparity;                                   // float
  DeviceImageView validity;                                    // 8-bit
  DeviceImageView right;                                       // float, if wanted
  DeviceImageView confidence;                                  // float, if wanted
  DeviceImageView depth = {}, points = {}, uncertainty = {};   // float, points with 3 channels, if wanted
  DeviceImageView cost = {}, aggregated = {}, optimised = {};  // volumes, if wanted: rows without padding

  bool operator==(const DeviceMatched&) const = default;
};

// An image of the host that the device's copies reach directly (page-locked): copies of others go through such memory. On the
// CPU it is like any other. New pixels are not initialised.
template <class T>
Image<T> page_locked_image(const std::string& device, Size size, int channels = 1);

}  // namespace stereopsis
