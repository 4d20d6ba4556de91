// OpenCV's matchers with the settings of peers.json. They search a multiple of 16 disparities, and omit the columns where not every disparity lies in
// the right image. The omission favours their times and would spoil their accuracy: hence PeerColumns::all.
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>

#include <map>
#include <memory>
#include <utility>

#include "command/bench.hpp"
#include "command/peer_settings.hpp"
#include "command/peers.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::command {
namespace {

// Returns a copy. The order of the colours does not matter, because OpenCV's costs sum over them.
cv::Mat as_mat(ImageView<const std::uint8_t> image, bool colour) {
  const Image<std::uint8_t> pixels = colour ? Image<std::uint8_t>() : grey(image);
  const ImageView<const std::uint8_t> view = colour ? image : pixels.view();
  return cv::Mat(view.height, view.width, CV_8UC(view.channels), const_cast<std::uint8_t*>(view.data),
                 static_cast<std::size_t>(view.pitch))
      .clone();
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

cv::Ptr<cv::StereoMatcher> make_matcher(const std::string& name, int searched, const Json& p) {
  if (name == "BM") {
    const cv::Ptr<cv::StereoBM> matcher = cv::StereoBM::create(searched, p.at("blockSize"));
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
  return cv::StereoSGBM::create(0, searched, p.at("blockSize"), p.at("P1"), p.at("P2"), p.at("disp12MaxDiff"),
                                p.at("preFilterCap"), p.at("uniquenessRatio"), p.at("speckleWindowSize"),
                                p.at("speckleRange"), modes.at(name));
}

}  // namespace

std::vector<Peer> opencv_peers(const PeerProblem& problem) {
  cv::setNumThreads(problem.threads > 0 ? problem.threads : -1);
  const int searched = (problem.disparities + 15) / 16 * 16;
  const int padding = problem.columns == PeerColumns::all ? searched : 0;
  std::vector<Peer> peers;
  for (const char* name : {"BM", "3WAY", "SGBM", "HH4", "HH"}) {
    const auto [colour, settings] = opencv_setting(name, problem.dataset, problem.left.channels);
    const int window = settings.at("blockSize");
    if (problem.left.width + padding < searched + window || problem.left.height < window) continue;  // nothing is left
    Json parameters = {{"version", CV_VERSION}, {"images", colour ? "colour" : "grey"}, {"numDisparities", searched}};
    parameters.update(settings);
    peers.push_back(make_peer(name == std::string("BM") ? "OpenCV StereoBM" : std::string("OpenCV StereoSGBM ") + name,
                              parameters, make_matcher(name, searched, settings),
                              padded(as_mat(problem.left, colour), padding),
                              padded(as_mat(problem.right, colour), padding), padding));
  }
  return peers;
}

}  // namespace stereopsis::command
