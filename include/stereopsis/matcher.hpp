// Matches stereo pairs. A Problem describes the input and the outputs, a Plan prepares a pipeline for a problem on a
// device, and a Matcher holds the workspace of a plan and matches pairs with it. stereopsis/io.hpp reads and writes
// files.
//
//   const AnyImage left = read_image("left.png"), right = read_image("right.png");
//   const StereoPair pair{left, right};
//   Problem problem = Problem::of(pair, {0, 64});  // disparities 0 to 63
//   problem.want_confidence = true;
//   const Matched result = Matcher(Plan(Pipeline("sgm"), problem)).match(pair);
//
// Functions throw Error (stereopsis/error.hpp), whose message says what is wrong, what is allowed and what to do.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stereopsis/device.hpp"
#include "stereopsis/device_image.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pipeline.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/rig.hpp"
#include "stereopsis/stage_time.hpp"

namespace stereopsis {

// Maps of the left view, of the images' size, that a plan with Problem::refine_only refines.
struct GivenMaps {
  ImageView<const float> disparity;        // in pixels; NaN where invalid
  ImageView<const std::uint8_t> validity;  // bits of namespace validity
  ImageView<const float> right;            // disparity of the right view; required if Plan::needs() says so
  ImageView<const float> confidence;       // 0 to 1; required if Plan::needs() says so
};

// A stereo pair. Both images have one size, pixel type and number of channels (1 or 3, RGB). A mask is 255 where a
// pixel is usable and 0 elsewhere (mask.hpp); with an empty mask all pixels are usable.
struct StereoPair {
  AnyImageView left;                              // rectified, unless the problem has rectification maps
  AnyImageView right;                             // has the size and type of `left`
  ImageView<const std::uint8_t> mask_left = {};   // mask of the left image, or empty
  ImageView<const std::uint8_t> mask_right = {};  // mask of the right image, or empty
  // Matching costs of the left view, if Problem::volumes.given is set: one channel for each disparity of the range.
  AnyImageView costs = {};
  // Path costs of the row above the stripe, if Problem::stripe.above is set.
  ImageView<const std::uint16_t> paths_above = {};
  // Path costs of the row below the stripe, if Problem::stripe.below is set.
  ImageView<const std::uint16_t> paths_below = {};
  GivenMaps maps = {};                     // if Problem::refine_only is set
  std::optional<PixelFormat> format = {};  // equals Problem::format; none: grey or RGB
};

// Geometry computed on the device of the matcher: rectification before matching, depth and points after matching.
struct Geometry {
  // Maps that rectify the pair before it is matched. The result and a region of interest are then in rectified pixels.
  // Pixels without a source in the raw image are masked.
  std::shared_ptr<const RectificationMaps> rectification;
  bool want_rectified = false;  // requests the output `rectified`
  std::optional<Rig> rig;       // calibration of the rectified pair; required for depth, points and uncertainty
  // outputs, written by ./dev outputs
  bool want_depth = false;        // requests the output `depth`
  bool want_points = false;       // requests the output `points`
  bool want_uncertainty = false;  // requests the output `uncertainty`
  // end of the outputs

  Frame frame = Frame::optical;  // coordinate frame of the points
  double disparity_error = 0.5;  // assumed by the uncertainty, in pixels
};

// Cost volumes as inputs and outputs: images with one channel for each disparity of the range, the lowest first.
struct CostVolumes {
  // Type of the costs that come with each pair, for a pipeline whose cost is the stage `volume`; none: the pipeline
  // computes them.
  std::optional<PixelType> given = {};
  bool without_images = false;  // true if pairs have only costs; the pipeline must then not read images
  // outputs, written by ./dev outputs
  bool want_cost = false;        // requests the output `cost`
  bool want_aggregated = false;  // requests the output `aggregated`
  bool want_optimised = false;   // requests the output `optimised`
  // end of the outputs

