// OpenCV's matchers for `bench` and `evaluate`, in the module for OpenCV.
#include <algorithm>
#include <map>
#include <memory>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <utility>

#include "opencv_parts.hpp"

namespace stereopsis::command {
namespace {

cv::Mat as_mat(Image<std::uint8_t>& image) {
  return cv::Mat(image.height(), image.width(), CV_8UC(image.channels()), image.row(0),
                 static_cast<std::size_t>(image.view().pitch));
}

cv::Ptr<cv::StereoMatcher> make_matcher(const std::string& name, const nlohmann::ordered_json& p) {
  if (name == "BM") {
    const cv::Ptr<cv::StereoBM> matcher = cv::StereoBM::create(p.at("numDisparities"), p.at("blockSize"));
    matcher->setPreFilterCap(p.at("preFilterCap"));
    matcher->setDisp12MaxDiff(p.at("disp12MaxDiff"));
    matcher->setUniquenessRatio(p.at("uniquenessRatio"));
    matcher->setSpeckleWindowSize(p.at("speckleWindowSize"));
    matcher->setSpeckleRange(p.at("speckleRange"));
    return matcher;
  }
  const std::map<std::string, int> modes = {{"3WAY", cv::StereoSGBM::MODE_SGBM_3WAY},
                                            {"SGBM", cv::StereoSGBM::MODE_SGBM},
                                            {"HH4", cv::StereoSGBM::MODE_HH4},
                                            {"HH", cv::StereoSGBM::MODE_HH}};
  return cv::StereoSGBM::create(0, p.at("numDisparities"), p.at("blockSize"), p.at("P1"), p.at("P2"),
                                p.at("disp12MaxDiff"), p.at("preFilterCap"), p.at("uniquenessRatio"),
                                p.at("speckleWindowSize"), p.at("speckleRange"), modes.at(name));
}

Image<std::int16_t> copy_of(const cv::Mat& disparity) {
  Image<std::int16_t> out(disparity.cols, disparity.rows);
  for (int y = 0; y < out.height(); ++y) std::copy_n(disparity.ptr<std::int16_t>(y), out.width(), out.row(y));
  return out;
}

struct Run {
  Image<std::uint8_t> left, right;
  cv::Ptr<cv::StereoMatcher> matcher;
  cv::Mat found;
};

}  // namespace

OpenCvMatcher make_opencv_matcher(const std::string& name, const nlohmann::ordered_json& parameters, int threads,
                                  Image<std::uint8_t> left, Image<std::uint8_t> right) {
  cv::setNumThreads(threads > 0 ? threads : -1);
  const auto run = std::make_shared<Run>(Run{std::move(left), std::move(right), make_matcher(name, parameters), {}});
  return {[run] { run->matcher->compute(as_mat(run->left), as_mat(run->right), run->found); },
          [run] { return copy_of(run->found); }};
}

}  // namespace stereopsis::command
