// From a rectified pair to a disparity image: a Plan is a pipeline made ready for one problem and one
// device, a Matcher is a plan and its workspace.
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

namespace stereopsis {

// Maps of the left view that were made before, of the images' size, for refinements alone.
struct GivenMaps {
  ImageView<const float> disparity;        // pixels; NaN where invalid
  ImageView<const std::uint8_t> validity;  // bits of namespace validity
  ImageView<const float> right;            // the right view's disparity, where a refinement reads it
  ImageView<const float> confidence;       // 0 to 1, where a refinement reads it, or it is wanted
};

// A rectified pair: both images of one size, pixel type and number of channels (1 or 3, RGB).
// A mask is 255 where a pixel is usable and 0 elsewhere (mask.hpp); an empty one means that all are.
struct StereoPair {
  AnyImageView left;                         // rectified, unless the problem has maps for it
  AnyImageView right;                        // of the same size and type
  ImageView<const std::uint8_t> mask_left;   // 255 where a pixel is usable, else 0; empty: all are
  ImageView<const std::uint8_t> mask_right;  // likewise
  // Matching costs of the left view, where Problem::volumes says that they come: a channel for each disparity of the range.
  AnyImageView costs = {};
  // Of a stripe: the path costs in the row above its rows and in the row below them, where Problem::stripe says that they come.
  ImageView<const std::uint16_t> paths_above = {};
  ImageView<const std::uint16_t> paths_below = {};  // likewise
  GivenMaps maps = {};                              // where Problem::refines says that they come
  std::optional<PixelFormat> format = {};           // how both images lie, as Problem::format says; none: grey or RGB
};

// What is done by a calibration beside the matching, on the same device.
struct Geometry {
  // The pair is not rectified: these maps do it before the method runs. The result, and a region of interest, are in
  // rectified pixels; those without a source are masked.
  std::shared_ptr<const RectificationMaps> rectification;
  bool want_rectified = false;  // the rectified left image too

  std::optional<Rig> rig;         // of the rectified pair; for
  bool want_depth = false;        // Z, in the rig's unit
  bool want_points = false;       // x, y, z, in the rig's unit and in `frame`
  bool want_uncertainty = false;  // of Z, from `disparity_error` in pixels
  Frame frame = Frame::optical;   // of the points
  double disparity_error = 0.5;   // pixels; for the uncertainty
};

// Volumes of matching costs, as images with a channel for each disparity of the range, the lowest first.
struct CostVolumes {
  // Costs of the left view come with the pair, in 8 or 16 bits or as float; the pipeline's cost is the stage `volume`.
  std::optional<PixelType> given = {};
  bool without_images = false;   // no images come beside them: the pipeline may not read any
  bool want_cost = false;        // what the stage of the slot `cost` gives,
  bool want_aggregated = false;  // of `aggregation`,
  bool want_optimised = false;   // of `optimisation`; in the stage's own type
  // Pixels of the (rectified) left image, inside the region: all candidates' costs there, in every state that the pipeline has,
  // without a volume that is kept.
  std::vector<Pixel> probes = {};
};

// The pair is a stripe of rows of larger images, matched by semi-global matching with the bits of the whole: all that it needs to
// know of the other rows is what the paths cost where they come in. Path costs are images as wide as the pair, with a channel for
// each disparity and a row for each kind of path: vertical ones and, with 8 paths, those to the right and to the left.
struct Stripe {
  int first_row =
      0;         // of those that the paths pass, and the result has; the rows around them only serve their features
  int rows = 0;  // how many these are
  bool above = false;  // path costs of the row above them come with the pair,
  bool below = false;  // and of the row below; else the image ends there
  // Of these alone are the path costs wanted, in the stripe's last row of the paths that lead down, or in its first row of those
  // that lead up: Matched::paths, for the next stripe. No disparity is made.
  enum class Follow { none, down, up };
  Follow follow = Follow::none;  // whether path costs alone are wanted, and along which paths
};

// What a plan is made for.
struct Problem {
  Size size;                             // of the pictures as they are given
  PixelType pixel_type = PixelType::u8;  // of both images
  int channels = 1;                      // elements of a pixel: 1, or 3 (RGB)
  int bit_depth = 8;                     // bits that carry the intensity
  DisparityRange range;                  // that is searched
  std::optional<Rect> region;            // only these pixels are wanted
  bool want_right = false;               // the disparity image of the right view too
  bool want_confidence = false;          // a confidence image too
  bool want_times = false;               // a time for each stage too; on a GPU it costs a little. The CPU always tells
  int batch = 1;                         // pairs in work at a time
  std::size_t memory_limit = 0;          // bytes of workspace; 0: half of the host's memory, nine tenths of a GPU's
  Geometry geometry = {};                // rectification before, depth and points after the matching
  CostVolumes volumes = {};              // costs from outside, and to the outside
  std::optional<Stripe> stripe = {};     // the pair is one of larger images
  // Maps come with the pair, and of the pipeline its refinements alone are done. The images need only be there where one of them
  // reads an image.
  bool refines = false;
  // How the images lie where they are neither grey nor RGB: the plan reads them so, without a copy in between. The size, a region, masks
  // and the channels (3) are the picture's. The grey image of NV12 is its luma, which is read in place.
  std::optional<PixelFormat> format = {};

