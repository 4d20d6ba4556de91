// ChArUco boards by OpenCV. OpenCV 4.7 moved them to its module objdetect, with other functions, and starts the pattern of
// boards with an even number of rows at another corner.
#pragma once

#include <opencv2/core.hpp>
#include <vector>
#if CV_VERSION_MAJOR > 4 || CV_VERSION_MINOR >= 7
#define STEREOPSIS_CHARUCO_DETECTOR
#include <opencv2/objdetect/charuco_detector.hpp>
#else
#include <opencv2/aruco/charuco.hpp>
#endif

namespace stereopsis::charuco_opencv {

#ifdef STEREOPSIS_CHARUCO_DETECTOR

using Dictionary = cv::aruco::Dictionary;
using Layout = cv::aruco::CharucoBoard;

inline Layout layout_of(cv::Size squares, float square, float marker, const Dictionary& dictionary) {
  return {squares, square, marker, dictionary};
}
inline void find(const cv::Mat& grey, const Layout& layout, std::vector<cv::Point2f>& corners, std::vector<int>& ids) {
  cv::aruco::CharucoDetector(layout).detectBoard(grey, corners, ids);
}
inline void draw(const Layout& layout, cv::Size size, cv::Mat& picture) { layout.generateImage(size, picture, 0, 1); }

#else

using Dictionary = cv::Ptr<cv::aruco::Dictionary>;
using Layout = cv::Ptr<cv::aruco::CharucoBoard>;

inline Layout layout_of(cv::Size squares, float square, float marker, const Dictionary& dictionary) {
  return cv::aruco::CharucoBoard::create(squares.width, squares.height, square, marker, dictionary);
}
inline void find(const cv::Mat& grey, const Layout& layout, std::vector<cv::Point2f>& corners, std::vector<int>& ids) {
  std::vector<std::vector<cv::Point2f> > markers, rejected;
  std::vector<int> marker_ids;
  cv::aruco::detectMarkers(grey, layout->dictionary, markers, marker_ids, cv::aruco::DetectorParameters::create(),
                           rejected);
  if (marker_ids.empty()) return;
  cv::aruco::refineDetectedMarkers(grey, layout, markers, marker_ids, rejected);
  cv::aruco::interpolateCornersCharuco(markers, marker_ids, grey, layout, corners, ids);
  // This module places the origin at the corner of the first pixel; all other code places it at the pixel's centre.
  for (cv::Point2f& p : corners) p -= cv::Point2f(0.5f, 0.5f);
}
inline void draw(const Layout& layout, cv::Size size, cv::Mat& picture) { layout->draw(size, picture, 0, 1); }

#endif

}  // namespace stereopsis::charuco_opencv
