// The parts of the module for OpenCV (command/opencv.hpp), each in its file.
#pragma once

#include "command/opencv.hpp"

namespace stereopsis::command {

OpenCvMatcher make_opencv_matcher(const std::string& matcher, const nlohmann::ordered_json& parameters, int threads,
                                  Image<std::uint8_t> left, Image<std::uint8_t> right);
std::shared_ptr<Video> open_opencv_video(const std::filesystem::path& file);
std::shared_ptr<jobs::VideoFile> create_opencv_video(const std::filesystem::path& file,
                                                     const std::filesystem::path& unfinished, double rate);

}  // namespace stereopsis::command
