// A stage of one's own: a function of the caller's in a slot of a pipeline (Pipeline::set_stage), with ports as every other. It
// takes part in plans, regions, times and `steps()`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stereopsis/device_image.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis {

// What such a function is called with: what its slot reads and makes, the rest is empty. On the CPU `memory` of a view is an
// address, for on_host(); on a GPU, the memory as DeviceImageView has it. The reference is the left view, or, where a filter
// needs the right view's own costs, the right one.
struct UserCall {
  DeviceImageView reference, other;  // the pair as the method sees it: rectified, reduced, of the part that is needed
  DeviceImageView mask_reference, mask_other;  // where there are any
  // Candidate k of the pixel (x, y) of the reference is (x − range.min − k, y) of the other view.
  DisparityRange range;
  bool from_right = false;                   // whether the right view is the reference
  DeviceImageView costs;                     // that are filtered: a channel for each candidate
  DeviceImageView made;                      // costs that are to be made, so many
  DeviceImageView disparity, validity;       // of the reference, read and written: float, NaN where invalid; 8 bits
  DeviceImageView confidence;                // of a refinement, where somebody wants it: float
  int threads = 1;                           // on the CPU: those of the plan
  std::optional<std::uint64_t> stream = {};  // on a GPU: all work goes there (CUstream, cl_command_queue)
};

// The view's pixels in the memory of the host. Throws Error(call) for another type than the view's.
template <class T>
ImageView<T> on_host(const DeviceImageView& view);

// The function, and what the plan has to know of it.
struct UserStage {
  std::string name = {};  // in times and sentences
  // At least one of them. A function must have written when it returns, or, on a GPU, must have enqueued; it may be called by
  // another thread than the caller's, one call at a time in a matcher. What it throws ends the match with Error(call).
  // It must not use the matcher that runs it (Matcher::is_in_own_stage()).
  std::function<void(const UserCall&)> cpu = {}, gpu = {};
  // Of costs that it makes. Those of 8 and 16 bits are integers, at most `largest` (0: all that the type has, and 1 of float), which brings
  // them to the 8 bits that some stages take, and which paths cut them to. No candidate is 65535, NaN or infinity. What is left unwritten is none, or 255.
  PixelType makes = PixelType::u8;
  double largest = 0;  // as told above
  // Of a volume that it filters; others are brought to 8 bits, where it takes these.
  std::optional<PixelType> takes = {};  // none: any
  // The part of the images, or of the volume or the maps, that a part of the result needs; none: the pixel alone. Larger than the
  // image: all of it.
  std::function<Rect(const Rect&)> required_input = {};
};

}  // namespace stereopsis
