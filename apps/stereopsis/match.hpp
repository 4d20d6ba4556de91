// What the parts of `match` share: the call, which says what is read and written; its frames; what is noted of them.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "diagnosis.hpp"
#include "frames.hpp"
#include "outputs.hpp"
#include "rig_options.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher_group.hpp"

namespace stereopsis::command::matching {

namespace fs = std::filesystem;

// What is written for a frame, in this order: the disparity last, so that where it is, all is.
enum Output : std::size_t {
  confidence,
  validity_bits,
  validity_picture,
  right,
  colour,
  depth,
  uncertainty,
  cloud,
  disparity,
  output_count
};

struct OutputKind {
  const char* option;
  const char* placeholder;
  const char* help;
  const char* extension;  // in a directory of results
  std::vector<const char*> extensions;
};

const std::array<OutputKind, output_count>& output_kinds();
std::string name_of(Output output);  // in JSON: "disparity", "confidence", …

using OutputFiles = std::array<fs::path, output_count>;

struct Options {
  fs::path left, right;
  OutputFiles outputs;
  MethodOptions method;
  DeviceOptions device;
  IntensityOptions intensity;
  RigOptions rig;
  std::optional<int> min_disparity, disparities;
  std::optional<double> scale, near, far, disparity_error, min_confidence;
  std::string memory_limit, roi, frame;
  bool crop = false, raw = false, timings = false, organised = false;
  bool no_fill = false, drop_filled = false, range_per_frame = false, strict = false, resume = false,
       keep_going = false, explain = false, json = false;
  fs::path mask_left, mask_right, report, cost_volume;
  std::vector<std::string> volumes, probes;  // STATE=FILE, X,Y

  bool wants(Output output) const { return !outputs[output].empty(); }
  bool wants_depth() const { return wants(Output::depth) || wants(Output::cloud) || wants(Output::uncertainty); }
};

struct InputFrame {
  AnyImage left, right;
  Image<std::uint8_t> mask_left, mask_right;
  DisparityRange range;
  double reading_ms = 0, rectifying_ms = 0;
  std::shared_ptr<const AnyImage> costs = {};  // a volume

  StereoPair pair() const { return {left, right, mask_left, mask_right, costs ? costs->view() : AnyImageView()}; }
};

// "uint8 RGB": what all frames have in common.
std::string kind_of(const AnyImageView& image);

// A volume that is written: --save-volume aggregated=FILE.npy.
struct SavedVolume {
  CostState state;
  fs::path file;
};

// The call with all that it names found and checked: what is left to go wrong is in single frames.
class MatchJob {
 public:
  explicit MatchJob(const Options& given);

  // With its range, rectified if rectifies_ahead().
  InputFrame read(std::size_t i) const;
  // match_plan.cpp. Of the right view: as the left one of the mirrored pair.
  Problem problem(const InputFrame& frame, bool of_right = false) const;
  Plan plan(const InputFrame& frame, bool of_right = false) const;
  Plan plan_in_memory(const InputFrame& frame, bool of_right) const;
  // What is wrong with the pairs that the range is estimated from, or with their values: a warning, or with --strict an error.
  void warn_or_fail(const std::string& complaint) const;
  // Bytes that matching may take: the limit, less maps and images.
  std::size_t memory_for_matching() const;
  bool range_is_estimated() const { return !options.disparities && !options.near && !costs; }
  // A raw pair is rectified once: by the matcher on its device or, where others need it too, when it is read.
  bool rectifies_ahead() const {
    return maps &&
           (options.wants(Output::right) || (range_is_estimated() && (!left.sequence || options.range_per_frame)));
  }

  std::string device_names() const;
  // The size of the maps that are written, of results of this size.
  Size written_size(Size result) const { return options.crop ? Size{region->width, region->height} : result; }

  const Options& options;
  Pipeline pipeline;
  std::vector<Device> devices;  // that frames go to
  Device device;                // the first of them, which does all else
  std::optional<Rig> rig;
  std::shared_ptr<const RectificationMaps> maps;  // of a raw pair
  Frames left, right;
  std::optional<Frames> mask_left, mask_right;
  std::vector<OutputFiles> files;  // of each frame
  fs::path sidecar;                // of a sequence: match_resume.cpp
  InputFrame first;                // the first that can be read
  std::size_t first_index = 0;
  Size given_size, size;  // of the images, and of the results
  std::string kind;
  int channels = 1, bit_depth = 8;
  DisparityRange range;  // of each frame its own: of all together
  std::optional<Rect> region;
  std::vector<SavedVolume> saved;           // match_volumes.cpp
  std::vector<std::pair<int, int>> probed;  // x, y
  std::shared_ptr<const AnyImage> costs;    // of --cost-volume
  mutable std::vector<std::string> warnings;
  std::string how_to_rectify;  // by the calibration of a raw pair, where --raw is not given; else empty

