// Diagnoses a pair's images: how their values are to be read, and whether they fit each other.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pair_check.hpp"

namespace stereopsis::command {

// The options --bit-depth and --white, for properties that the file's type does not determine.
struct IntensityOptions {
  std::optional<int> bit_depth;
  std::optional<double> white;

  void add_to(Command& command);
  // Throws an Error for options that do not suit the file's pixels, and for pixels above the bit depth.
  AnyImage read(const std::filesystem::path& file) const;
};

// Returns the problems of a pair; empty if there are none.
std::vector<std::string> complaints_of(const PairCheck& check, const std::filesystem::path& right,
                                       const std::string& how_to_rectify = "rectify the pair first");
// Returns a sentence: both files have the same pixels.
std::string same_picture(const std::filesystem::path& left, const std::filesystem::path& right);
// Returns a sentence if the values use almost nothing of their range, with the option that sets the range.
std::optional<std::string> low_contrast(const AnyImageView& image, const std::filesystem::path& file);

}  // namespace stereopsis::command
