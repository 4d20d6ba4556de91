// OpenCV's matchers. They search a multiple of 16 disparities, and omit the columns where not every disparity lies in
// the right image. The omission favours their times and would spoil their accuracy: hence PeerColumns::all.
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>

#include <memory>
#include <utility>

#include "peers.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::command {
namespace {

cv::Mat as_mat(ImageView<const std::uint8_t> image) {
  return {image.height, image.width, CV_8UC1, const_cast<std::uint8_t*>(image.data),
          static_cast<std::size_t>(image.pitch)};
}

// Converts sixteenths to pixels and removes the padding.
Image<float> dense(const cv::Mat& sixteenths, int padding) {
  Image<float> out({sixteenths.cols - padding, sixteenths.rows}, 1, invalid_disparity);
  for (int y = 0; y < out.height(); ++y) {
    const auto* found = sixteenths.ptr<std::int16_t>(y) + padding;
    for (int x = 0; x < out.width(); ++x)
      if (found[x] >= 0) out(x, y) = static_cast<float>(found[x]) / 16;
  }
  make_dense(out);
  return out;
}

cv::Mat padded(const cv::Mat& image, int left) {
  cv::Mat out;
  cv::copyMakeBorder(image, out, 0, 0, left, 0, cv::BORDER_REPLICATE);
  return out;
}

Peer make_peer(std::string name, Json parameters, cv::Ptr<cv::StereoMatcher> matcher, const cv::Mat& left,
               const cv::Mat& right, int padding) {
  const auto disparity = std::make_shared<cv::Mat>();
  return {std::move(name), std::move(parameters), [=] { matcher->compute(left, right, *disparity); },
          [=] { return dense(*disparity, padding); }};
}

}  // namespace

std::vector<Peer> opencv_peers(const PeerProblem& problem) {
  cv::setNumThreads(problem.threads > 0 ? problem.threads : -1);
  const int searched = (problem.disparities + 15) / 16 * 16;
  const int padding = problem.columns == PeerColumns::all ? searched : 0;
  const cv::Mat l = padded(as_mat(problem.left), padding), r = padded(as_mat(problem.right), padding);
  constexpr int window = 15;
  if (l.cols < searched + window || l.rows < window) return {};  // nothing would be left to match
  std::vector<Peer> peers;
  peers.push_back(make_peer("OpenCV StereoBM",
                            {{"version", CV_VERSION}, {"numDisparities", searched}, {"blockSize", window}},
                            cv::StereoBM::create(searched, window), l, r, padding));
  const std::pair<const char*, int> modes[] = {{"3WAY", cv::StereoSGBM::MODE_SGBM_3WAY},
                                               {"SGBM", cv::StereoSGBM::MODE_SGBM},
                                               {"HH4", cv::StereoSGBM::MODE_HH4},
                                               {"HH", cv::StereoSGBM::MODE_HH}};
  for (const auto& [name, mode] : modes) {
    constexpr int block = 3, p1 = 8 * block * block, p2 = 32 * block * block, left_right = 1, unique = 10;
    constexpr int speckle_size = 100, speckle_range = 32;
    const Json parameters = {{"version", CV_VERSION},
                             {"numDisparities", searched},
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
        r, padding));
  }
  return peers;
}

}  // namespace stereopsis::command