  // Pixels of the (rectified) left image, inside the region, whose costs are returned for all candidates:
  // Matched::probed.
  std::vector<Pixel> probes = {};
};

// Rows of larger images. Semi-global matching computes the same result for them, bit for bit, as for the whole images:
// its paths continue from path costs of the neighbouring rows. Path costs are images as wide as the pair, with one
// channel for each disparity and one row for each kind of path: vertical paths and, with 8 paths, those that lead to
// the right and to the left.
struct BoundaryStripe {
  int first_row =
      0;  // first row that belongs to the stripe; rows around the stripe only serve the features of the stripe's rows
  int rows = 0;        // number of rows of the stripe, and of its result
  bool above = false;  // true if StereoPair::paths_above is passed; false if the image ends above the stripe
  bool below = false;  // true if StereoPair::paths_below is passed; false if the image ends below the stripe
  // With `down` or `up`, the matcher returns only Matched::paths for the next stripe: path costs of the paths that lead
  // down, in the stripe's last row, or of those that lead up, in its first row.
  enum class Follow { none, down, up };
  Follow follow = Follow::none;  // says whether only path costs are returned, and in which direction
};
// Deprecated name of BoundaryStripe.
using Stripe [[deprecated("use BoundaryStripe")]] = BoundaryStripe;

// The input of a plan: size and type of the images, search range, and requested outputs.
struct Problem {
  Size size;                             // size of the images, before rectification
  PixelType pixel_type = PixelType::u8;  // type of both images
  int channels = 1;                      // elements of a pixel: 1, or 3 (RGB)
  int bit_depth = 8;                     // significant low-order bits: 8, and 1 to 16 for 16-bit images
  DisparityRange range;                  // search range, in pixels
  std::optional<Rect> region;            // region of interest of the (rectified) left image; none: the whole image
  // outputs, written by ./dev outputs
  bool want_right = false;       // requests the output `right`
  bool want_confidence = false;  // requests the output `confidence`
  // end of the outputs

  bool want_times = false;       // requests the times of stages; slightly slower on a GPU, always returned on the CPU
  int batch = 1;                 // pairs in flight at a time, 1 to 4096
  std::size_t memory_limit = 0;  // bytes of workspace; 0: half of the host's memory, or 9/10 of a GPU's
  Geometry geometry = {};        // rectification, depth and points
  CostVolumes volumes = {};      // cost volumes as inputs and outputs
  std::optional<BoundaryStripe> stripe = {};  // the rows of larger images that the pair shows; none: whole images
  // Runs only the pipeline's refinements, on maps that come with the pair. The images are required only if
  // Plan::needs() says so.
  bool refine_only = false;
  // Format of both images if it is neither grey nor RGB. The stages read the images in this format, without a copy.
  // Size, region, masks and channels (3) are those of the picture. The grey image of NV12 is its luma.
  std::optional<PixelFormat> format = {};
  bool refines = false;  // deprecated name of refine_only; no attribute, because compilers would warn about every copy

  // Returns the size of the images that the method matches.
  Size rectified_size() const { return geometry.rectification ? geometry.rectification->size() : size; }
  // Returns a problem with the size, pixel type, channels, bit depth and format of `pair`.
  static Problem of(const StereoPair& pair, DisparityRange range);
};

// The result of matching one pair. Outputs that were not requested are empty.
struct Matched {
  // outputs, written by ./dev outputs
  // Disparity of the left view, in pixels; NaN where a pixel is invalid.
  Image<float> disparity;
  // Bits that say why a pixel is invalid, or that it was filled or repaired; 0 where it was measured.
  Image<std::uint8_t> validity;
  // Disparity of the right view, from the same costs, in pixels; neither checked nor filled.
  Image<float> right;
  // Confidence of the disparity, 0 to 1; 0 where a pixel was not measured.
  Image<float> confidence;
  // Depth Z, in the unit of the rig; NaN where there is none.
  Image<float> depth;
  // Points x, y, z, in the unit of the rig and in the chosen frame; NaN where there are none.
  Image<float> points;
  // Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity.
  Image<float> uncertainty;
  // Rectified left image, in the pixel type of the pair.
  AnyImage rectified;
  // Volume of matching costs: one channel for each candidate, the lowest disparity first.
  AnyImage cost;
  // Volume of costs after aggregation: one channel for each candidate.
  AnyImage aggregated;
  // Volume of costs after optimisation: one channel for each candidate.
  AnyImage optimised;
  // Path costs at the boundary of a stripe, for the next stripe: one row for each kind of path.
  Image<std::uint16_t> paths;
  // Matching costs of all candidates: one row for each probe.
  std::array<AnyImage, 3> probed;
  // end of the outputs
  std::vector<StageTime> times;  // times of the stages; empty on a GPU unless Problem::want_times is set
};

// A borrowed image to be written, whose pixel type is known only at run time.
struct AnyOutputView {
  void* data = nullptr;            // first element of the first row
  PixelType type = PixelType::u8;  // type of each channel
  int width = 0;                   // columns
  int height = 0;                  // rows
  int channels = 1;                // elements of a pixel
  std::ptrdiff_t pitch = 0;        // distance between rows, in elements