  // Of the images that the method sees.
  Size rectified_size() const { return geometry.rectification ? geometry.rectification->size() : size; }
  // Of a pair's size, type, channels, bit depth and format.
  static Problem of(const StereoPair& pair, DisparityRange range);
};

// How long a stage took, and what it does by its definition.
struct StageTime {
  std::string name;  // of the stage, for people
  double ms = 0;     // milliseconds
  // What the stage's definition reads and writes, and computes: see stereopsis/roofs.hpp.
  double bytes = 0, path_operations = 0, popcounts = 0, operations = 0;
};

// What comes of a pair. Images that are not wanted are empty.
struct Matched {
  Image<float> disparity;        // pixels; NaN where invalid
  Image<std::uint8_t> validity;  // bits of namespace validity
  Image<float> right;            // the right view's, d = x_left − x_right, from the same costs, unchecked, if wanted
  Image<float> confidence;       // 0 to 1, if wanted
  Image<float> depth;            // in the rig's unit, NaN where there is none, if wanted
  Image<float> points;           // 3 channels, NaN where there is none, if wanted
  Image<float> uncertainty;      // of the depth, if wanted
  AnyImage rectified;            // the left image, as the method saw it, if wanted
  AnyImage cost, aggregated, optimised;  // volumes, if wanted
  Image<std::uint16_t> paths;            // path costs of the next stripe, if wanted
  std::array<AnyImage, 3> probed;  // by CostState, of those that there are: a row for each probe, as wide as candidates
  std::vector<StageTime> times;    // if wanted, and always on the CPU
};

// An image to be written, whose pixel type is known only at run time.
struct AnyOutputView {
  void* data = nullptr;            // the first element of the first row
  PixelType type = PixelType::u8;  // of each cost
  int width = 0;                   // columns
  int height = 0;                  // rows
  int channels = 1;                // elements of a pixel: 1, or 3 (RGB)
  std::ptrdiff_t pitch = 0;        // elements

  AnyOutputView() = default;
  // Of a view whose type is known.
  template <class T>
    requires(!std::is_const_v<T>)
  AnyOutputView(ImageView<T> v)
      : data(v.data), type(pixel_type_of<T>), width(v.width), height(v.height), channels(v.channels), pitch(v.pitch) {}

  bool empty() const { return data == nullptr || width <= 0 || height <= 0; }  // nothing is there
  Size size() const { return {width, height}; }                                // in pixels
};

// A result in memory of the caller's, at any pitch: what Matched would have, of these sizes; what is not wanted is empty. The
// validity, too, may be.
struct MatchedViews {
  ImageView<float> disparity;                                      // all of these as in Matched
  ImageView<std::uint8_t> validity;                                // may be empty
  ImageView<float> right, confidence, depth, points, uncertainty;  // as in Matched
  AnyOutputView rectified;                                         // as in Matched
  AnyOutputView cost, aggregated, optimised;                       // as in Matched
  ImageView<std::uint16_t> paths;                                  // as in Matched
  std::array<AnyOutputView, 3> probed;                             // as in Matched
  std::vector<StageTime>* times = nullptr;                         // none: they are not told
};

// A step of a plan: what does it, the memory that it alone takes, and what it reads, writes and computes (`ms` is 0).
struct PlanStep {
  std::string stage = {};         // "rank", "sgm_wta_cuda"
  bool fused = false;             // several stages at once
  std::size_t scratch_bytes = 0;  // of memory, beside its inputs and outputs
  StageTime work = {};            // its name, bytes and operations
  std::string note = {};          // why nothing fused, or nothing faster, does it
};

// A volume of costs: an image with so many channels.
enum class CostState { cost, aggregated, optimised };
// How large a volume is, and of which type.
struct VolumeShape {
  Size size;                       // in pixels
  int disparities = 0;             // channels
  PixelType type = PixelType::u8;  // of each cost
};

// What refinements alone need beside the disparity and the validity.
struct RefinementNeeds {
  bool images = true;       // both
  bool right = false;       // GivenMaps::right
  bool confidence = false;  // GivenMaps::confidence
};

class Programs;  // of src/program

// A pipeline made ready for a problem on a device. It holds no memory of the device and does not change.
class Plan {
 public:
  // Throws Error(call) if the pipeline and the problem do not fit together.
  Plan(const Pipeline& pipeline, const Problem& problem, const Device& device = {});

