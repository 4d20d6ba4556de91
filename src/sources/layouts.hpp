// The layouts of folders that people have: where the views of a pair, the ground truth and the calibration lie. Every
// subcommand finds its files by this table.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stereopsis::sources {

// A row of the table. Views are folders of images, or image files of any type whose names have no extension here.
// Other files have their extension, and of several names the first that exists counts.
struct Layout {
  const char* dataset;  // of several rows of one dataset, the first that fits counts
  const char *left, *right;
  bool folders;  // true if the views are folders
  std::vector<const char*> truth = {}, nonocc = {}, calibration = {};
};
std::span<const Layout> layouts();

// The files of a scene that the table finds in a folder. Paths of absent files are empty.
struct SceneFiles {
  std::filesystem::path left, right;  // two images, or two folders of images
  std::filesystem::path truth, nonocc, calibration;
};

// Returns the scene in a folder, by a row of the table or, for folders, by two names that differ only in the side.
// Throws Error(call) if several rows fit.
std::optional<SceneFiles> scene_in(const std::filesystem::path& folder);

// Returns the subfolders with a scene, in the order of their names.
std::vector<std::filesystem::path> scene_folders_in(const std::filesystem::path& folder);

// The images of a folder whose names differ only in the side, such as NAME_left and NAME_right.
struct NamedPairs {
  std::vector<std::filesystem::path> left, right;
  std::vector<std::string> names;                      // without the side
  std::vector<std::filesystem::path> without_partner;  // images whose names have a side
};
// Throws Error(call) if a folder has several kinds of such images.
NamedPairs named_pairs_in(const std::filesystem::path& folder);

// Returns names of results, one for each file, without extension: the file's own name or, if several files have one
// name, the parts of their paths that differ, such as Adirondack for Adirondack/im0.png. If these are not distinct,
// returns numbers.
std::vector<std::string> distinct_stems(std::span<const std::filesystem::path> files);

}  // namespace stereopsis::sources
