// What a pair's images say of themselves: how their values are to be read, and whether they fit one another.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/pair_check.hpp"

namespace stereopsis::command {

// --bit-depth and --white: values that the file's type does not tell.
struct IntensityOptions {
  std::optional<int> bit_depth;
  std::optional<double> white;

  void add_to(Command& command);
  // Refuses what does not go with the file's pixels, and pixels above the bit depth.
  AnyImage read(const std::filesystem::path& file) const;
};

// What is wrong with a pair; empty where it is fit.
std::vector<std::string> complaints_of(const PairCheck& check, const std::filesystem::path& right,
                                       const std::string& how_to_rectify = "rectify the pair first");
// Says that both files hold the same pixels.
std::string same_picture(const std::filesystem::path& left, const std::filesystem::path& right);
// That its values use next to nothing of their range, and how to say which they use.
std::optional<std::string> low_contrast(const AnyImageView& image, const std::filesystem::path& file);

}  // namespace stereopsis::command
