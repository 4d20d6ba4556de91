// The pairs of a call: two images, two sequences, two videos, a list of paths, a folder with both views, or pictures
// that hold both views.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "frames.hpp"
#include "options.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {

// The options --pair, --slop, --side-by-side and --top-bottom.
struct PairOptions {
  std::string by = "number", slop;
  bool side_by_side = false, top_bottom = false;

  void add_to(Command& command);
  bool in_one_picture() const { return side_by_side || top_bottom; }
};

// Adds the arguments LEFT and RIGHT. `also` ends the list of what may be given in place of both.
void add_views(Command& command, std::filesystem::path& left, std::filesystem::path& right,
               const std::string& also = "");

struct Pairs {
  Frames left, right;                // equally many frames
  std::vector<std::string> dropped;  // frames without a partner
};

// Finds the pairs of LEFT and RIGHT; RIGHT is empty for inputs that hold both views. Throws an Error for files that do
// not exist, and for frames without a partner unless they may be skipped. `advice` ends the sentence on such frames.
Pairs find_pairs(const std::filesystem::path& left, const std::filesystem::path& right, const PairOptions& options,
                 Unpaired unpaired, const std::string& advice);

// Registers the files of both views.
void reads(CallFiles& files, const Pairs& pairs);

// Returns both views of pair i. Throws as read_image, and Error(call) for a picture that cannot be halved.
std::pair<MaskedImage, MaskedImage> read_pair(const Frames& left, const Frames& right, std::size_t i);

// Returns the pixel type and the channels of an image: "uint8 RGB".
std::string kind_of(const AnyImageView& image);

// Converts both images of a pair to grey (ITU-R BT.601, rounded as the stages do it) if only one has colours, or if
// `in_grey`. Returns a note on the conversion; empty if the images are alike. Throws Error(call) for images of
// different sizes or pixel types.
std::string make_alike(AnyImage& left, const std::string& left_name, AnyImage& right, const std::string& right_name,
                       bool in_grey = false);

}  // namespace stereopsis::command
