// A program written for cv::StereoSGBM, with the filter of ximgproc and points by Q. One line makes it use Stereopsis.
// opencv_match LEFT RIGHT DISPARITIES [OUTPUT_FOLDER]
#include <iostream>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/ximgproc/disparity_filter.hpp>

#include "stereopsis/opencv.hpp"

#ifdef WITH_OPENCV
#define create_matcher cv::StereoSGBM::create
#else
#define create_matcher stereopsis::opencv::create  // this line selects Stereopsis
#endif

int main(int argc, char** argv) try {
  if (argc < 4) return std::cerr << "opencv_match LEFT RIGHT DISPARITIES [OUTPUT_FOLDER]\n", 2;
  const cv::Mat left = cv::imread(argv[1], cv::IMREAD_COLOR), right = cv::imread(argv[2], cv::IMREAD_COLOR);
  if (left.empty() || right.empty()) return std::cerr << "opencv_match: an image can't be read\n", 1;
  const std::string folder = argc > 4 ? std::string(argv[4]) + "/" : "";
  const int disparities = (std::stoi(argv[3]) + 15) / 16 * 16, block = 3, channels = left.channels();

  cv::Ptr<cv::StereoSGBM> matcher =
      create_matcher(0, disparities, block, 8 * channels * block * block, 32 * channels * block * block, 1, 63, 10, 100,
                     2, cv::StereoSGBM::MODE_SGBM);
  cv::Mat disparity, shown, points;
  matcher->compute(left, right, disparity);  // CV_16S, in sixteenths
  disparity.convertTo(shown, CV_8U, 255.0 / (disparities * 16.0));
  cv::imwrite(folder + "disparity.png", shown);

  const cv::Mat q = (cv::Mat_<double>(4, 4) << 1, 0, 0, -left.cols / 2.0, 0, 1, 0, -left.rows / 2.0, 0, 0, 0, left.cols,
                     0, 0, 1 / 0.1, 0);
  cv::Mat pixels;
  disparity.convertTo(pixels, CV_32F, 1.0 / 16);
  cv::reprojectImageTo3D(pixels, points, q, true);  // pixels without a disparity get the depth 10000
  cv::Mat depth;
  cv::extractChannel(points, depth, 2);
  std::cout << "points: " << cv::countNonZero((depth > 0) & (depth < 10000)) << " of " << depth.total() << "\n";

  // Filters the disparity along the image's edges, with the right view's disparity. The filter's creation switches
  // options of the matcher off.
  cv::Ptr<cv::ximgproc::DisparityWLSFilter> filter = cv::ximgproc::createDisparityWLSFilter(matcher);
  cv::Ptr<cv::StereoMatcher> right_matcher = cv::ximgproc::createRightMatcher(matcher);
  cv::Mat of_right, filtered;
  matcher->compute(left, right, disparity);
  right_matcher->compute(right, left, of_right);
  filter->setLambda(8000);
  filter->setSigmaColor(1.5);
  filter->filter(disparity, left, filtered, of_right);
  filtered.convertTo(shown, CV_8U, 255.0 / (disparities * 16.0));
  cv::imwrite(folder + "filtered.png", shown);
} catch (const cv::Exception& error) {
  return std::cerr << "opencv_match: " << error.what() << "\n", 1;
}