 private:
  void check_options();
  void check_explains_alone() const;
  void check_dependent_options() const;
  // match_volumes.cpp
  void find_volumes();
  void read_volumes();
  void check_costs() const;
  void check_probes() const;
  void check_unit() const;
  void switch_fill_off();
  void choose_cameras();
  bool calibration_is_raw(bool grey) const;
  std::vector<std::string> complaints(const PairCheck& check, std::size_t i) const;
  void find_inputs();
  Frames find_mask(const fs::path& given, const std::string& option);
  void name_outputs();
  void read_first();
  Geometry geometry() const;
  InputFrame read_images(std::size_t i) const;
  InputFrame read_rectified(std::size_t i) const;
  void rectify(InputFrame& frame) const;
  void check_alike(const InputFrame& frame, std::size_t i) const;
  Image<std::uint8_t> read_mask_of(const std::optional<Frames>& mask, const InputFrame& frame, std::size_t i) const;
  void check_size_dependent_options();
  // match_memory.cpp: refuses what the limit does not hold before it is allocated. `rectified` is 0×0 where nothing is.
  void bound_memory(Size images, Size rectified) const;
  std::size_t bytes_beside_matching(Size images, Size rectified) const;
  std::size_t memory_limit() const;
  std::string limit_text() const;
  [[noreturn]] void explain_limit(const Error& error) const;
  void choose_range();
  DisparityRange estimated_range();
  DisparityRange range_of(const InputFrame& frame) const;
  DisparityRange as_files_hold(DisparityRange found) const;
  void check_range() const;
  bool holds_no_sign(Output output) const;
  void check_outputs(DisparityRange values) const;
};

struct FrameRecord {
  enum class State { waiting, done, there, failed };  // there: by an earlier call
  State state = State::waiting;
  std::string problem;
  std::vector<fs::path> removed;  // outputs of a frame that failed
  double reading_ms = 0, rectifying_ms = 0, matching_ms = 0, latency_ms = 0, writing_ms = 0;
  long long too_far = 0;  // pixels whose depth a 16-bit picture can't hold
  std::vector<StageTime> stages;
  DisparityRange range;
  Densities density;
  double at_low_end = 0, at_high_end = 0;  // of the range: shares of what was measured, 0 to 100
};

// --explain. Steps that are done alike, such as those of strips, are one.
struct PlannedStep {
  PlanStep step;
  int times = 1;
  Roof roof;
};

struct Explanation {
  Plan plan;
  std::vector<PlannedStep> steps;
};

struct FrameRecords {
  std::optional<Explanation> plan;
  std::vector<FrameRecord> frames;
  double first_ms = 0;  // from the plan to the first result
  std::size_t workspace_bytes = 0;
  Size result_size;

  std::size_t count(FrameRecord::State state) const;
};

// A result, and the right view's where it is wanted.
struct FrameResult {
  Matched left, right;
};

// Takes out of the results what --drop-filled and --min-confidence do.
void drop_unwanted(const MatchJob& call, FrameResult& result);
// The pixels that are too far for --depth.
long long write(const MatchJob& call, const InputFrame& frame, const FrameResult& result, const OutputFiles& files);

// match_volumes.cpp: which volumes a plan is to give, and what is done with them.
CostVolumes wanted_volumes(const MatchJob& call);
void write_volumes(const MatchJob& call, const Matched& result);
void print_probes(const MatchJob& call);

// match_resume.cpp: which frames an earlier run of this call has left whole, with maps of the size `written`; begins the
// sidecar where there is none.
std::vector<bool> frames_there(const MatchJob& call, Size written);
// The range that the run before estimated.
std::optional<DisparityRange> range_before(const fs::path& sidecar);

// match_frames.cpp: all frames, and what became of them. Throws what ends the call.
void match_frames(MatchJob& call, FrameRecords& records);

// match_plan.cpp: says what the first frame's plan is.
Explanation explain(const MatchJob& call);
Json to_json(const Explanation& explanation);

// match_report.cpp
void print_timings(const MatchJob& call, const FrameRecords& records);
void print_summary(const MatchJob& call, const FrameRecords& records);
void write_report(const MatchJob& call, const FrameRecords& records);

}  // namespace stereopsis::command::matching
