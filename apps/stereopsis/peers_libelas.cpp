// libelas (Geiger, Roser, Urtasun 2010) in both of its settings. It is single-threaded.
#include <elas.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "command/bench.hpp"
#include "command/peer_settings.hpp"
#include "command/peers.hpp"
#include "stereopsis/disparity.hpp"

namespace stereopsis::command {
namespace {

struct Run {
  Image<std::uint8_t> left, right;
  int padding;
  Elas elas;
  std::vector<float> found, found_right;  // rows without padding; below 0 if there is no disparity

  void match() {
    // libelas does not write them if it has too few support points.
    for (std::vector<float>* map : {&found, &found_right})
      map->assign(static_cast<std::size_t>(left.width()) * left.height(), -1.0f);
    const std::int32_t dims[] = {left.width(), left.height(), static_cast<std::int32_t>(left.view().pitch)};
    elas.process(left.row(0), right.row(0), found.data(), found_right.data(), dims);
  }

  Image<float> dense() const {
    Image<float> out(left.width() - padding, left.height());
    for (int y = 0; y < out.height(); ++y)
      for (int x = 0; x < out.width(); ++x) {
        const float disparity = found[static_cast<std::size_t>(y) * left.width() + padding + x];
        out(x, y) = disparity >= 0 ? disparity : invalid_disparity;
      }
    make_dense(out);
    return out;
  }
};

Image<std::uint8_t> padded(ImageView<const std::uint8_t> image, int left) {
  Image<std::uint8_t> out(image.width + left, image.height);
  for (int y = 0; y < image.height; ++y) {
    std::fill_n(out.row(y), left, image(0, y));
    std::copy_n(image.row(y), image.width, out.row(y) + left);
  }
  return out;
}

}  // namespace

std::vector<Peer> libelas_peers(const PeerProblem& problem) {
  constexpr int least = 160;  // pixels per side: libelas crashes with few support points
  if (problem.left.width < least || problem.left.height < least) return {};
  const int padding = problem.columns == PeerColumns::all ? problem.disparities : 0;
  std::vector<Peer> peers;
  const Image<std::uint8_t> left = grey(problem.left), right = grey(problem.right);
  for (const std::string& name : libelas_settings()) {
    Elas::parameters parameters(name == "ROBOTICS" ? Elas::ROBOTICS : Elas::MIDDLEBURY);
    parameters.disp_max = problem.disparities - 1;
    const auto run =
        std::make_shared<Run>(Run{padded(left, padding), padded(right, padding), padding, Elas(parameters), {}, {}});
    peers.push_back({"libelas " + name,
                     {{"setting", name}, {"disp_max", parameters.disp_max}},
                     [run] { run->match(); },
                     [run] { return run->dense(); }});
  }
  return peers;
}

}  // namespace stereopsis::command
