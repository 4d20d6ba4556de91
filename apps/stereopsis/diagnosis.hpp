// Diagnoses a pair's images: how their values are to be read, and whether they fit each other.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/pair_judge.hpp"

namespace stereopsis::command {

// The options --bit-depth, --black and --white, for properties that the file's type does not determine.
struct IntensityOptions {
  std::optional<int> bit_depth;
  std::optional<double> black, white;

  bool given() const { return bit_depth || black || white; }
  void add_to(Command& command);
  // Reads an image. Throws an Error for options that do not suit the file's pixels, and for pixels above the bit depth.
  AnyImage read(const std::filesystem::path& file) const { return applied(read_masked_image(file), file).image; }
  // Applies the options to an image that was read from `file`. Throws as read().
  MaskedImage applied(MaskedImage read, const std::filesystem::path& file) const;
  // Returns a sentence if the values of an image, to which the options were applied, use almost nothing of their range,
  // with the option that sets the range.
  std::optional<std::string> low_contrast(const AnyImageView& image, const std::filesystem::path& file) const;
};

// Returns the faults of a pair with advice, which names its files.
std::vector<PairFault> with_advice(std::vector<PairFault> faults, const std::filesystem::path& left,
                                   const std::filesystem::path& right,
                                   const std::string& how_to_rectify = "rectify the pair first");
// Returns a remark if a file's orientation, which is not applied, may be the reason for a fault; else "".
std::string orientation_remark(const std::filesystem::path& left, const std::filesystem::path& right);

}  // namespace stereopsis::command
