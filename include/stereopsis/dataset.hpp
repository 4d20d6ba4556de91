// Folders of stereo scenes with ground truth, for evaluation. A scene is a folder of Middlebury or ETH3D (im0.png,
// im1.png, disp0GT.pfm or disp0.pfm, mask0nocc.png, calib.txt), or a folder with a dataset.json:
//
//   "left", "right", "gt"   files: the pair, and the disparities of the left view
//   "ndisp"                 the search range is 0 to ndisp − 1
//   "gt_scale"              stored value / gt_scale = pixels; needed for 8-bit files
//   "gt_invalid"            0 or "inf": the stored value for unknown disparities
//   "masks"                 an object with some of the keys mask_nonocc.png, mask_all.png, mask_disc.png: 255 = counted
//   "gt_noc", "gt_right"    files: the truth of the non-occluded pixels only; the truth of the right view
//   "gt_kind"               begins with "noc" if "gt" contains only non-occluded pixels
//   "gt_view"               "left"
//   "name", "dataset"       names for reports; default: those of the folder and of its parent folder
//
// All keys except the first four are optional. Other keys are ignored.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {

// A scene and its files. Paths include the folder; paths of absent files are empty.
struct DatasetScene {
  // A file that marks the counted pixels of a region.
  struct Mask {
    std::string region;          // nonocc, all or disc
    std::filesystem::path file;  // 255 where a pixel counts
  };

  std::string name;              // for reports
  std::string dataset;           // name of the dataset, for reports; scenes of one dataset are averaged
  std::filesystem::path folder;  // folder that contains the dataset.json
  std::filesystem::path left, right, truth, truth_nonocc, truth_right;  // image files of the scene
  std::vector<Mask> masks;                                              // the existing masks of nonocc, all, disc
  // Number of disparities of the search range, which begins at 0.
  int disparities = 0;
  // Scale of the ground truth; 0 means the default of read_disparity.
  double truth_scale = 0;
  // True if 0 means an unknown disparity, also in float files.
  bool zero_is_unknown = false;
  // True if the ground truth contains only non-occluded pixels.
  bool truth_is_nonocc = false;
};

// The images of a scene, loaded.
struct LoadedScene {
  // A mask of pixels that are scored together: 255 = counted, 0 = not counted.
  struct Region {
    std::string name;          // for reports
    Image<std::uint8_t> mask;  // 255 where a pixel counts
  };

  AnyImage left, right;         // the pair
  Image<float> truth;           // NaN where unknown
  std::vector<Region> regions;  // the known regions of nonocc, all, disc
};

// Returns the scenes in `folder` and in its subfolders at any depth, sorted by path. Follows symbolic links. A scene
// without dataset.json has the search range of calib.txt (ndisp), else that of its truth. Ignores every dataset.json without
// left, right, gt or ndisp, or with null for one of them. Calibration sets and sequences have such files. Throws
// Error(file) if there is no scene. An invalid dataset.json throws Error(format). If `failed` is given, it receives
// this error instead, and the scene is skipped.
std::vector<DatasetScene> find_scenes(
    const std::filesystem::path& folder,
    const std::function<void(const std::filesystem::path& file, const Error& error)>& failed = {});

// Loads a scene. A region that has a mask consists of the pixels that the mask counts. Without a mask,
//   nonocc  consists of the pixels where gt_noc is known; else of those where gt and gt_right agree (see nonoccluded());
//           else, if gt_kind says that gt is non-occluded, of those where gt is known
//   all     consists of the pixels where gt is known, or is absent if gt contains only non-occluded pixels
//   disc    is absent
// Throws Error(file) or Error(format), naming the file, if a file is missing, cannot be read, or differs in size from
// the left image.
LoadedScene load_scene(const DatasetScene& scene);

}  // namespace stereopsis
