// The meaning of the values in image files, where the type of a file does not determine it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "jobs/setting_names.hpp"
#include "stereopsis/image.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::jobs {

struct Intensities {
  std::optional<int> bit_depth;        // number of significant low-order bits of 16-bit pixels
  std::optional<double> black, white;  // values of float and 16-bit pixels

  bool given() const { return bit_depth || black || white; }
  // Returns an image that was read from `file`, with these values. Throws an Error for values that do not suit the
  // file's pixels, and for pixels above the bit depth.
  MaskedImage applied(MaskedImage read, const std::filesystem::path& file, const SettingNames& names) const;
  // Returns a sentence if the values of an applied image use almost nothing of their range, with the setting of the
  // range.
  std::optional<std::string> low_contrast(const AnyImageView& image, const std::filesystem::path& file,
                                          const SettingNames& names) const;
};

}  // namespace stereopsis::jobs
