// Tests agreement with OpenCV: the remap stage, the maps, Q, and OpenCV's readers of written files.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "geometry/stereo_rectify.hpp"
#include "stages/remap/remap.hpp"
#include "stereopsis/triangulation.hpp"
#include "support/rigs.hpp"
#include "support/stage_test.hpp"
#ifdef STEREOPSIS_TEST_FILES
#include <filesystem>

#include "stereopsis/calibration.hpp"
#endif

namespace stereopsis::opencv_test {
namespace {

using namespace test;

// Compares a smooth image with noise, at positions that are multiples of 1/32 pixel, OpenCV's own step, and lie inside
// the image.
template <class T>
void compare_with_opencv(int channels, double white) {
  const Size source{90, 70}, size{120, 60};
  std::mt19937 generator(5);
  Image<T> image(source, channels);
  for (int y = 0; y < source.height; ++y)
    for (int i = 0; i < source.width * channels; ++i)
      image.row(y)[i] = static_cast<T>(white * (0.5 + 0.3 * std::sin(0.2 * i + 0.1 * y)) +
                                       generator() % static_cast<unsigned>(white / 5));
  Image<std::int32_t> map(size, 2);
  cv::Mat map_x(size.height, size.width, CV_32F), map_y(size.height, size.width, CV_32F);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int px = static_cast<int>(generator() % (32u * 89)), py = static_cast<int>(generator() % (32u * 69));
      map(x, y, 0) = 8 * px, map(x, y, 1) = 8 * py;
      map_x.at<float>(y, x) = static_cast<float>(px) / 32, map_y.at<float>(y, x) = static_cast<float>(py) / 32;
    }
  Image<T> got(size, channels);
  Image<std::uint8_t> usable(size);
  remap::oracle<T>({image, {}, map}, {got, usable});
  const int type = CV_MAKETYPE(sizeof(T) == 1 ? CV_8U : sizeof(T) == 2 ? CV_16U : CV_32F, channels);
  const cv::Mat from(source.height, source.width, type, image.row(0),
                     sizeof(T) * static_cast<std::size_t>(image.view().pitch));
  cv::Mat expected;
  cv::remap(from, expected, map_x, map_y, cv::INTER_LINEAR);
  double largest = 0;
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * channels; ++i)
      largest =
          std::max(largest, std::abs(static_cast<double>(got.row(y)[i]) - static_cast<double>(expected.ptr<T>(y)[i])));
  EXPECT_LE(largest, sizeof(T) == 4 ? 1e-3 : 1);
  EXPECT_EQ(usable(0, 0), 255);
}

TEST(OpenCv, RemapsTheSameWithinAGreyLevel) {
  for (const int channels : {1, 3}) {
    compare_with_opencv<std::uint8_t>(channels, 255);
    compare_with_opencv<std::uint16_t>(channels, 65535);
    compare_with_opencv<float>(channels, 255);
  }
}

TEST(OpenCv, FindsTheSamePositions) {
  const StereoCalibration c = calibration_for({320, 240});
  const RectificationMaps maps = rectification_maps(c);
  for (const auto& [camera, map, cx] :
       {std::tuple{&c.left, &maps.left, c.rig.cx_left}, {&c.right, &maps.right, c.rig.cx_right}}) {
    const Lens& lens = camera->lens;
    const cv::Mat k(cv::Matx33d(lens.fx, 0, lens.cx, 0, lens.fy, lens.cy, 0, 0, 1));
    const cv::Mat p(cv::Matx33d(c.rig.focal, 0, cx, 0, c.rig.focal, c.rig.cy, 0, 0, 1));
    const cv::Mat r(3, 3, CV_64F, const_cast<double*>(camera->rectification.data()));
    const cv::Mat d(1, 12, CV_64F, const_cast<double*>(lens.distortion.data()));
    cv::Mat x_expected, y_expected;
    cv::initUndistortRectifyMap(k, d, r, p, {c.rig.size.width, c.rig.size.height}, CV_32F, x_expected, y_expected);
    for (int y = 0; y < c.rig.size.height; ++y)
      for (int x = 0; x < c.rig.size.width; ++x) {
        ASSERT_NEAR((*map)(x, y, 0) / 256.0, static_cast<double>(x_expected.at<float>(y, x)), 0.5 / 256 + 1e-4);
        ASSERT_NEAR((*map)(x, y, 1) / 256.0, static_cast<double>(y_expected.at<float>(y, x)), 0.5 / 256 + 1e-4);
      }
  }
}

