// Inputs that are one file (pair.tif), a picture of a file (pair.tif[1]) or a sequence of files: a printf pattern
// (left%03d.png), wildcards (left*.png, take*/left.png), a directory or a video.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stereopsis/pair_source.hpp"

namespace stereopsis::sources {

[[noreturn]] void refuse(const std::string& sentence);  // throws Error(call)

// The part of a picture that is a view.
enum class Part { whole, left, right, top, bottom };

// A single file, or the frames of a sequence. A frame is identified by its number: the number that replaces %d in a
// pattern, else the last number of its name (with wildcards: the last number of each part of the path that has one). If
// a file has no number, or two files have the same, all are identified by their names.
struct Frames {
  bool sequence = false;
  std::vector<std::filesystem::path> files =
      {};                               // ordered by number, or by name; of a video: the video, once per frame
  std::vector<long long> numbers = {};  // 0, 1, … if the files have none

  std::size_t size() const { return files.size(); }
  // Returns the file of frame i; a single input serves all frames.
  const std::filesystem::path& file(std::size_t i) const { return files[sequence ? i : 0]; }

  // Returns the name of frame i for messages and reports.
  std::string name(std::size_t i) const;
  // Returns the name of frame i's results, without extension.
  std::string stem(std::size_t i) const;

  std::vector<std::string> by_number = {};  // empty if frames are identified by their names
  std::vector<std::string> by_name = {};
  std::vector<std::string> by_wildcard = {};  // the text in place of *; may be empty
  std::vector<std::string> stems = {};        // names of the results; empty: the names of the files
  std::shared_ptr<Video> video = {};          // decodes the frames; null for image files
  Part part = Part::whole;
};

// Returns the frames with these indices, in their order.
Frames selected(const Frames& frames, std::span<const std::size_t> indices);

// Returns the entry of Frames::by_number for a frame number. Entries sort in numerical order.
std::string key_of(long long number);

// Returns the distinct frames of image files, ordered by number or by name.
Frames frames_of(std::vector<std::filesystem::path> files, const std::string& what);
// Throws an Error if the files do not exist. `what` names the input in the error: "the left image", "--mask-left".
Frames find_frames(const std::filesystem::path& given, const std::string& what);

// Says which of two inputs may have frames that the other one lacks.
enum class Unpaired { refuse, skip_of_second, skip };
// Sorts b's frames in the order of a's, and drops frames without a partner. Returns the names of the dropped frames.
// Throws an Error if no frames are left, or if a frame was dropped that must not be; `advice` ends its sentence.
std::vector<std::string> pair_up(Frames& a, const std::filesystem::path& given_a, Frames& b,
                                 const std::filesystem::path& given_b, Unpaired unpaired = Unpaired::refuse,
                                 const std::string& advice = "");

// Returns the file of `others` that belongs to each frame by number or by name; an empty path where there is none. A
// single file belongs to the first frame.
std::vector<std::filesystem::path> partners_of(const Frames& frames, const Frames& others);

// Returns the file with this number of a pattern such as left%03d.png; nothing if `given` is no pattern.
std::optional<std::filesystem::path> file_of_pattern(const std::filesystem::path& given, long long number);

// Returns whether a file has the name of an image: no hidden one, with a known extension.
bool is_image_name(const std::filesystem::path& file);
// Returns whether a path leads to a regular file; false if that cannot be examined.
bool is_file(const std::filesystem::path& path);
// Returns the same for a folder.
bool is_folder(const std::filesystem::path& path);
// Returns whether a folder has a file with the name of an image.
bool has_image(const std::filesystem::path& folder);
// Throws Error(file) for a path that cannot be examined, such as a link that forms a cycle.
bool file_exists(const std::filesystem::path& file);

// Returns a number with leading zeros up to this width.
std::string padded(long long number, int width);

}  // namespace stereopsis::sources