  const Pipeline& pipeline() const { return pipeline_; }  // what is done
  const Problem& problem() const { return problem_; }     // to what
  const Device& device() const { return device_; }        // where: with its number, never auto
  // Bytes that a matcher takes at most: memory on the device, volumes kept for the caller, and staging_bytes(). Known before it
  // runs. Each pair of a batch has memory of its own, up to the number of pairs that run side by side and fit into the limit.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // Bytes of workspace_bytes() that are pinned memory of the host, for pairs and results in pageable memory; 0 on the CPU.
  std::size_t staging_bytes() const { return staging_bytes_; }
  // Where the limit is below what whole images take: the rows of the stripes that semi-global matching is done in, with the same
  // result; 0: it is done whole. (All rows: whole, too, in less memory, where it can be.)
  int stripe_rows() const { return stripe_rows_; }
  // The size of the result: the input's, unless the method works on reduced images. Volumes have that of the region.
  Size output_size() const { return output_size_; }
  // The part of the input that is read for the wanted region.
  Rect required_input() const { return required_input_; }
  // What a frame without masks consists of, in its order.
  std::vector<PlanStep> steps() const;
  // Of a volume that is wanted, for the whole of the required input.
  VolumeShape volume(CostState) const;
  // Of the costs that are probed: as wide as the candidates, as high as the probes.
  VolumeShape probed(CostState) const;
  // Of the path costs that come with a stripe, or are wanted of it; of no size without one.
  VolumeShape path_costs() const;
  // Of a plan whose refinements alone are done: what must come with the maps.
  RefinementNeeds needs() const;

 private:
  Pipeline pipeline_;
  Problem problem_;
  Device device_;
  std::size_t workspace_bytes_ = 0;
  std::size_t staging_bytes_ = 0;
  int lanes_ = 1;  // pairs that have memory of their own
  std::size_t lane_bytes_ = 0;
  int stripe_rows_ = 0;
  Size output_size_;
  Rect required_input_;
  std::shared_ptr<const Programs> programs_;

  friend class Matcher;
};

// Names a pair that was enqueued. A default-constructed ticket names no pair: every matcher and group treats it as done.
struct Ticket {
  std::uint64_t number = 0;   // of the pair, in its matcher
  std::uint64_t matcher = 0;  // the matcher or group that gave it; all others throw Error(call)

  bool operator==(const Ticket&) const = default;
};

// For one thread at a time; distinct matchers may run at the same time.
//
// Images of a result must not share memory with images of the pair, or with one another: Error(call). Crops of one image may lie
// side by side.
//
// A user-written stage must not use the matcher that runs it: all functions but plan(), is_in_own_stage() and make_result() throw
// Error(call) there. A stage that destroys its own matcher leaves the matcher's memory allocated until the program ends.
class Matcher {
 public:
  // Allocates the workspace. Throws Error(memory) and Error(device).
  explicit Matcher(Plan plan);
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;

  const Plan& plan() const;  // that it was made of
  // Returns whether the calling thread is running a user-written stage of this matcher. May be called by any thread at any time.
  bool is_in_own_stage() const;
  // Matches a pair, and returns when it is done. Throws Error(call) for a pair that the plan is not for.
  Matched match(const StereoPair& pair);
  // The same, into images that are reused when their sizes fit.
  void match(const StereoPair& pair, Matched& result);
  // The same, into memory of the caller's.
  void match(const StereoPair& pair, const MatchedViews& result);
  // As many pairs as one likes, a batch of them in work at a time. When it throws, none of them is in work any more.
  void match(std::span<const StereoPair> pairs, std::span<Matched> results);

  // Begins to match a pair, and returns. The pair and the result must stay where and as they are until the ticket was waited
  // for, or the matcher is gone. A batch of pairs may be in work; one more first waits for the oldest, whose error, if it failed,
  // wait() throws. On a GPU, uploads, computation and downloads of the pairs in work overlap, and images that are not
  // page-locked are copied through memory that is: in here and in wait().
  Ticket enqueue(const StereoPair& pair, Matched& result);
  Ticket enqueue(const StereoPair& pair, const MatchedViews& result);
  // The same with images on the device: nothing goes to or from the host. Images that come again in the same order are the fastest;
  // others are copied there. With `stream`, a queue of the caller's (CUstream), it comes behind what that was given before, and before
  // what it is given then; any number may be in work, as nothing is waited for (unless times are wanted).
  Ticket enqueue(const DevicePair& pair, const DeviceMatched& result, std::optional<std::uint64_t> stream = {});
  // Waits until the pair is done. Throws the pair's own error, if it failed, however many pairs were enqueued since. Further calls
  // with the ticket return at once, or throw the same error (of the last 1,024 pairs that failed).
  void wait(Ticket);
  // Returns whether wait() would return, or throw, at once.
  bool is_done(Ticket) const;

  // A result with page-locked images, which a GPU delivers to without a detour.
  Matched make_result() const;

 private:
  void let_go() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

// A pair, a method, done: plans, allocates and matches once.
Matched match(const StereoPair& pair, DisparityRange range, const Pipeline& pipeline = Pipeline("sgm"),
              const Device& device = {});

}  // namespace stereopsis
