// The settings of other stereo matchers (peers.json), for every program here that compares with them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stereopsis::command {

struct OpenCvSetting {
  bool colour;                        // the peer gets the images in colour, if they have colours
  nlohmann::ordered_json parameters;  // by the names of OpenCV's parameters
};

// Returns the setting of OpenCV's matcher `peer`, one of opencv_matchers(), for the scenes of a dataset, whose images
// have `channels`. P1 and P2 fit the number of channels that the peer gets.
OpenCvSetting opencv_setting(const std::string& peer, const std::string& dataset, int channels);

// Returns the names of OpenCV's matchers.
std::vector<std::string> opencv_matchers();

// Returns the names of the settings with which libelas runs.
std::vector<std::string> libelas_settings();

}  // namespace stereopsis::command
