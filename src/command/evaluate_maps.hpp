// `evaluate` of several disparity maps at once: a folder or a pattern of results against one of ground truths.
#pragma once

#include <filesystem>
#include <optional>

#include "command/truth_file.hpp"

namespace stereopsis::command {

struct MapsCall {
  std::filesystem::path disparity, mask, json;
  std::optional<double> disparity_scale;
  TruthOptions truth;
};

// Prints one row for each map, and writes the measures as JSON.
void evaluate_maps(const MapsCall& call);

}  // namespace stereopsis::command
