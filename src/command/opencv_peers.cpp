// OpenCV's matchers search a multiple of 16 disparities, and omit the columns where not every disparity lies in the right
// image. The omission favours their times and would spoil their accuracy: hence PeerColumns::all.
#include "command/bench.hpp"
#include "command/opencv.hpp"
#include "command/peer_settings.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::command {
namespace {

// Converts sixteenths to pixels and removes the padding.
Image<float> dense(const Image<std::int16_t>& sixteenths, int padding) {
  Image<float> out({sixteenths.width() - padding, sixteenths.height()}, 1, invalid_disparity);
  for (int y = 0; y < out.height(); ++y) {
    const std::int16_t* found = sixteenths.row(y) + padding;
    for (int x = 0; x < out.width(); ++x)
      if (found[x] >= 0) out(x, y) = static_cast<float>(found[x]) / 16;
  }
  make_dense(out);
  return out;
}

}  // namespace

std::optional<Peer> opencv_peer(const std::string& matcher, const PeerProblem& problem) {
  const int searched = (problem.disparities + 15) / 16 * 16;
  const int padding = problem.columns == PeerColumns::all ? searched : 0;
  const auto [colour, settings] = opencv_setting(matcher, problem.dataset, problem.left.channels);
  const int window = settings.at("blockSize");
  if (problem.left.width + padding < searched + window || problem.left.height < window) return std::nullopt;
  Json parameters = {{"numDisparities", searched}};
  parameters.update(settings);
  const auto seen = [&, colour = colour](ImageView<const std::uint8_t> image) {
    return colour ? padded(image, padding) : padded(grey(image).view(), padding);
  };
  const OpenCv& used = opencv("a matcher of OpenCV");
  const OpenCvMatcher made =
      used.make_matcher(matcher, parameters, problem.threads, seen(problem.left), seen(problem.right));
  Json shown = {{"version", used.version()}, {"images", colour ? "colour" : "grey"}};
  shown.update(parameters);
  return Peer{matcher == "BM" ? "OpenCV StereoBM" : "OpenCV StereoSGBM " + matcher, shown, made.run,
              [made, padding] { return dense(made.found(), padding); }};
}

}  // namespace stereopsis::command