  AnyOutputView() = default;
  // Converts a view with a pixel type.
  template <class T>
    requires(!std::is_const_v<T>)
  AnyOutputView(ImageView<T> v)
      : data(v.data), type(pixel_type_of<T>), width(v.width), height(v.height), channels(v.channels), pitch(v.pitch) {}

  bool empty() const { return data == nullptr || width <= 0 || height <= 0; }  // returns whether there are no pixels
  Size size() const { return {width, height}; }                                // in pixels
};

// A result in borrowed memory, at any pitch, of the sizes that Matched would have. Outputs that were not requested are
// empty. The validity may be empty, too.
struct MatchedViews {
  // outputs, written by ./dev outputs
  // Disparity of the left view, in pixels; NaN where a pixel is invalid.
  ImageView<float> disparity;
  // Bits that say why a pixel is invalid, or that it was filled or repaired; 0 where it was measured.
  ImageView<std::uint8_t> validity;
  // Disparity of the right view, from the same costs, in pixels; neither checked nor filled.
  ImageView<float> right;
  // Confidence of the disparity, 0 to 1; 0 where a pixel was not measured.
  ImageView<float> confidence;
  // Depth Z, in the unit of the rig; NaN where there is none.
  ImageView<float> depth;
  // Points x, y, z, in the unit of the rig and in the chosen frame; NaN where there are none.
  ImageView<float> points;
  // Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity.
  ImageView<float> uncertainty;
  // Rectified left image, in the pixel type of the pair.
  AnyOutputView rectified;
  // Volume of matching costs: one channel for each candidate, the lowest disparity first.
  AnyOutputView cost;
  // Volume of costs after aggregation: one channel for each candidate.
  AnyOutputView aggregated;
  // Volume of costs after optimisation: one channel for each candidate.
  AnyOutputView optimised;
  // Path costs at the boundary of a stripe, for the next stripe: one row for each kind of path.
  ImageView<std::uint16_t> paths;
  // Matching costs of all candidates: one row for each probe.
  std::array<AnyOutputView, 3> probed;
  // end of the outputs
  std::vector<StageTime>* times = nullptr;  // receives the times of the stages; may be null
};

// A step of a plan.
struct PlanStep {
  std::string stage = {};         // name of the stage or fused operation: "rank", "sgm_wta_cuda"
  bool fused = false;             // true if the step computes several stages at once
  std::size_t scratch_bytes = 0;  // memory that the step needs in addition to its inputs and outputs
  StageTime work = {};            // title and work; `ms` is 0
  std::string note = {};          // reason why no fused or no faster operation applies; else empty
};

// The states of a cost volume: results of the slots `cost`, `aggregation` and `optimisation`.
enum class CostState { cost, aggregated, optimised };
// Shape of a cost volume.
struct VolumeShape {
  Size size;                       // in pixels
  int disparities = 0;             // number of channels
  PixelType type = PixelType::u8;  // type of each cost
};

// Inputs that the refinements of a plan with Problem::refine_only require in addition to disparity and validity.
struct RefinementNeeds {
  bool images = true;       // both images
  bool right = false;       // GivenMaps::right
  bool confidence = false;  // GivenMaps::confidence
};

class Programs;  // internal

// A pipeline prepared for a problem on a device. A plan holds no memory of the device and does not change.
class Plan {
 public:
  // Throws Error(call) if the pipeline does not fit the problem, and Error(memory) if no plan keeps to the memory
  // limit.
  Plan(const Pipeline& pipeline, const Problem& problem, const Device& device = {});

  const Pipeline& pipeline() const { return pipeline_; }  // the pipeline that was prepared
  const Problem& problem() const { return problem_; }     // the problem that it was prepared for
  const Device& device() const { return device_; }        // with its full name, never "auto"
  // Returns the most bytes that a matcher allocates: device memory, volumes for the caller, and staging_bytes(). Each
  // pair of a batch has its own memory, up to the number of pairs that run side by side within the limit.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // Returns the bytes of workspace_bytes() that are pinned memory of the host, for images in pageable memory; 0 on the
  // CPU.
  std::size_t staging_bytes() const { return staging_bytes_; }
  // Returns the height of the stripes in which semi-global matching works to stay within the memory limit; the result
  // is the same. 0: it matches the whole image at once. The height of the image: it does so in a slower way that needs
  // less memory.
  int stripe_rows() const { return stripe_rows_; }
  // Returns the size of the maps: that of the input, unless the pipeline returns maps of reduced images.
  Size output_size() const { return output_size_; }
  // Returns the part of the input that the region of interest requires.
  Rect required_input() const { return required_input_; }
  // Returns the steps of a frame without masks, in their order.
  std::vector<PlanStep> steps() const;
  // Returns the shape of a requested volume, for the whole required input.
  VolumeShape volume(CostState state) const;
  // Returns the shape of the probed costs: one row for each probe, one column for each candidate.
  VolumeShape probed(CostState state) const;
  // Returns the shape of the path costs of a stripe; an empty one without Problem::stripe.
  VolumeShape path_costs() const;
  // Returns the inputs that a plan with Problem::refine_only requires.
  RefinementNeeds needs() const;

