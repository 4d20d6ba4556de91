// Regions without contrast: black regions at the border, and pixels without contrast.
#pragma once

#include <filesystem>
#include <optional>

#include "stereopsis/constant_regions.hpp"

namespace stereopsis::jobs {

struct ConstantSettings {
  std::optional<int> black;  // largest value of black regions, in 8-bit units; nullopt: what suits the file
  bool measure = false;      // the regions are measured like all others

  // Returns what the matcher does with images that were read from `file`, or from a video.
  ConstantRegions regions(const std::filesystem::path& file, bool is_video) const;
};

}  // namespace stereopsis::jobs
