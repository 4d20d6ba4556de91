// A user-defined stage: a function of the caller in a slot of a pipeline (Pipeline::set_stage). The stage appears in
// plans, times and `steps()`, and supports regions. A user-defined method takes the place of all stages from the matching
// cost to the selection (Pipeline::Pipeline(UserMethod)).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stereopsis/device_image.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis {

// The arguments of a user-defined stage: the inputs and outputs of its slot. All other members are empty. On the CPU,
// `memory` of a view is an address, which on_host() converts. On a GPU, `memory` has the meaning of DeviceImageView.
// The reference view is the left view or, if a filter needs the costs of the right view, the right view.
struct UserCall {
  // The pair as the method uses it: rectified, reduced, and cropped to the required region.
  DeviceImageView reference, other;
  DeviceImageView mask_reference, mask_other;  // empty if there are no masks
  // Candidate k of the pixel (x, y) of the reference is the pixel (x − range.min − k, y) of the other view.
  DisparityRange range;
  bool from_right = false;  // true if the right view is the reference
  DeviceImageView costs;    // costs to filter: one channel per candidate
  DeviceImageView made;     // costs to compute: one channel per candidate
  // Maps of the reference view, read and written: float with NaN where invalid, and 8 bits. After the stage, a disparity
  // that is NaN or infinite without a reason gets `ambiguous`, and a disparity with a reason becomes NaN.
  // A method writes only the disparity; see UserMethod.
  DeviceImageView disparity, validity;
  DeviceImageView confidence;                // output of a refinement or a method, if requested: float, 0 to 1
  int threads = 1;                           // number of threads of the plan, on the CPU
  std::optional<std::uint64_t> stream = {};  // queue for all work of the stage, on a GPU (CUstream, cl_command_queue)
};

// Returns a view of the pixels in host memory. Throws Error(call) if T is not the type of the view.
template <class T>
ImageView<T> on_host(const DeviceImageView& view);

// A function, and properties of the function that the plan needs.
struct UserStage {
  std::string name = {};  // name in times and in error messages
  // At least one of the functions must be set. When a function returns, its output must be written or, on a GPU,
  // enqueued. A function may be called from a thread other than the caller's, but only once at a time per matcher. An
  // exception that a function throws ends the match with Error(call). A function must not use the matcher that runs it
  // (Matcher::is_in_own_stage()).
  std::function<void(const UserCall&)> cpu = {}, gpu = {};
  // The type of the costs that the function computes. Costs of 8 and 16 bits are integers of at most `largest` (0 means
  // the largest value of the type, and 1 for float). Costs are converted with `largest` to the 8 bits that some stages
  // need, and paths clamp costs to `largest`. An absent candidate is 65535, NaN or infinity. A cost that is not written
  // is 255, or an absent candidate.
  PixelType makes = PixelType::u8;
  double largest = 0;  // largest cost, as described above
  // Type of the volume that the function filters. If the type is u8, costs of other types are converted to 8 bits.
  std::optional<PixelType> takes = {};  // nullopt means any type
  // Returns the region of the images, of the volume or of the maps that is required to compute a region of the result.
  // A region that exceeds the image stands for the whole image. Without a function, a pixel requires only the same
  // pixel.
  std::function<Rect(const Rect&)> required_input = {};
};

// A stereo method of the caller, such as a network or a program: functions that compute the disparity map of a pair. Masks,
// regions, rectification, refinements, the confidence of the refined map, depth and points work as for other methods.
struct UserMethod {
  std::string name = {};  // name in results, times and error messages
  // At least one of the functions must be set, with the properties of the functions of UserStage. A function reads the
  // whole images, which are grey or RGB with the type of the pair's pixels, and writes `disparity`: x_left − x_right of
  // the pixels of the reference view, which is the right view if `from_right`. A value that is not written, NaN, infinite,
  // or more than half a pixel outside the search range becomes invalid. A value that points outside the other view counts
  // as filled.
  // A function writes `confidence`, too, unless the view is empty.
  std::function<void(const UserCall&)> cpu = {}, gpu = {};
  bool rates = false;  // true if the functions can write `confidence`
};

}  // namespace stereopsis
