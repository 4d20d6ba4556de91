// OpenCV's matchers as peers: their settings, images and results. Another file calls OpenCV, in C++ or in Python.
#pragma once

#include <functional>
#include <string>

#include "command/peers.hpp"

namespace stereopsis::command {

// An object of OpenCV for one pair: `found` returns the result of the last run, in sixteenths of a pixel.
struct OpenCvMatcher {
  std::function<void()> run;
  std::function<Image<std::int16_t>()> found;
};

struct OpenCv {
  std::string version;
  // Makes a StereoBM (matcher BM) or a StereoSGBM (the matcher is its mode) with `parameters`, by the names of OpenCV.
  // `threads`: 0 means all. The matcher keeps the images.
  std::function<OpenCvMatcher(const std::string& matcher, const Json& parameters, int threads, Image<std::uint8_t> left,
                              Image<std::uint8_t> right)>
      make;
};

// Provides the peers of "opencv".
void provide_opencv(OpenCv opencv);

}  // namespace stereopsis::command
