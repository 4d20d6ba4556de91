#include "call_files.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <vector>

#include "options.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

// Where it is and, if it is there, what it is: hard links are one file. Devices take what any number of results give.
std::vector<std::string> identities(const fs::path& file) {
  struct stat found = {};
  const bool exists = stat(file.c_str(), &found) == 0;
  if (exists && S_ISCHR(found.st_mode)) return {};
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(file), error);
  if (error) place = fs::absolute(file, error).lexically_normal();
  std::vector<std::string> known = {"at " + place.string()};
  if (exists) known.push_back(fmt::format("inode {} of {}", found.st_ino, found.st_dev));
  return known;
}

}  // namespace

void CallFiles::take(const fs::path& file, const std::string& what, bool written) {
  if (file.empty()) return;
  for (const std::string& identity : identities(file)) {
    const auto [other, is_new] = taken_.emplace(identity, Use{what, written});
    if (is_new || (!written && !other->second.written)) continue;
    const bool input = written != other->second.written;
    const std::string& result = written ? what : other->second.what;
    const std::string& taken = written ? other->second.what : what;
    refuse(fmt::format("{} {} is {} already{}; give it another name", result, file.string(), taken,
                       input ? ", which is an input" : ""));
  }
}

}  // namespace stereopsis::command
