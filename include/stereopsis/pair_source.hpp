// Finds and reads pairs of images: two files, two sequences, two videos, a list of paths, a folder with both views, or
// pictures that hold both views. The command and the Python package find their pairs with this reader.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {

// Decodes the frames of a video. The library has no decoder; the program provides one.
class Video {
 public:
  virtual ~Video() = default;
  // Returns the number of frames.
  virtual std::size_t size() const = 0;
  // Returns the number of frames per second.
  virtual double rate() const = 0;
  // Returns a frame as 8-bit RGB. Several threads may call this function; reading in order is fastest.
  virtual AnyImage read(std::size_t frame) = 0;
};

// Opens a video. Throws Error(file) or Error(format) if that fails, and Error(unsupported) without a decoder.
using OpenVideo = std::function<std::shared_ptr<Video>(const std::filesystem::path& file)>;

// Options of a source of pairs.
struct PairSourceOptions {
  // Pairing of two sequences: "number" (by frame number, or by name if the names have no numbers) or "stamp" (by
  // nearest time stamp).
  std::string pair = "number";
  // Largest difference of the time stamps of a pair, as a duration ("5ms", "200us", "0.01s") or as a share of the time
  // between two frames ("5%"); empty: "50%".
  std::string slop = {};
  bool side_by_side = false;  // the left half of each picture is the left view, and there is no second input
  bool top_bottom = false;    // the upper half of each picture is the left view, and there is no second input
  bool right_first = false;   // exchanges the views of files that hold both: the first one is the right view
  bool keep_going = false;    // frames without a partner are skipped, as always for `pair` "stamp"; else an error
  OpenVideo open_video = {};  // opens videos; empty: videos are rejected
};

// Both views of a pair.
struct PairOfImages {
  MaskedImage left;   // left image
  MaskedImage right;  // right image
};

// The pairs of an input, in the order of their frames. Image files are opened only when a pair is read. All functions
// may be called from several threads at the same time.
class PairSource {
 public:
  // Finds the pairs. `left` and `right` are each an image, a pattern (left%03d.png, 'left*.png'), a directory or a video.
  // Without `right`, `left` is a folder with both views (see docs/calibration.md), a folder of folders with one pair
  // each, a list of pairs (.csv, .tsv or .txt), or files that hold both views: halves of a picture (side_by_side,
  // top_bottom, JPS) or two pictures (MPO, TIFF). Throws Error(call) for files that do not exist and for frames without a
  // partner,
  // and Error(file) and Error(format) for files that cannot be read.
  explicit PairSource(const std::filesystem::path& left, const std::filesystem::path& right = {},
                      const PairSourceOptions& options = {});

  // Returns the number of pairs, at least 1.
  std::size_t size() const;
  // Returns whether the input is a sequence, even of one pair; false for two images.
  bool is_sequence() const;
  // Returns the number of frames per second of a video; 0 for images.
  double rate() const;
  // Returns the frames that have no partner and are skipped, by name.
  const std::vector<std::string>& dropped() const;

  // Returns the file of the left view of pair i: an image, or a video.
  const std::filesystem::path& left_file(std::size_t i) const;
  // Returns the file of the right view of pair i; the same as the left one if it holds both views.
  const std::filesystem::path& right_file(std::size_t i) const;
  // Returns the name of the left view of pair i: its file, or "frame 3 of left.mp4".
  std::string name(std::size_t i) const;
  // Returns a name for the results of pair i, without extension: that of the left image or, if several have one name,
  // the parts of their paths that differ, such as the folder.
  std::string result_name(std::size_t i) const;
  // Returns the seconds between both time stamps of pair i; empty if the pairs were not found by time stamps.
  std::optional<double> seconds_apart(std::size_t i) const;

  // Reads both views of pair i. Throws as read_image(), and Error(call) for a picture that cannot be halved.
  PairOfImages read(std::size_t i) const;

  // Returns a file for each pair, such as its ground truth: the frame of `given` that belongs to the left frame by number
  // or by name, and an empty path where there is none. `given` is an image, a pattern or a directory; a single image
  // belongs to the first pair. Throws Error(call) for files that do not exist, and if no file belongs to a pair.
  std::vector<std::filesystem::path> files_beside(const std::filesystem::path& given) const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

// Returns whether a folder has left and right views with names that PairSource knows: left/ and right/, left.* and
// right.*, NAME_left.* and NAME_right.*, or the names of KITTI, EuRoC and Middlebury. Throws Error(call) if it has several
// kinds of views.
bool has_both_views(const std::filesystem::path& folder);

// Returns the image that is given, or the images of a pattern or a directory, in the order of their frames. Throws
// Error(call) for files that do not exist.
std::vector<std::filesystem::path> find_images(const std::filesystem::path& given);

}  // namespace stereopsis
