#include "constant_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stereopsis::command {
namespace {

// Black becomes noise of this size in images that a lossy format stored.
constexpr int black_of_lossy = 2;

bool is_lossy(const std::filesystem::path& file) {
  constexpr std::array extensions{".jpg", ".jpeg", ".jpe", ".jfif", ".jps", ".mpo"};
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(extensions, extension) != extensions.end();
}

}  // namespace

void ConstantOptions::add_to(Command& command) {
  command.integer("--mask-black", black, 0, 255, "LEVEL",
                  "Largest value of black regions at the border, which are masked, in 8-bit units [0; 2 for JPEG and "
                  "videos]");
  command.flag("--measure-constant", measure,
               "Measure black regions at the border, and pixels without contrast, like all others");
}

void ConstantOptions::check() const {
  if (measure && black)
    refuse("--mask-black applies to regions that --measure-constant does not mask; leave one of the two options out");
}

ConstantRegions ConstantOptions::regions(const std::filesystem::path& file, bool is_video) const {
  if (measure) return {};
  return {
      .mask_black = true, .black = black.value_or(is_video || is_lossy(file) ? black_of_lossy : 0), .mark_flat = true};
}

}  // namespace stereopsis::command
