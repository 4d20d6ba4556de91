// Disparity maps of many images: results, and their ground truth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sources/frames.hpp"

namespace stereopsis::sources {

// Returns whether an input names several maps: a folder or a pattern.
bool are_maps(const std::filesystem::path& given);

// Finds the maps of a folder or pattern. In a folder of folders, each has one map: the ground truth of its scene by the
// table of layouts, else its only map. Throws Error(call) if there is none, and if a folder has several.
Frames find_maps(const std::filesystem::path& given, const std::string& what);

// A map and its ground truth.
struct MapWithTruth {
  std::string name;  // name of the scene or of the file
  std::filesystem::path map, truth;
  std::filesystem::path
      nonocc;  // mask of the non-occluded pixels beside the truth, by the table of layouts; may be empty
};

// Pairs maps with truths by number or by name. `without_map` receives the truths without a map. Throws Error(call) for a
// map without truth.
std::vector<MapWithTruth> with_truths(Frames maps, const std::filesystem::path& given, Frames truths,
                                      const std::filesystem::path& given_truths, std::vector<std::string>& without_map);

}  // namespace stereopsis::sources
