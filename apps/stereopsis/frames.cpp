#include "frames.hpp"

#include <fmt/core.h>

#include "options.hpp"
#include "result_files.hpp"

namespace stereopsis::command {

namespace fs = std::filesystem;

void reads(CallFiles& files, const Frames& frames, const std::string& what) {
  for (const fs::path& file : frames.files) {
    files.reads(file, what);
    if (frames.video) return;  // all frames are of one file
  }
}

fs::path output_file(const fs::path& given, const Frames& left, std::size_t i, const std::string& extension,
                     const std::string& option) {
  if (!left.sequence) {
    if (std::error_code ignored; fs::is_directory(given, ignored))
      refuse(fmt::format("{} {} is a directory; give the name of a file", option, given.string()));
    return given;
  }
  if (is_result_folder(given)) return given / (left.stem(i) + extension);
  if (const auto file = sources::file_of_pattern(given, left.numbers[i])) return *file;
  refuse(
      fmt::format("{} {} is neither {} nor a pattern such as disparity%03d.pfm; for a sequence, give a directory or a "
                  "pattern",
                  option, given.string(), creates_folders() ? "a directory" : "an existing directory"));
}

}  // namespace stereopsis::command
