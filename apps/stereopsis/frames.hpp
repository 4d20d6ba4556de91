// Inputs that are one file or a sequence of files: a printf pattern (left%03d.png), wildcards (left*.png, take*/left.png) or a
// directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "call_files.hpp"

namespace stereopsis::command {

// A frame is known by its number: of a pattern the one that %d stands for, else the last number of its name (of wildcards: of
// each part of the path that has one). Where a file has no number, or two have the same, all are known by their names.
struct Frames {
  bool sequence = false;
  std::vector<std::filesystem::path> files;  // in order of their numbers, or names
  std::vector<long long> numbers;            // 0, 1, … where they have none

  std::size_t size() const { return files.size(); }
  // Of frame i; the one file of a single input serves all.
  const std::filesystem::path& file(std::size_t i) const { return files[sequence ? i : 0]; }

  std::vector<std::string> by_number;  // empty where frames are known by their names
  std::vector<std::string> by_name;
};

// Refuses what is not there. `what` names the input in the sentence: "the left image", "--mask-left".
Frames find_frames(const std::filesystem::path& given, const std::string& what);

// Brings b's frames into the order of a's. Refuses two inputs whose frames are not the same ones, and names the first that
// differs.
void pair_up(const Frames& a, const std::filesystem::path& given_a, Frames& b, const std::filesystem::path& given_b);

void reads(CallFiles& files, const Frames& frames, const std::string& what);

// Where the output of frame i goes. For a sequence `given` is a pattern, or a directory, where the file gets the stem
// of the left one and `extension`. `option` names the output in a refusal.
std::filesystem::path output_file(const std::filesystem::path& given, const Frames& left, std::size_t i,
                                  const std::string& extension, const std::string& option);

// Without exceptions for what can't be looked at, such as links that lead in a circle.
bool file_exists(const std::filesystem::path& file);

}  // namespace stereopsis::command
