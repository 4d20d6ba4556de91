// Types shared by the parts of `match`: the call, which determines the files that are read and written; its frames;
// their records.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "constant_options.hpp"
#include "diagnosis.hpp"
#include "frames.hpp"
#include "front_end.hpp"
#include "jobs/loop.hpp"
#include "jobs/pixels.hpp"
#include "jobs/record.hpp"
#include "jobs/sinks.hpp"
#include "pairs.hpp"
#include "rig_options.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/registration.hpp"
#include "video.hpp"

namespace stereopsis::command::matching {

namespace fs = std::filesystem;

using namespace jobs;

// The options of --color and --depth-color.
struct ColorOptions {
  std::string map, range;  // names of a colour map, and of a range: LOW,HIGH, auto or sequence; empty: the default
  bool no_legend = false, show_filled = false;

  void add_to(Command& command);
  bool given() const { return !map.empty() || !range.empty() || no_legend || show_filled; }
  // Throws an Error for values that are not allowed.
  PictureSettings settings() const;
};

struct Options {
  fs::path left, right;
  SinkSettings sinks;
  MethodOptions method;
  DeviceOptions device;
  PairOptions pairing;
  IntensityOptions intensity;
  ConstantOptions constant;
  RigOptions rig;
  ColorOptions color;
  std::optional<int> min_disparity, disparities;
  std::optional<double> disparity_error, min_confidence;
  std::optional<Length> near, far;
  std::string memory_limit, roi, frame, register_to, format;
  bool raw = false, vertical = false, timings = false;
  bool no_fill = false, measured_only = false, fill_depth = false, range_per_frame = false, strict = false,
       resume = false, keep_going = false, explain = false, json = false;
  fs::path mask_left, mask_right, cost_volume;
  std::vector<std::string> volumes, probes;  // STATE=FILE, X,Y
};

// Throws an Error for options that do not go together, and fills in the settings of the sinks.
void check(Options& options);

// The call after all its files are found and checked: only single frames can still fail.
class MatchJob : public LoopFrames {
 public:
  MatchJob(const Options& given, CommandFrontEnd& text);

  std::string name(std::size_t i) const override { return left.name(i); }
  Plan first_plan() const override { return plan(first); }
  // match_record.cpp
  std::vector<bool> there(Size result) const override;
  // Reads a frame with its range, rectified if rectifies_ahead().
  InputFrame take(std::size_t i) override;
  // match_plan.cpp. `of_right`: matches the right view as the left view of the mirrored pair.
  Problem problem(const InputFrame& frame, bool of_right = false) const override;
  ConstantRegions constant_regions() const;
  Plan plan(const InputFrame& frame, bool of_right = false) const;
  Plan plan_in_memory(const InputFrame& frame, bool of_right) const;
  // Reports a problem of a pair or of its values: as a warning, or with --strict as an error.
  void warn_or_fail(const std::string& complaint) const;
  // match_judge.cpp: returns the faults of a frame that is checked whatever is measured, and nullopt for other frames.
  // Several threads may call this function.
  std::optional<std::vector<PairFault>> sampled_faults(const InputFrame& frame, std::size_t i) const override;
  // Judges a pair of which this share of the usable pixels, 0 to 1, was measured. `sampled` has the faults of the frame
  // if they are known. Returns the complaint, or "".
  std::string judge_measured(const InputFrame& frame, std::size_t i, double measured,
                             const std::optional<std::vector<PairFault>>& sampled) override;
  // Warns of the complaints that several frames share.
  void summarise_complaints() const;
  // match_range.cpp: returns the shares of the points of a frame that its range leaves out; 1 if they are not known.
  OutsideRange outside_range(std::size_t i, DisparityRange searched) const;
  // Returns the number of frames that are read, and the number that are written, at the same time. A GPU matches faster
  // than one thread reads and writes; on the CPU, matching needs the cores.
  std::size_t files_at_once() const;
  // Returns the number of frames in flight: two on each device, so that no device waits for the host, and one more for
  // each GPU, which starts it as soon as it has finished another one.
  std::size_t frames_in_flight() const;
  // Returns the bytes that matching may use: the limit minus maps and images.
  std::size_t memory_for_matching() const;
  bool range_is_estimated() const { return !options.disparities && !options.near && !costs; }
  // A raw pair is rectified once: by the matcher on its device or, if other steps need it too, when it is read.
  bool rectifies_ahead() const {
    return maps && (options.sinks.wants(ResultFile::right) ||
                    (range_is_estimated() && (!left.sequence || options.range_per_frame)));
  }

  std::string device_names() const;
  // Returns the size of the written maps for results of this size.
  Size written_size(Size result) const {
    return options.sinks.crop ? Size{region->width, region->height} : as_stored(result);
  }
  // Returns a size with rows and columns as in the files: with --vertical, they are exchanged for matching.
  Size as_stored(Size matched) const { return options.vertical ? Size{matched.height, matched.width} : matched; }
  ResultFacts facts() const;

