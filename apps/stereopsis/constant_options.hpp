// The options of regions without contrast: --mask-black and --measure-constant.
#pragma once

#include <filesystem>
#include <optional>

#include "options.hpp"
#include "stereopsis/constant_regions.hpp"

namespace stereopsis::command {

struct ConstantOptions {
  std::optional<int> black;
  bool measure = false;

  void add_to(Command& command);
  void check() const;
  // Returns what the matcher does with images that were read from `file`, or from a video.
  ConstantRegions regions(const std::filesystem::path& file, bool is_video) const;
};

}  // namespace stereopsis::command
