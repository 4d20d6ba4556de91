#include "call_files.hpp"

#include <fmt/core.h>

#include <vector>

#include "device/system/system.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;
using sources::refuse;

// Returns whether a file can be read only once: standard input by any of its names, even if redirected from a file;
// pipes, sockets and terminals.
bool is_read_once(const fs::path& file) {
  const std::string name = file.lexically_normal().string();
  for (const char* start : {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"})
    if (name.starts_with(start)) return true;
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Returns the location of a file and, if the file exists, its identity: hard links are one file. A device has no
// identity, because it accepts any number of results.
std::vector<std::string> identities(const fs::path& file) {
  std::error_code error;
  if (fs::is_character_file(file, error)) return {};
  // A result is written to the target of a dangling link.
  fs::path place = fs::weakly_canonical(fs::absolute(follow_links(file)), error);
  if (error) place = fs::absolute(file, error).lexically_normal();
  std::vector<std::string> known = {"at " + place.string()};
  if (const auto identity = system::identity_of(file)) known.push_back(*identity);
  return known;
}

}  // namespace

void CallFiles::reads(const fs::path& name, const std::string& what) {
  const fs::path file = image_file(name);
  if (!file.empty() && is_read_once(file)) {
    const auto [other, is_new] = read_once_.emplace(file.lexically_normal().string(), what);
    if (!is_new)
      refuse(fmt::format(
          "{} {} is also {}, but such an input can be read only once; save the contents to a file, and give that file",
          what, file.string(), other->second));
  }
  take(file, what, false);
}

void CallFiles::reads(const sources::Frames& frames, const std::string& what) {
  for (const fs::path& file : frames.files) {
    reads(file, what);
    if (frames.video) return;  // all frames are of one file
  }
}

void CallFiles::reads(const sources::Pairs& pairs) {
  reads(pairs.left, "the left image");
  if (pairs.left.part == sources::Part::whole) reads(pairs.right, "the right image");
}

void CallFiles::take(const fs::path& file, const std::string& what, bool written) {
  if (file.empty()) return;
  for (const std::string& identity : identities(file)) {
    const auto [other, is_new] = taken_.emplace(identity, Use{what, written});
    if (is_new || (!written && !other->second.written)) continue;
    const bool input = written != other->second.written;
    const std::string& result = written ? what : other->second.what;
    const std::string& taken = written ? other->second.what : what;
    if (!input && result == taken)
      refuse(fmt::format("{} names the file {} for several frames; give a directory, or a name with %03d or * in it",
                         result, file.string()));
    refuse(fmt::format("{} {} is also {}{}; choose another file name", result, file.string(), taken,
                       input ? ", which is an input" : ""));
  }
}

}  // namespace stereopsis::jobs
