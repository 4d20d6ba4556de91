// Inputs that are one file or a sequence of files: a printf pattern (left%03d.png), wildcards (left*.png) or a directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stereopsis::command {

struct Frames {
  bool sequence = false;
  std::vector<std::filesystem::path> files;  // in order: by number for a pattern, by name for a directory
  std::vector<long long> numbers;            // of the file for a pattern; 0, 1, … for a directory

  std::size_t size() const { return files.size(); }
  // Of frame i; the one file of a single input serves all.
  const std::filesystem::path& file(std::size_t i) const { return files[sequence ? i : 0]; }
};

// Refuses what is not there. `what` names the input in the sentence: "the left image", "--mask-left".
Frames find_frames(const std::filesystem::path& given, const std::string& what);

// Refuses two inputs of different lengths, and says both.
void check_counts(const Frames& a, const std::filesystem::path& given_a, const Frames& b,
                  const std::filesystem::path& given_b);

// Where the output of frame i goes. For a sequence `given` is a pattern, or a directory, where the file gets the stem
// of the left one and `extension`. `option` names the output in a refusal.
std::filesystem::path output_file(const std::filesystem::path& given, const Frames& left, std::size_t i,
                                  const std::string& extension, const std::string& option);

}  // namespace stereopsis::command
