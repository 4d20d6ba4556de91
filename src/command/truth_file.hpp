// The ground truth of `evaluate DISPARITY`: how its file is read, and which options mend a truth that does not fit.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/group_options.hpp"
#include "command/options.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis::command {

struct TruthOptions {
  std::filesystem::path file;
  std::optional<double> scale;  // not 0; negative for a truth of the opposite sign
  bool flip = false, swap_bytes = false, zero_unknown = false;
  std::optional<Length> depth;  // the truth is a depth map, in which the value 1 is this length
  RigOptions rig;               // for a depth map

  void add_to(Command& command, std::vector<Option>& options);
  void check() const;
};

// A disparity map as it was read, and the scale of its numbers.
struct ScaledMap {
  std::filesystem::path file;
  Image<float> values;
  double scale = 1;       // stored value of a disparity of one pixel
  bool integers = false;  // stored as integers

  double code_scale() const { return integers ? scale : 0; }
};

// Reads the disparity map that is scored, and the ground truth. Throws an Error if the scale of a map is not known, and
// for a ground truth beyond 1e6, and names the likely option.
std::pair<ScaledMap, ScaledMap> read_scored(const std::filesystem::path& disparity, std::optional<double> scale,
                                            const TruthOptions& truth);

// Returns a sentence if the maps differ nearly everywhere for one reason, with the option that mends it.
std::optional<std::string> mismatch_text(const TruthOptions& options, const ScaledMap& disparity,
                                         const ScaledMap& truth, const Image<std::uint8_t>& mask);

}  // namespace stereopsis::command
