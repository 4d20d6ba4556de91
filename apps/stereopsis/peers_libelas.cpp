// libelas (Geiger, Roser, Urtasun 2010) in both of its settings. It is single-threaded.
#include <elas.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "command/bench.hpp"
#include "command/peers.hpp"
#include "libelas_peers.hpp"
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

// Makes libelas with the setting of this name, one of libelas_settings().
std::optional<Peer> libelas_peer(const std::string& name, const PeerProblem& problem) {
  constexpr int least = 160;  // pixels per side: libelas crashes with few support points
  if (problem.left.width < least || problem.left.height < least) return std::nullopt;
  const int padding = problem.columns == PeerColumns::all ? problem.disparities : 0;
  Elas::parameters parameters(name == "ROBOTICS" ? Elas::ROBOTICS : Elas::MIDDLEBURY);
  parameters.disp_max = problem.disparities - 1;
  const auto run = std::make_shared<Run>(Run{padded(grey(problem.left).view(), padding),
                                             padded(grey(problem.right).view(), padding),
                                             padding,
                                             Elas(parameters),
                                             {},
                                             {}});
  return Peer{"libelas " + name,
              {{"setting", name}, {"disp_max", parameters.disp_max}},
              [run] { run->match(); },
              [run] { return run->dense(); }};
}

}  // namespace

void provide_libelas() { provide_libelas(libelas_peer); }

}  // namespace stereopsis::command
