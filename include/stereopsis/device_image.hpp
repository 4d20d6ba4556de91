// Images in the memory of a device, for matching without transfers, and images of the host in pinned memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stereopsis/image.hpp"
#include "stereopsis/pixel_format.hpp"

namespace stereopsis {

// A borrowed image in the memory of a device. CUDA: memory that the driver attributes to this device, such as that of a
// framework (is_memory_of() in stream_mark.hpp). OpenCL: a buffer of this library's context, as DeviceImage allocates
// it.
struct DeviceImageView {
  std::uint64_t memory = 0;        // CUDA: the address; OpenCL: the cl_mem; 0 is none
  std::int64_t offset = 0;         // offset of pixel (0, 0), in elements
  PixelType type = PixelType::u8;  // type of each channel
  int width = 0;                   // columns
  int height = 0;                  // rows
  int channels = 1;                // elements of a pixel
  std::ptrdiff_t pitch = 0;        // distance between rows, in elements
  int bit_depth = 8;               // significant low-order bits

  bool empty() const { return memory == 0 || width <= 0 || height <= 0; }  // returns whether there are no pixels
  Size size() const { return {width, height}; }                            // in pixels
  DeviceImageView crop(const Rect& part) const;  // returns a view of a part of the same memory
  bool operator==(const DeviceImageView&) const = default;
};

// An image that owns its pixels in the memory of a GPU.
class DeviceImage {
 public:
  DeviceImage();  // empty
  // Allocates an image on the named GPU, without initialising it. Throws as resolve_device() does, and Error(memory).
  DeviceImage(const std::string& device, Size size, PixelType type = PixelType::u8, int channels = 1,
              int bit_depth = 8);
  // Copies an image of the host to the named GPU, and returns when the copy is done.
  DeviceImage(const std::string& device, const AnyImageView& pixels);
  ~DeviceImage();
  DeviceImage(DeviceImage&&) noexcept;
  DeviceImage& operator=(DeviceImage&&) noexcept;

  DeviceImageView view() const { return view_; }  // matchers read it and write to it
  operator DeviceImageView() const { return view_; }

  // Copy from or to an image of the host of the same size and type, and return when the copy is done. Throw Error(call)
  // for another size or type, or if this image is empty.
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

// A stereo pair in the memory of a device. The members are those of StereoPair.
struct DevicePair {
  DeviceImageView left;        // the left image
  DeviceImageView right;       // the right image, of the size and type of `left`
  DeviceImageView mask_left;   // 255 where a pixel is usable, else 0 (not checked); empty: all pixels are usable
  DeviceImageView mask_right;  // mask of the right image
  DeviceImageView costs = {};  // cost volume without padding between rows, if Problem::volumes.given is set
  std::optional<PixelFormat> format = {};  // equals Problem::format; none: grey or RGB

  bool operator==(const DevicePair&) const = default;
};
// A result in borrowed memory of the device. Outputs that were not requested are empty. Volumes have no padding between
// rows.
struct DeviceMatched {
  // outputs, written by ./dev outputs
  // Disparity of the left view, in pixels; NaN where a pixel is invalid.
  DeviceImageView disparity = {};
  // Bits that say why a pixel is invalid, or that it was filled or repaired; 0 where it was measured.
  DeviceImageView validity = {};
  // Disparity of the right view, from the same costs, in pixels; neither checked nor filled.
  DeviceImageView right = {};
  // Confidence of the disparity, 0 to 1; 0 where a pixel was not measured.
  DeviceImageView confidence = {};
  // Depth Z, in the unit of the rig; NaN where there is none.
  DeviceImageView depth = {};
  // Points x, y, z, in the unit of the rig and in the chosen frame; NaN where there are none.
  DeviceImageView points = {};
  // Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity.
  DeviceImageView uncertainty = {};
  // Volume of matching costs: one channel for each candidate, the lowest disparity first.
  DeviceImageView cost = {};
  // Volume of costs after aggregation: one channel for each candidate.
  DeviceImageView aggregated = {};
  // Volume of costs after optimisation: one channel for each candidate.
  DeviceImageView optimised = {};
  // end of the outputs

  bool operator==(const DeviceMatched&) const = default;
};

// Returns an image of the host in pinned memory, from and to which the device copies directly. Images in pageable
// memory are copied through pinned memory. On the CPU it is an ordinary image. The pixels are not initialised.
template <class T>
Image<T> page_locked_image(const std::string& device, Size size, int channels = 1);

}  // namespace stereopsis
