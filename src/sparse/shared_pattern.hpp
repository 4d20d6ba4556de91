// Finds a pattern that both images have at the same place: fixed noise of the sensors in one pair, or a watermark in
// two frames.
#pragma once

#include <cmath>
#include <vector>

#include "sparse/matches.hpp"

namespace stereopsis::sparse {

// The evidence of a pattern at disparity 0, at points whose match is elsewhere.
struct SharedPattern {
  int points = 0;    // number of points that were compared
  double share = 0;  // share of the matches that these points are
  double spike = 0;  // mean correlation at disparity 0, minus the largest one of the disparities around it

  // Without a pattern, the spike is at most 0.01 on real scenes, and 0.08 from 13 points. Fixed noise of 3 grey levels
  // gives 0.36 or more, and columns of 8 levels 0.13.
  bool exists() const { return points >= 6 && share >= 0.02 && spike > 0.1 + 0.4 / std::sqrt(points); }
};

// Compares what remains of both images without their smooth part, around points whose match is elsewhere.
SharedPattern shared_pattern(const std::vector<Match>& matches, const Level& left, const Level& right);

// The evidence of a pattern that stays at its place in both eyes while the scene moves between two frames.
struct FixedPattern {
  int points = 0;  // points that stay, with disparity 0 amid points whose match is elsewhere
  int others = 0;  // points whose match is elsewhere
  int still = 0;   // number of `others` that stay, as all do while the cameras stand

  // Frames of a drive have no such point without a pattern, and generated scenes at most 1. A line of letters gives 4 or
  // more, unless most of it lies where the scene has no texture.
  bool exists() const { return points >= 4 && others >= 8 && 4 * still <= others; }
};

// Compares a pair with a neighbouring frame of the same cameras.
FixedPattern fixed_pattern(const std::vector<Match>& matches, const Level& left, const Level& right,
                           const Level& other_left, const Level& other_right);

}  // namespace stereopsis::sparse
