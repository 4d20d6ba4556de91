// Folders of stereo scenes with ground truth, for evaluation. A scene is a folder with a dataset.json:
//
//   "left", "right", "gt"   files: the pair, and the disparities of the left view
//   "ndisp"                 the disparities 0 to ndisp − 1 are searched
//   "gt_scale"              stored value / gt_scale = pixels; needed for 8-bit files
//   "gt_invalid"            0 or "inf": the stored value that means unknown
//   "masks"                 an object whose keys are of mask_nonocc.png, mask_all.png, mask_disc.png: 255 = counted
//   "gt_noc", "gt_right"    files: the truth of the non-occluded pixels alone; the truth of the right view
//   "gt_kind"               begins with "noc" where "gt" itself holds non-occluded pixels alone
//   "gt_view"               "left"
//   "name", "dataset"       names for reports; else those of the folder and of the folder around it
//
// All but the first four may be missing; other keys are passed over.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// Paths include the folder; those of files that the scene does not have are empty.
struct DatasetScene {
  // Pixels that are counted, as a file.
  struct Mask {
    std::string region;          // nonocc, all or disc
    std::filesystem::path file;  // 255 where a pixel counts
  };

  std::string name;                                                     // for reports
  std::string dataset;                                                  // for reports: scenes of one are averaged
  std::filesystem::path folder;                                         // with the dataset.json
  std::filesystem::path left, right, truth, truth_nonocc, truth_right;  // image files of the scene
  std::vector<Mask> masks;                                              // nonocc, all, disc: those there are
  int disparities = 0;                                                  // that are searched, from 0 on
  double truth_scale = 0;                                               // 0: as read_disparity has it
  bool zero_is_unknown = false;                                         // also in float files
  bool truth_is_nonocc = false;                                         // it holds non-occluded pixels alone
};

// The images of a scene, read.
struct LoadedScene {
  // Pixels that are counted together: 255 where counted, 0 elsewhere.
  struct Region {
    std::string name;          // for reports
    Image<std::uint8_t> mask;  // 255 where a pixel counts
  };

  AnyImage left, right;         // the pair
  Image<float> truth;           // NaN where unknown
  std::vector<Region> regions;  // nonocc, all, disc: those that are known
};

// The scenes at or anywhere below `folder`, sorted by path. Passes over each dataset.json that lacks one of left,
// right, gt and ndisp (or has null there): calibration sets, sequences. Throws Error(file) where there is no scene, and
// Error(format) for a dataset.json that can't be understood, or gives it to `failed`, and goes on.
std::vector<DatasetScene> find_scenes(
    const std::filesystem::path& folder,
    const std::function<void(const std::filesystem::path& file, const Error& error)>& failed = {});

// Region "nonocc" is its mask; without one, where gt_noc is known; else where gt and gt_right agree (see
// nonoccluded()); else all of gt if that is non-occluded by its kind. Region "all" is its mask; without one, where gt
// is known, unless gt is non-occluded by its kind: the occluded pixels are then not known. Region "disc" is its mask.
// Throws Error(file) or Error(format), naming the file, where one is missing, can't be read or has another size than
// the left image.
LoadedScene load_scene(const DatasetScene& scene);

}  // namespace stereopsis
