#include "device/system/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace stereopsis::system {
namespace {

using Path = std::filesystem::path;

// A mounted hierarchy of control groups, or a part of one.
struct Hierarchy {
  std::vector<std::string> controllers;  // empty in version 2, which has all controllers in one hierarchy
  Path root, place;                      // the group that is mounted, and where

  bool has(const char* controller) const {
    return controllers.empty() || std::ranges::find(controllers, controller) != controllers.end();
  }
};

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// A line is "36 35 98:0 ROOT PLACE OPTIONS … - TYPE SOURCE CONTROLLERS".
std::vector<Hierarchy> mounted(const Path& root) {
  std::vector<Hierarchy> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.end() - dash < 4 || dash - words.begin() < 5 || !dash[1].starts_with("cgroup")) continue;
    Hierarchy hierarchy{{}, words[3], root / Path(words[4]).relative_path()};
    if (dash[1] == "cgroup") hierarchy.controllers = split(dash[3], ',');
    found.push_back(std::move(hierarchy));
  }
  return found;
}

template <class T>
bool read(const Path& file, T& value) {
  return static_cast<bool>(std::ifstream(file) >> value);  // "max" is no number
}

// The limits of one group itself. A file that is missing, or has no number, limits nothing.
void add_limits(const Path& group, bool memory, bool processors, GroupLimits& limits) {
  std::size_t bytes = 0;
  if (memory)
    for (const char* name : {"memory.max", "memory.limit_in_bytes"})
      if (read(group / name, bytes) && bytes > 0) limits.memory = std::min(limits.memory, bytes);
  if (!processors) return;
  double quota = 0, period = 0;
  if (std::ifstream max(group / "cpu.max"); !(max >> quota >> period)) {
    if (!read(group / "cpu.cfs_quota_us", quota) || !read(group / "cpu.cfs_period_us", period)) return;
  }
  if (quota > 0 && period > 0) limits.cores = std::min(limits.cores, quota / period);
}

// Adds the limits of the group `path` and of the groups above it, as far as they are mounted.
void add_groups(const Hierarchy& hierarchy, const Path& path, GroupLimits& limits) {
  const Path below = path.lexically_relative(hierarchy.root);
  const bool is_mounted = !below.empty() && *below.begin() != "..";
  const bool memory = hierarchy.has("memory"), processors = hierarchy.has("cpu");
  Path group = hierarchy.place;
  add_limits(group, memory, processors, limits);
  if (!is_mounted) return;  // a container, which sees its own group only
  for (const Path& name : below) {
    group /= name;
    add_limits(group, memory, processors, limits);
  }
}

}  // namespace

GroupLimits group_limits(const Path& root) {
  GroupLimits limits;
  const std::vector<Hierarchy> hierarchies = mounted(root);
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "ID:CONTROLLERS:PATH"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::vector<std::string> controllers = split(line.substr(first + 1, second - first - 1), ',');
    for (const Hierarchy& hierarchy : hierarchies)
      if (controllers.empty() ? hierarchy.controllers.empty()
                              : std::ranges::all_of(controllers, [&](const std::string& name) {
                                  return !hierarchy.controllers.empty() && hierarchy.has(name.c_str());
                                }))
        add_groups(hierarchy, line.substr(second + 1), limits);
  }
  return limits;
}

}  // namespace stereopsis::system
