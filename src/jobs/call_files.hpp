// All files that a call reads and writes, known before any work starts. No result may replace an input or another
// result, whatever names, symbolic links or hard links are used, and no pipe may be read twice.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "sources/pairs.hpp"

namespace stereopsis::jobs {

class CallFiles {
 public:
  // Empty names are ignored. `what` names the file in errors: "the left image", "--mask-left".
  void reads(const std::filesystem::path& file, const std::string& what);
  // Registers the files of all frames.
  void reads(const sources::Frames& frames, const std::string& what);
  // Registers the files of both views.
  void reads(const sources::Pairs& pairs);
  void writes(const std::filesystem::path& file, const std::string& what) { take(file, what, true); }

 private:
  struct Use {
    std::string what;
    bool written = false;
  };
  void take(const std::filesystem::path& file, const std::string& what, bool written);

  std::map<std::string, Use> taken_;              // by the identity of a file
  std::map<std::string, std::string> read_once_;  // the reader, by name of the file
};

}  // namespace stereopsis::jobs