 private:
  Pipeline pipeline_;
  Problem problem_;
  Device device_;
  std::size_t workspace_bytes_ = 0;
  std::size_t staging_bytes_ = 0;
  int lanes_ = 1;  // number of pairs with their own memory
  std::size_t lane_bytes_ = 0;
  int stripe_rows_ = 0;
  Size output_size_;
  Rect required_input_;
  std::shared_ptr<const Programs> programs_;

  friend class Matcher;
};

// Names an enqueued pair. A default-constructed ticket names no pair: every matcher and group treats it as done.
struct Ticket {
  std::uint64_t number = 0;   // number of the pair in its matcher
  std::uint64_t matcher = 0;  // the matcher or group that issued the ticket; others throw Error(call) for it

  bool operator==(const Ticket&) const = default;
};

// Matches pairs by a plan. A matcher may be used by one thread at a time; distinct matchers may run at the same time.
//
// Images of a result must not share memory with images of the pair, or with one another: Error(call). Disjoint crops of
// one image are allowed.
//
// A user-defined stage must not use the matcher that runs it: all functions except plan(), is_in_own_stage() and
// make_result() throw Error(call) there. If a stage destroys its own matcher, the matcher's memory stays allocated
// until the program ends.
class Matcher {
 public:
  // Allocates the workspace. Throws Error(memory) and Error(device).
  explicit Matcher(Plan plan);
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;

  const Plan& plan() const;  // the plan of the constructor
  // Returns whether the calling thread is running a user-defined stage of this matcher. Any thread may call this
  // function at any time.
  bool is_in_own_stage() const;

  // Matches a pair and returns its result. Throws Error(call) if the pair does not fit the plan.
  Matched match(const StereoPair& pair);
  // Matches a pair into images that are reused if their sizes fit.
  void match(const StereoPair& pair, Matched& result);
  // Matches a pair into borrowed memory.
  void match(const StereoPair& pair, const MatchedViews& result);
  // Matches any number of pairs, with a batch of them in flight. If it throws, no pair is in flight.
  void match(std::span<const StereoPair> pairs, std::span<Matched> results);

  // Starts to match a pair and returns. The pair and the result must stay valid and unchanged until wait() has returned
  // for the ticket, or the matcher is destroyed. Up to Problem::batch pairs can be in flight; the next call then first
  // waits for the oldest pair, whose error wait() throws for its ticket. Uploads, computation and downloads of pairs in
  // flight overlap on a GPU. Images in pageable memory are copied through pinned memory, in this call and
  // in wait().
  Ticket enqueue(const StereoPair& pair, Matched& result);
  Ticket enqueue(const StereoPair& pair, const MatchedViews& result);
  // Starts to match images in memory of the device, without transfers. Matching the same images repeatedly in the same
  // order is fastest; other images are first copied within the device. With `stream`, a queue of the caller (CUstream
  // or cl_command_queue), the pair is ordered after earlier work of the queue and before later work. Any number of
  // pairs can then be in flight, unless times are requested.
  Ticket enqueue(const DevicePair& pair, const DeviceMatched& result, std::optional<std::uint64_t> stream = {});
  // Waits until the pair is done. Throws the error of the pair if it failed, even if other pairs were enqueued after
  // it. Further calls with the ticket return at once, or throw the same error again (for the last 1,024 failed pairs).
  void wait(Ticket ticket);
  // Returns whether wait() would return, or throw, without waiting.
  bool is_done(Ticket ticket) const;

  // Returns a result with pinned images, to which a GPU copies directly.
  Matched make_result() const;

 private:
  void let_go() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

// Plans, allocates and matches one pair.
Matched match(const StereoPair& pair, DisparityRange range, const Pipeline& pipeline = Pipeline("sgm"),
              const Device& device = {});

}  // namespace stereopsis
