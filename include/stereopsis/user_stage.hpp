// A user-defined stage: a function of the caller in a slot of a pipeline (Pipeline::set_stage), with ports like any
// other stage. It takes part in plans, regions, times and `steps()`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stereopsis/device_image.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis {

// The arguments of a user-defined stage: the inputs and outputs of its slot; all others are empty. On the CPU, `memory`
// of a view is an address, for on_host(); on a GPU, it is memory as in DeviceImageView. The reference is the left view
// or, if a filter needs the right view's own costs, the right view.
struct UserCall {
  DeviceImageView reference, other;  // the pair as the method uses it: rectified, reduced, and cut to the required part
  DeviceImageView mask_reference, mask_other;  // empty if there are no masks
  // Candidate k of the pixel (x, y) of the reference is the pixel (x − range.min − k, y) of the other view.
  DisparityRange range;
  bool from_right = false;              // true if the right view is the reference
  DeviceImageView costs;                // costs to filter: one channel per candidate
  DeviceImageView made;                 // costs to compute: one channel per candidate
  DeviceImageView disparity, validity;  // maps of the reference, read and written: float, NaN where invalid; 8 bits
  DeviceImageView confidence;           // output of a refinement, if requested: float
  int threads = 1;                      // CPU: threads of the plan
  std::optional<std::uint64_t> stream = {};  // GPU: queue for all work (CUstream, cl_command_queue)
};

// Returns a view of the pixels in host memory. Throws Error(call) for a type other than the view's.
template <class T>
ImageView<T> on_host(const DeviceImageView& view);

// The function, and its properties that the plan needs.
struct UserStage {
  std::string name = {};  // used in times and in error messages
  // At least one of the functions must be set. When it returns, its output must be written or, on a GPU, enqueued. It
  // may be called from a thread other than the caller's, but only once at a time per matcher. An exception that it
  // throws ends the match with Error(call). It must not use the matcher that runs it (Matcher::is_in_own_stage()).
  std::function<void(const UserCall&)> cpu = {}, gpu = {};
  // The type of the costs that the function computes. Costs of 8 and 16 bits are integers of at most `largest` (0: the
  // largest of the type, and 1 for float). `largest` scales costs to the 8 bits that some stages need, and paths clamp
  // costs to it. An absent candidate is 65535, NaN or infinity. A cost that is not written is an absent candidate, or
  // 255.
  PixelType makes = PixelType::u8;
  double largest = 0;  // largest cost; see above
  // Type of the volume that the function filters. If it is u8, costs of other types are converted to 8 bits.
  std::optional<PixelType> takes = {};  // nullopt: any type
  // Returns the part of the images, of the volume or of the maps that is required to compute a part of the result; a
  // part that is larger than the image means all of it. Without a function, a pixel requires only itself.
  std::function<Rect(const Rect&)> required_input = {};
};

}  // namespace stereopsis
