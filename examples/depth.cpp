// Computes depth in metres from a rectified pair and a rig.
#include <cmath>
#include <cstdio>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"

int main() try {
  using namespace stereopsis;
  const Scene scene = make_scene({.size = {320, 240}, .disparities = 32});
  const StereoPair pair{.left = scene.left, .right = scene.right};

  // begin
  // Or read_rig("calib.txt").
  Rig rig{.focal = 300, .cx_left = 159.5, .cx_right = 159.5, .cy = 119.5};
  rig.baseline = 0.12;
  rig.unit = "m";
  // The disparities of all depths from 1.2 m to 30 m.
  Problem problem = Problem::of(pair, rig.range(1.2, 30));
  problem.geometry.rig = rig;
  problem.geometry.want_depth = true;
  problem.geometry.want_points = true;
  Matcher matcher(Plan(Pipeline("sgm"), problem));
  const Matched result = matcher.match(pair);
  std::printf("Z at the centre: %.2f m\n", result.depth(160, 120));
  // end

  const double expected = rig.depth(result.disparity(160, 120));
  return std::abs(result.depth(160, 120) - expected) < 1e-3 * expected ? 0 : 1;
} catch (const stereopsis::Error& error) {
  std::fprintf(stderr, "depth: %s\n", error.what());
  return 1;
}
