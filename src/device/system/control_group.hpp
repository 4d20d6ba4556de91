// Limits of the control groups of this process, on Linux: of containers, batch systems and services.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>

namespace stereopsis::system {

struct GroupLimits {
  std::size_t memory = std::numeric_limits<std::size_t>::max();  // bytes
  double cores = std::numeric_limits<double>::infinity();
};

// Returns the lowest limits of the process's groups and of the groups that contain them, of version 1 or 2. Files are read
// below `root`.
GroupLimits group_limits(const std::filesystem::path& root = "/");

}  // namespace stereopsis::system
