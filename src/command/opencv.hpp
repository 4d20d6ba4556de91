// OpenCV as a table of functions, in which no type of OpenCV appears. The Python package provides functions of its module
// cv2. A program without such functions opens the module of apps/stereopsis/opencv_module.cpp when a call needs OpenCV:
// where OpenCV is not installed, all other calls work, and OpenCV's libraries do not slow down the start.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "geometry/calibrate.hpp"
#include "jobs/video_file.hpp"
#include "stereopsis/pair_source.hpp"

namespace stereopsis::command {

// A matcher of OpenCV for one pair: `found` returns the result of the last run, in sixteenths of a pixel.
struct OpenCvMatcher {
  std::function<void()> run;
  std::function<Image<std::int16_t>()> found;
};

// Each function throws Error(unsupported) if the installed OpenCV lacks what it needs.
struct OpenCv {
  // Returns the version of OpenCV if it has matchers.
  std::function<std::string()> version;
  // Makes a StereoBM (matcher BM) or a StereoSGBM (the matcher is its mode) with `parameters`, by the names of OpenCV.
  // `threads`: 0 means all. The matcher keeps the images.
  std::function<OpenCvMatcher(const std::string& matcher, const nlohmann::ordered_json& parameters, int threads,
                              Image<std::uint8_t> left, Image<std::uint8_t> right)>
      make_matcher;
  // geometry/calibrate.hpp describes both functions.
  std::function<BoardView(ImageView<const std::uint8_t> grey, const Board& board)> find_board;
  std::function<CalibrationResult(const std::vector<BoardPair>& pairs, const Board& board, Size size,
                                  const CalibrateOptions& options)>
      calibrate;
  OpenVideo open_video;
  // Creates the video `file` under the name `unfinished`; the caller renames it.
  std::function<std::shared_ptr<jobs::VideoFile>(const std::filesystem::path& file,
                                                 const std::filesystem::path& unfinished, double rate)>
      create_video;
};

// Provides OpenCV in place of the module.
void provide_opencv(OpenCv opencv);

// Returns OpenCV for a purpose, such as "calibrate". If the module cannot be opened, the function hands the call on to the
// Python package that started this program, or else throws Error(unsupported) with what to install.
const OpenCv& opencv(const std::string& purpose);

// The functions of the module: the version of Stereopsis for which it was built, and the table.
using OpenCvModuleVersion = const char*();
using OpenCvModuleTable = void(OpenCv& table);

}  // namespace stereopsis::command
