// Inputs that are one file or a sequence of files: a printf pattern (left%03d.png), wildcards (left*.png,
// take*/left.png) or a directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "call_files.hpp"

namespace stereopsis::command {

// A single file, or the frames of a sequence. A frame is identified by its number: the number that replaces %d in a
// pattern, else the last number of its name (with wildcards: the last number of each part of the path that has one). If
// a file has no number, or two files have the same, all are identified by their names.
struct Frames {
  bool sequence = false;
  std::vector<std::filesystem::path> files;  // ordered by number, or by name
  std::vector<long long> numbers;            // 0, 1, … if the files have none

  std::size_t size() const { return files.size(); }
  // Returns the file of frame i; a single input serves all frames.
  const std::filesystem::path& file(std::size_t i) const { return files[sequence ? i : 0]; }

  std::vector<std::string> by_number;  // empty if frames are identified by their names
  std::vector<std::string> by_name;
};

// Throws an Error if the files do not exist. `what` names the input in the error: "the left image", "--mask-left".
Frames find_frames(const std::filesystem::path& given, const std::string& what);

// Sorts b's frames in the order of a's. Throws an Error if the two inputs have different frames, and names the first
// that differs.
void pair_up(const Frames& a, const std::filesystem::path& given_a, Frames& b, const std::filesystem::path& given_b);

void reads(CallFiles& files, const Frames& frames, const std::string& what);

// Returns the output file of frame i. For a sequence, `given` is a pattern, or a directory in which the file gets the
// stem of the left file and `extension`. `option` names the output in errors.
std::filesystem::path output_file(const std::filesystem::path& given, const Frames& left, std::size_t i,
                                  const std::string& extension, const std::string& option);

// Does not throw for files that cannot be examined, such as links that form a cycle.
bool file_exists(const std::filesystem::path& file);

}  // namespace stereopsis::command
