// A file of results as the record of a run expects it.
#pragma once

#include <filesystem>

#include "stereopsis/image.hpp"

namespace stereopsis::jobs {

// A result's file and its size in pixels; 0×0 for a cloud, and for an image with a legend.
struct OutputFile {
  std::filesystem::path file;
  Size size;
};

}  // namespace stereopsis::jobs
