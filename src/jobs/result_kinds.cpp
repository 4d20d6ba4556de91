#include "jobs/result_kinds.hpp"

namespace stereopsis::jobs {

const std::vector<FileKind>& file_kinds() {
  static const std::vector<FileKind> kinds = [] {
    const std::vector<const char*> pictures = {".png", ".ppm", ".jpg", ".jpeg", ".webp", ".jp2", ".tif", ".tiff"},
                                   floats = {".pfm", ".npy", ".tif", ".tiff"};
    std::vector<FileKind> made = {
        {"confidence", ".pfm", {".pfm", ".npy", ".tif", ".tiff", ".png", ".pgm"}},
        {"validity", ".png", {".png", ".pgm", ".npy", ".tif", ".tiff"}},
        {"validity_color", ".png", pictures},
        {"right", ".pfm", {}},
        {"color", ".png", pictures},
        {"depth", ".pfm", {".pfm", ".npy", ".tif", ".tiff", ".png"}},
        {"depth_color", ".png", pictures},
        {"uncertainty", ".pfm", floats},
        {"cloud", ".ply", {".ply", ".pcd"}},
        {"disparity", ".pfm", {}},
    };
    for_each_plain_map([&](std::size_t, const Output& output, auto) {
      const char* const either =
          output.type == PixelType::f32 ? ".pfm" : ".png";  // these hold only floats, only integers
      made.push_back({output.name, ".npy", {either, ".npy", ".tif", ".tiff"}});
    });
    return made;
  }();
  return kinds;
}

}  // namespace stereopsis::jobs