// The rotations are equal. The rectangles differ, because OpenCV 4 examines 9 points along each border and places the
// corner at the centre of a pixel.
TEST(OpenCv, ComputesTheSameRectification) {
  const StereoCalibration raw = calibration_for({640, 480});
  const Lens &l = raw.left.lens, &r = raw.right.lens;
  const RawPair pair{raw.size, l, r, {raw.rotation, raw.translation}, "mm"};
  const auto matrix = [](const Lens& lens) {
    return cv::Mat(cv::Matx33d(lens.fx, 0, lens.cx, 0, lens.fy, lens.cy, 0, 0, 1));
  };
  const auto coefficients = [](const Lens& lens) {
    return cv::Mat(1, 12, CV_64F, const_cast<double*>(lens.distortion.data()));
  };
  for (const double zoom : {0.0, 0.4, 1.0}) {
    SCOPED_TRACE(zoom);
    const StereoCalibration c = stereo_rectified(pair, zoom);
    cv::Mat r1, r2, p1, p2, q;
    cv::stereoRectify(matrix(l), coefficients(l), matrix(r), coefficients(r), {640, 480},
                      cv::Mat(3, 3, CV_64F, const_cast<double*>(raw.rotation.data())),
                      cv::Mat(3, 1, CV_64F, const_cast<double*>(raw.translation.data())), r1, r2, p1, p2, q,
                      cv::CALIB_ZERO_DISPARITY, zoom);
    for (int i = 0; i < 9; ++i) {
      EXPECT_NEAR(c.left.rectification[static_cast<std::size_t>(i)], r1.at<double>(i / 3, i % 3), 1e-9);
      EXPECT_NEAR(c.right.rectification[static_cast<std::size_t>(i)], r2.at<double>(i / 3, i % 3), 1e-9);
    }
    EXPECT_NEAR(c.rig.focal / p1.at<double>(0, 0), 1, 0.01);
    EXPECT_NEAR(c.rig.cx_left, p1.at<double>(0, 2), 1.5);
    EXPECT_NEAR(c.rig.cy, p1.at<double>(1, 2), 1.5);
    EXPECT_NEAR(c.rig.baseline, -p2.at<double>(0, 3) / p2.at<double>(0, 0), 1e-9);
  }
}

TEST(OpenCv, ReprojectsToTheSamePoints) {
  const Rig rig = calibration_for({320, 240}).rig;
  const Image<float> disparity = random_image<float>({40, 30}, 3, 5, 60);
  const auto q = reprojection_of(rig);
  const cv::Mat from(30, 40, CV_32F, const_cast<float*>(disparity.row(0)),
                     sizeof(float) * static_cast<std::size_t>(disparity.view().pitch));
  cv::Mat expected;
  cv::reprojectImageTo3D(from, expected, cv::Mat(4, 4, CV_64F, const_cast<double*>(q.data())));
  const Triangulated got = triangulated(disparity, rig);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x)
      for (int c = 0; c < 3; ++c) {
        const double e = static_cast<double>(expected.at<cv::Vec3f>(y, x)[c]);
        ASSERT_NEAR(got.points(x, y, c), e, 2e-6 * std::abs(static_cast<double>(expected.at<cv::Vec3f>(y, x)[2])));
      }
}

#ifdef STEREOPSIS_TEST_FILES
TEST(OpenCv, ReadsTheFilesWrittenHere) {
  const StereoCalibration c = calibration_for({320, 240});
  for (const char* name : {"opencv_reads.yml", "opencv_reads.xml"}) {
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / name;
    write_calibration(file, c);
    const cv::FileStorage storage(file.string(), cv::FileStorage::READ);
    ASSERT_TRUE(storage.isOpened());
    cv::Mat m1, d2, r, t, p2, q;
    storage["M1"] >> m1;
    storage["D2"] >> d2;
    storage["R"] >> r;
    storage["T"] >> t;
    storage["P2"] >> p2;
    storage["Q"] >> q;
    EXPECT_EQ(static_cast<int>(storage["image_width"]), 320);
    EXPECT_EQ(static_cast<std::string>(storage["unit"]), "mm");
    ASSERT_EQ(m1.size(), cv::Size(3, 3));
    EXPECT_EQ(m1.at<double>(0, 0), c.left.lens.fx);
    ASSERT_EQ(d2.total(), 5U);
    EXPECT_EQ(d2.at<double>(1), c.right.lens.distortion[1]);
    EXPECT_EQ(r.at<double>(1, 2), c.rotation[5]);
    EXPECT_EQ(t.at<double>(0), c.translation[0]);
    EXPECT_NEAR(-p2.at<double>(0, 3) / p2.at<double>(0, 0), c.rig.baseline, 1e-9);
    EXPECT_EQ(q.at<double>(3, 2), 1 / c.rig.baseline);
    std::filesystem::remove(file);
  }
}
#endif

}  // namespace
}  // namespace stereopsis::opencv_test
