// OpenCV's matchers. They search a multiple of 16 disparities, and leave out the columns where not every disparity
// lies in the right image, which favours them in the comparison.
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>

#include <memory>
#include <utility>

#include "peers.hpp"

namespace stereopsis::command {
namespace {

cv::Mat as_mat(ImageView<const std::uint8_t> image) {
  return {image.height, image.width, CV_8UC1, const_cast<std::uint8_t*>(image.data),
          static_cast<std::size_t>(image.pitch)};
}

Peer make_peer(std::string name, Json parameters, cv::Ptr<cv::StereoMatcher> matcher, const cv::Mat& left,
               const cv::Mat& right) {
  const auto disparity = std::make_shared<cv::Mat>();
  return {std::move(name), std::move(parameters), [=] { matcher->compute(left, right, *disparity); }};
}

}  // namespace

std::vector<Peer> make_peers(ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right, int disparities,
                             int threads) {
  cv::setNumThreads(threads > 0 ? threads : -1);
  const cv::Mat l = as_mat(left), r = as_mat(right);
  const int searched = (disparities + 15) / 16 * 16;
  constexpr int window = 15;
  if (left.width < searched + window || left.height < window) return {};  // nothing would be left to match
  std::vector<Peer> peers;
  peers.push_back(make_peer("OpenCV StereoBM", {{"numDisparities", searched}, {"blockSize", window}},
                            cv::StereoBM::create(searched, window), l, r));
  const std::pair<const char*, int> modes[] = {{"3WAY", cv::StereoSGBM::MODE_SGBM_3WAY},
                                               {"SGBM", cv::StereoSGBM::MODE_SGBM},
                                               {"HH4", cv::StereoSGBM::MODE_HH4},
                                               {"HH", cv::StereoSGBM::MODE_HH}};
  for (const auto& [name, mode] : modes) {
    constexpr int block = 3, p1 = 8 * block * block, p2 = 32 * block * block, left_right = 1, unique = 10;
    constexpr int speckle_size = 100, speckle_range = 32;
    const Json parameters = {{"numDisparities", searched},
                             {"blockSize", block},
                             {"P1", p1},
                             {"P2", p2},
                             {"disp12MaxDiff", left_right},
                             {"uniquenessRatio", unique},
                             {"speckleWindowSize", speckle_size},
                             {"speckleRange", speckle_range},
                             {"mode", name}};
    peers.push_back(make_peer(
        std::string("OpenCV StereoSGBM ") + name, parameters,
        cv::StereoSGBM::create(0, searched, block, p1, p2, left_right, 0, unique, speckle_size, speckle_range, mode), l,
        r));
  }
  return peers;
}

}  // namespace stereopsis::command
