// The module that links OpenCV. command/opencv.cpp opens it.
#include <opencv2/core/version.hpp>

#include "opencv_parts.hpp"

extern "C" {

const char* stereopsis_opencv_version() { return STEREOPSIS_VERSION; }

void stereopsis_opencv_table(stereopsis::command::OpenCv& table) {
  using namespace stereopsis::command;
  table = {[] { return std::string(CV_VERSION); },
           make_opencv_matcher,
           stereopsis::find_board,
           stereopsis::calibrate,
           open_opencv_video,
           create_opencv_video};
}
}
