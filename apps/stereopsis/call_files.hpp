// All files that a call reads and writes, known before any work: no result may take the place of an input or of another
// result, by whatever names, symbolic links or hard links they are given, and no pipe may be read twice.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace stereopsis::command {

class CallFiles {
 public:
  // Empty names are passed over. `what` names the file in a refusal: "the left image", "--mask-left".
  void reads(const std::filesystem::path& file, const std::string& what);
  void writes(const std::filesystem::path& file, const std::string& what) { take(file, what, true); }

 private:
  struct Use {
    std::string what;
    bool written = false;
  };
  void take(const std::filesystem::path& file, const std::string& what, bool written);

  std::map<std::string, Use> taken_;  // by what a file is known by
  std::map<std::string, std::string> read_once_;  // what reads it, by name
};

}  // namespace stereopsis::command
