#include "frames.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "options.hpp"

namespace stereopsis::command {
namespace fs = std::filesystem;
namespace {

// prefix%d suffix, or prefix%0Nd suffix.
struct NumberPattern {
  std::string prefix, suffix;
  int width = 0;

  std::string name(long long number) const { return fmt::format("{}{:0{}}{}", prefix, number, width, suffix); }
  // The number whose name this is.
  std::optional<long long> number(const std::string& name_) const {
    if (name_.size() <= prefix.size() + suffix.size() || !name_.starts_with(prefix)) return std::nullopt;
    long long value = 0;
    const auto [end, error] = std::from_chars(name_.data() + prefix.size(), name_.data() + name_.size(), value);
    if (error != std::errc() || value < 0 || name(value) != name_) return std::nullopt;
    return value;
  }
};

std::optional<NumberPattern> parse_pattern(const std::string& name) {
  const std::size_t percent = name.find('%');
  if (percent == std::string::npos) return std::nullopt;
  NumberPattern pattern{name.substr(0, percent), "", 0};
  std::size_t i = percent + 1;
  const bool padded = i < name.size() && name[i] == '0';
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && pattern.width < 100; ++i)
    pattern.width = 10 * pattern.width + (name[i] - '0');
  if (i >= name.size() || name[i] != 'd' || pattern.width > 18 || (pattern.width > 0 && !padded)) return std::nullopt;
  pattern.suffix = name.substr(i + 1);
  return pattern;
}

bool is_image_name(const fs::path& file) {
  static constexpr std::array extensions = {".png",  ".pgm", ".ppm",  ".pnm", ".jpg",
                                            ".jpeg", ".tif", ".tiff", ".pfm", ".npy"};
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.is_regular_file()) files.push_back(entry.path());
  return files;
}

Frames frames_of_directory(const fs::path& directory, const std::string& what) {
  Frames frames{true, files_in(directory), {}};
  std::erase_if(frames.files, [](const fs::path& file) { return !is_image_name(file); });
  if (frames.files.empty()) refuse(fmt::format("{} {} is a directory without images", what, directory.string()));
  std::sort(frames.files.begin(), frames.files.end());
  for (std::size_t i = 0; i < frames.size(); ++i) frames.numbers.push_back(static_cast<long long>(i));
  return frames;
}

Frames frames_of_pattern(const fs::path& given, const NumberPattern& pattern, const std::string& what) {
  const fs::path directory = given.has_parent_path() ? given.parent_path() : ".";
  Frames frames{true, {}, {}};
  if (fs::is_directory(directory))
    for (const fs::path& file : files_in(directory))
      if (const auto number = pattern.number(file.filename().string())) frames.numbers.push_back(*number);
  if (frames.numbers.empty()) refuse(fmt::format("{} {}: no file has a name of this pattern", what, given.string()));
  std::sort(frames.numbers.begin(), frames.numbers.end());
  for (const long long number : frames.numbers) frames.files.push_back(given.parent_path() / pattern.name(number));
  return frames;
}

Frames frames_of_wildcard(const fs::path& given, const std::string& what) {
  const fs::path directory = given.has_parent_path() ? given.parent_path() : ".";
  Frames frames{true, {}, {}};
  if (fs::is_directory(directory))
    for (const fs::path& file : files_in(directory))
      if (fnmatch(given.filename().c_str(), file.filename().c_str(), FNM_PERIOD) == 0) frames.files.push_back(file);
  if (frames.files.empty()) refuse(fmt::format("{} {}: no file has a name of this pattern", what, given.string()));
  std::sort(frames.files.begin(), frames.files.end());
  for (std::size_t i = 0; i < frames.size(); ++i) frames.numbers.push_back(static_cast<long long>(i));
  return frames;
}

}  // namespace

Frames find_frames(const fs::path& given, const std::string& what) {
  if (fs::is_directory(given)) return frames_of_directory(given, what);
  if (!fs::exists(given))
    if (const auto pattern = parse_pattern(given.filename().string())) return frames_of_pattern(given, *pattern, what);
  if (!fs::exists(given) && given.filename().string().find_first_of("*?[") != std::string::npos)
    return frames_of_wildcard(given, what);
  if (!fs::exists(given)) refuse(fmt::format("{} {} does not exist", what, given.string()));
  return {false, {given}, {0}};
}

void check_counts(const Frames& a, const fs::path& given_a, const Frames& b, const fs::path& given_b) {
  if (a.sequence != b.sequence)
    refuse(fmt::format("{} is {} but {} is {}; give two files or two sequences", given_a.string(),
                       a.sequence ? "a sequence" : "one file", given_b.string(),
                       b.sequence ? "a sequence" : "one file"));
  if (a.size() != b.size())
    refuse(fmt::format("{} has {} images but {} has {}; a sequence needs as many left ones as right ones",
                       given_a.string(), a.size(), given_b.string(), b.size()));
}

fs::path output_file(const fs::path& given, const Frames& left, std::size_t i, const std::string& extension,
                     const std::string& option) {
  if (!left.sequence) {
    if (fs::is_directory(given)) refuse(fmt::format("{} {} is a directory; name a file in it", option, given.string()));
    return given;
  }
  if (fs::is_directory(given)) return given / left.files[i].filename().replace_extension(extension);
  if (const auto pattern = parse_pattern(given.filename().string()))
    return given.parent_path() / pattern->name(left.numbers[i]);
  refuse(
      fmt::format("{} {} is neither a directory nor a pattern such as disparity%03d.pfm, which a sequence needs; "
                  "make the directory first",
                  option, given.string()));
}

}  // namespace stereopsis::command