  const Options& options;
  CommandFrontEnd& front_end;
  Pipeline pipeline;
  std::vector<Device> devices;  // devices that frames are distributed to
  Device device;                // the first of them, which does everything else
  std::optional<Rig> rig;
  std::shared_ptr<const RectificationMaps> maps;  // for a raw pair
  std::optional<StereoCalibration> raw_cameras;   // for a raw pair
  std::optional<PosedCamera> target;              // camera to which the depth is registered: match_registration.cpp
  Frames left, right;
  std::vector<std::string> dropped;  // images without a partner
  std::optional<Frames> mask_left, mask_right;
  std::optional<Sinks> sinks;
  InputFrame first;  // the first that can be read
  std::size_t first_index = 0;
  Size given_size, size;  // size of the images, and of the results
  std::string kind;
  int channels = 1, bit_depth = 8;
  bool masked_left = false, masked_right = false;  // frames have masks, given or from their files
  DisparityRange range;                            // with a range per frame: the union of all ranges
  std::optional<Rect> region;
  std::vector<std::pair<int, int>> probed;  // x, y
  std::shared_ptr<const AnyImage> costs;    // from --cost-volume
  mutable PairJudge judged;                 // used only by the thread that reports results
  std::string first_complaint;
  std::string how_to_rectify;  // names the calibration of a raw pair if --raw was not given; else empty

 private:
  // match_judge.cpp
  // Judges a pair before it is matched, and warns of each kind of complaint once; with --strict throws. Returns the
  // first complaint, or "".
  std::string judge(const std::vector<PairFault>& found, std::size_t i) const;
  std::vector<PairFault> faults(const InputFrame& frame, std::size_t i) const;
  std::optional<PairFault> fault_of_calibration(const std::vector<PairFault>& found, std::size_t i) const;
  std::string advice_on_calibration(std::size_t i) const;
  bool is_sound_as(std::size_t i, bool transpose, bool exchange) const;
  std::optional<PairFault> late_fault_of(const InputFrame& frame, std::size_t i) const;
  bool expects_negative() const;
  // Reports that the pair is not judged: as a note, or with --strict as an error.
  void not_judged(const std::string& why) const;

  // match_volumes.cpp
  void find_volumes();
  void read_volumes();
  void check_probes() const;
  void check_unit() const;
  void switch_fill_off();
  // match_registration.cpp
  void find_target(const std::optional<StereoCalibration>& cameras);
  void choose_cameras();
  void rectify_with(const StereoCalibration& calibration);
  void find_inputs();
  Frames find_mask(const fs::path& given, const std::string& option);
  void name_outputs();
  void read_first();
  Geometry geometry() const;
  InputFrame read_images(std::size_t i) const;
  InputFrame read_rectified(std::size_t i) const;
  void rectify(InputFrame& frame) const;
  void check_alike(const InputFrame& frame, std::size_t i) const;
  void remark_no_data() const;
  void make_masks_alike(InputFrame& frame, std::size_t i) const;
  Image<std::uint8_t> read_mask_of(const std::optional<Frames>& mask, const InputFrame& frame, std::size_t i) const;
  void check_size_dependent_options();
  bool in_grey_ = false;  // the first pair is of a colour and a grey image, so all pairs are matched in grey
  // match_memory.cpp: throws before anything is allocated that exceeds the limit. `rectified` is 0×0 if nothing is
  // rectified.
  void bound_memory(Size images, Size rectified) const;
  std::size_t bytes_beside_matching(Size images, Size rectified, std::size_t frames_at_once = 1) const;
  std::size_t memory_limit() const;
  std::string limit_text() const;
  [[noreturn]] void explain_limit(const Error& error) const;
  void choose_range();
  // Returns the range that the options state; nullopt if it is estimated, or is that of given costs.
  std::optional<DisparityRange> given_range() const;
  std::pair<double, double> depths() const;  // --near and --far, in the unit of the rig
  DisparityRange range_of_depths() const;
  DisparityRange estimated_range();
  DisparityRange range_of(const InputFrame& frame) const;
  DisparityRange as_files_hold(DisparityRange found) const;
  template <class F>
  auto with_matched(const InputFrame& frame, F&& f) const;
  void check_range() const;
};

// Calls f(left, right) with the pair as it will be matched.
template <class F>
auto MatchJob::with_matched(const InputFrame& frame, F&& f) const {
  if (!maps || rectifies_ahead()) return f(frame.left.view(), frame.right.view());
  const auto view = [&](const AnyImage& image, const Image<std::int32_t>& map) {
    return rectified(image, map, {}, device.threads).image;
  };
  const AnyImage left_view = view(frame.left, maps->left), right_view = view(frame.right, maps->right);
  return f(left_view.view(), right_view.view());
}

// A step of the plan as --explain prints it. Equal steps, such as those of strips, are combined.
struct PlannedStep {
  PlanStep step;
  int times = 1;
  Roof roof;
};

struct Explanation {
  Plan plan;
  std::vector<PlannedStep> steps;
};

// match_registration.cpp: returns the depth as the target sees it, or the memory in bytes that this needs.
Image<float> registered_depth(const MatchJob& call, const Image<float>& depth);
std::size_t bytes_for_registration(Size depth, Size target);

// match_volumes.cpp
void request_volumes(const MatchJob& call, Problem& problem);
void print_probes(const MatchJob& call);

// Returns everything that a result depends on, except the images and a range that was estimated from them, by the names
// of options: match_record.cpp.
Json description_of(const MatchJob& of);

// match_plan.cpp: describes the plan of the first frame.
Explanation explain(const MatchJob& call);
Json to_json(const Explanation& explanation);

// match_report.cpp
void print_timings(const MatchJob& call, const FrameRecords& records);
void print_summary(const MatchJob& call, const FrameRecords& records);
void write_report(const MatchJob& call, const FrameRecords& records, const std::optional<Explanation>& plan);

}  // namespace stereopsis::command::matching
