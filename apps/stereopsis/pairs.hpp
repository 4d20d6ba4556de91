// The pairs of a call: the options that name them, and images that are made alike.
#pragma once

#include <filesystem>
#include <string>

#include "frames.hpp"
#include "options.hpp"
#include "sources/pairs.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis::command {

using sources::find_pairs, sources::Pairs, sources::read_pair;

// The options --pair, --slop, --side-by-side and --top-bottom.
struct PairOptions : PairSourceOptions {
  PairOptions();

  void add_to(Command& command);
};

// Adds the arguments LEFT and RIGHT. `also` ends the list of what may be given in place of both.
void add_views(Command& command, std::filesystem::path& left, std::filesystem::path& right,
               const std::string& also = "");

// Returns the pixel type and the channels of an image: "uint8 RGB".
std::string kind_of(const AnyImageView& image);

// Converts both images of a pair to grey (ITU-R BT.601, rounded as the stages do it) if only one has colours, or if
// `in_grey`. Returns a note on the conversion; empty if the images are alike. Throws Error(call) for images of
// different sizes or pixel types.
std::string make_alike(AnyImage& left, const std::string& left_name, AnyImage& right, const std::string& right_name,
                       bool in_grey = false);

}  // namespace stereopsis::command
