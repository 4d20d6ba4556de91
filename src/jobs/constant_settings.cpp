#include "jobs/constant_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stereopsis::jobs {
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

ConstantRegions ConstantSettings::regions(const std::filesystem::path& file, bool is_video) const {
  if (measure) return {};
  return {
      .mask_black = true, .black = black.value_or(is_video || is_lossy(file) ? black_of_lossy : 0), .mark_flat = true};
}

}  // namespace stereopsis::jobs
