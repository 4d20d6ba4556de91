// The results of a run on their way to files and videos: their names, the checks before the first pair, and writing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/call_files.hpp"
#include "jobs/frame.hpp"
#include "jobs/front_end.hpp"
#include "jobs/output_file.hpp"
#include "jobs/result_kinds.hpp"
#include "jobs/video_file.hpp"
#include "sources/frames.hpp"
#include "stereopsis/length.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis::jobs {

// A volume to write.
struct SavedVolume {
  const Output* output;
  std::filesystem::path file;
};

struct PictureSettings {
  std::string map;                                        // name of a colour map; empty: the default
  std::optional<std::pair<double, double>> limits;        // disparities at the ends of the colours
  std::optional<std::pair<Length, Length>> depth_limits;  // depths at the ends of the colours of depth pictures
  std::optional<bool>
      shared;  // without limits, the colours span the search range; else the percentiles of each picture
  bool legend = true, show_filled = false;
};

struct SinkSettings {
  ResultFiles files;  // names as given; those of a sequence are patterns, folders or videos
  std::filesystem::path report;
  std::filesystem::path piped;  // the result that users know as `-`
  std::vector<SavedVolume> volumes;
  PictureSettings pictures;
  std::optional<double> scale;  // stored value of an 8-bit disparity file = disparity × scale
  bool crop = false;            // files hold only the region of interest
  bool organised = false;       // a cloud has a point for every pixel
  bool vertical = false;        // rows and columns were exchanged for matching
  bool resumes = false;         // an earlier run is continued
  bool creates_folders = true;
  Frame point_frame = Frame::optical;
  CreateVideo create_video;

  bool wants(std::size_t file) const { return !files[file].empty(); }
  bool wants_depth_map() const { return wants(ResultFile::depth) || wants(ResultFile::depth_picture); }
  bool wants_depth() const { return wants_depth_map() || wants(ResultFile::cloud) || wants(ResultFile::uncertainty); }
  bool wants_files() const { return !main_output().empty() || !volumes.empty(); }
  // Returns the result that summaries name, and beside which the record for resuming lies: the disparity map, else the
  // first other result. Empty without results.
  const std::filesystem::path& main_output() const;
  // Returns the name by which messages know a result.
  std::string shown(const std::filesystem::path& file) const;
};

// Facts that writing needs, and that are known after the first pair was read.
struct ResultFacts {
  std::optional<Rect> region;
  DisparityRange range;    // with a range per frame: the union of all ranges
  std::optional<Rig> rig;  // for depth
  // Returns a depth map as another camera sees it; empty if the depth is not registered.
  std::function<Image<float>(const Image<float>&)> registered;
};

class Sinks {
 public:
  // Names the files of all frames, and opens videos. `taken` has the inputs; a result that is one of them, or equals
  // another result, throws an Error. All arguments must outlive the object.
  Sinks(const SinkSettings& settings, const sources::Frames& left, CallFiles& taken, FrontEnd& front_end);

  const ResultFiles& files(std::size_t i) const { return files_[i]; }
  bool has_videos() const { return color_video_ || depth_video_; }
  // Returns the record of a sequence; empty if there is none.
  const std::filesystem::path& sidecar() const { return sidecar_; }
  // Returns whether a file of disparities cannot hold negative ones.
  bool holds_no_sign() const;
  // Throws an Error for a file that cannot be written, and for a format that cannot hold its values; `values` are those
  // of disparities.
  void check(DisparityRange values) const;

  // Creates the folders of all results that do not exist.
  void create_folders() const;
  // Writes the results of frame i. Returns the number of pixels that are too far for a 16-bit depth file. Several
  // threads may call this function for different frames, if there is no video.
  long long write(std::size_t i, const InputFrame& frame, const FrameResult& result, const ResultFacts& facts) const;
  // Removes the files of frame i, of this run or of an earlier one. Returns those that existed.
  std::vector<std::filesystem::path> remove(std::size_t i) const;
  // Returns the files of frame i that exist once it is complete, for maps of size `written` and, if the depth is
  // registered to another camera, depth maps of size `registered`.
  std::vector<OutputFile> outputs(std::size_t i, Size written, std::optional<Size> registered) const;
  // Completes the videos.
  void finish() const;

 private:
  std::shared_ptr<VideoFile> video_of(ResultFile picture, CallFiles& taken) const;
  std::string option(std::size_t file) const { return front_end_.spelled(file_kinds()[file].name); }
  void check_result(const std::filesystem::path& file,
                    const std::function<void(const std::filesystem::path&)>& check = check_writable) const;

  const SinkSettings& settings_;
  const sources::Frames& left_;
  FrontEnd& front_end_;
  std::vector<ResultFiles> files_;
  std::shared_ptr<VideoFile> color_video_, depth_video_;
  std::filesystem::path sidecar_;
};

}  // namespace stereopsis::jobs
