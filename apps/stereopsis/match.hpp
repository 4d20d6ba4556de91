// What the parts of `match` share: the call, which says what is read and written; its frames; what is noted of them.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "frames.hpp"
#include "outputs.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::command::matching {

namespace fs = std::filesystem;

// What is written for a frame, in this order: the disparity last, so that where it is, all is.
enum Output : std::size_t {
  confidence,
  validity_bits,
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

using OutputFiles = std::array<fs::path, output_count>;

struct Options {
  fs::path left, right;
  OutputFiles outputs;
  MethodOptions method;
  DeviceOptions device;
  std::optional<int> min_disparity, disparities;
  std::optional<double> scale, near, far, disparity_error;
  std::string memory_limit, roi, frame = "optical";
  bool crop = false, raw = false, timings = false, organised = false;
  fs::path mask_left, mask_right, report;
  std::vector<std::string> calibration;

  bool wants(Output output) const { return !outputs[output].empty(); }
  bool wants_depth() const { return wants(Output::depth) || wants(Output::cloud) || wants(Output::uncertainty); }
};

struct InputFrame {
  AnyImage left, right;
  Image<std::uint8_t> mask_left, mask_right;
  double ms = 0;  // of reading

  StereoPair pair() const { return {left, right, mask_left, mask_right}; }
};

// "uint8 RGB": what all frames have in common.
std::string kind_of(const AnyImageView& image);

// The call with all that it names found and checked: what is left to go wrong is in single frames.
class Call {
 public:
  explicit Call(const Options& given);

  Geometry geometry() const;
  InputFrame read(std::size_t i) const;

  const Options& options;
  Pipeline pipeline;
  Device device;
  std::optional<Rig> rig;
  std::shared_ptr<const RectificationMaps> maps;  // of a raw pair
  Frames left, right;
  std::optional<Frames> mask_left, mask_right;
  std::vector<OutputFiles> files;  // of each frame
  InputFrame first;
  Size given_size, size;  // of the images, and of the results
  std::string kind;
  DisparityRange range;
  std::optional<Rect> region;

 private:
  void check_options();
  Rig read_rig_of(KittiPair cameras) const;
  StereoCalibration read_cameras(KittiPair pair, Size images) const;
  void choose_cameras();
  void find_inputs();
  Frames find_mask(const fs::path& given, const std::string& option);
  void name_outputs();
  Image<std::uint8_t> read_mask_of(const std::optional<Frames>& mask, const InputFrame& frame, std::size_t i) const;
  void check_size_dependent_options();
  void choose_range();
  DisparityRange estimated_range() const;
  bool holds_no_sign(Output output) const;
  void check_outputs(DisparityRange values) const;
};

struct Written {
  double ms = 0;
  long long too_far = 0;  // pixels whose depth a 16-bit picture can't hold
};
Written write(const Call& call, const InputFrame& frame, const Matched& result, const OutputFiles& files);

struct FrameRecord {
  double reading_ms = 0, matching_ms = 0;
  Written written;
  std::vector<StageTime> stages;
  Densities density;
};
using FrameRecords = std::vector<FrameRecord>;

void print_timings(const Call& call, const FrameRecords& records);
void print_summary(const Call& call, const FrameRecords& records);
Json report(const Call& call, const FrameRecords& records, const Plan& plan);

}  // namespace stereopsis::command::matching
