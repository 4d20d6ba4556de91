#include "frames.hpp"

#include <fmt/core.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "options.hpp"

namespace stereopsis::command {
namespace fs = std::filesystem;
namespace {

// A pattern of the form prefix%dsuffix or prefix%0Ndsuffix.
struct NumberPattern {
  std::string prefix, suffix;
  int width = 0;

  std::string name(long long number) const { return fmt::format("{}{:0{}}{}", prefix, number, width, suffix); }
  // Returns the number for which name() returns this name.
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

bool has_wildcard(const std::string& name) { return name.find_first_of("*?[") != std::string::npos; }

// Names that begin with a dot are hidden; macOS stores files that are not images as ._left.png.
bool is_image_name(const fs::path& file) {
  static constexpr std::array extensions = {".png",  ".pgm", ".ppm", ".pnm",  ".jpg", ".jpeg", ".tif",
                                            ".tiff", ".pfm", ".npy", ".webp", ".bmp", ".jp2"};
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return !file.filename().string().starts_with('.') &&
         std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

bool is_file(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored);
}

std::vector<fs::path> files_in(const fs::path& directory, const std::string& what) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (is_file(entry->path())) files.push_back(entry->path());
  if (error)
    throw Error(ErrorCategory::file,
                fmt::format("{} {} cannot be listed: {}", what, directory.string(), error.message()));
  return files;
}

// Returns the digits of the last number of a name, without leading zeros.
std::optional<std::string> last_number(const std::string& name) {
  const std::size_t last = name.find_last_of("0123456789");
  if (last == std::string::npos) return std::nullopt;
  const std::size_t before = name.find_last_not_of("0123456789", last);
  const std::string digits = name.substr(before + 1, last - before);
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

// Returns a key that sorts in numerical order.
std::string sortable(const std::string& digits) { return fmt::format("{:06}:{}", digits.size(), digits); }

bool all_differ(const std::vector<std::string>& keys) {
  return std::set<std::string>(keys.begin(), keys.end()).size() == keys.size();
}

// Returns the frames sorted by their keys: by number if all numbers exist and differ, else by name. `parts` has the
// distinguishing parts of each file's path.
Frames ordered(std::vector<fs::path> files, const std::vector<std::vector<std::string>>& parts,
               const std::string& what) {
  std::vector<std::string> names, numbers;
  std::vector<long long> values;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::string name, number;
    bool numbered = true;
    for (const std::string& part : parts[i]) {
      const auto digits = last_number(part);
      name += part + '/';
      numbered &= digits.has_value();
      number += sortable(digits.value_or("")) + '/';
    }
    const std::string digits = last_number(parts[i].back()).value_or("0");
    long long value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    names.push_back(name);
    values.push_back(value);
    if (numbered) numbers.push_back(number);
  }
  if (!all_differ(names)) {
    std::sort(files.begin(), files.end());
    for (std::size_t i = 1; i < files.size(); ++i)
      if (files[i].stem() == files[i - 1].stem())
        refuse(
            fmt::format("{}: the names of {} and {} differ only in the extension; remove one of them, or select files "
                        "with a pattern such as '*{}'",
                        what, files[i - 1].string(), files[i].string(), files[i].extension().string()));
  }
  if (numbers.size() < files.size() || !all_differ(numbers)) numbers.clear();
  const std::vector<std::string>& keys = numbers.empty() ? names : numbers;
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  Frames frames{true, {}, {}, {}, {}};
  for (const std::size_t i : order) {
    const auto place = static_cast<long long>(frames.files.size());
    frames.files.push_back(files[i]);
    frames.numbers.push_back(numbers.empty() || parts[i].size() > 1 ? place : values[i]);
    if (!numbers.empty()) frames.by_number.push_back(numbers[i]);
    frames.by_name.push_back(names[i]);
  }
  return frames;
}

Frames frames_of_directory(const fs::path& directory, const std::string& what) {
  std::vector<fs::path> files = files_in(directory, what);
  std::erase_if(files, [](const fs::path& file) { return !is_image_name(file); });
  if (files.empty())
    refuse(fmt::format("{} {} is a directory without images; give a directory with images", what, directory.string()));
  return frames_of(std::move(files), what);
}

Frames frames_of_pattern(const fs::path& given, const NumberPattern& pattern, const std::string& what) {
  const fs::path directory = given.has_parent_path() ? given.parent_path() : ".";
  Frames frames{true, {}, {}, {}, {}};
  std::error_code ignored;
  if (fs::is_directory(directory, ignored))
    for (const fs::path& file : files_in(directory, what))
      if (const auto number = pattern.number(file.filename().string())) frames.numbers.push_back(*number);
  if (frames.numbers.empty()) refuse(fmt::format("{} {}: no file matches this pattern", what, given.string()));
  std::sort(frames.numbers.begin(), frames.numbers.end());
  for (const long long number : frames.numbers) {
    frames.files.push_back(given.parent_path() / pattern.name(number));
    frames.by_number.push_back(sortable(std::to_string(number)) + '/');
    frames.by_name.push_back(frames.files.back().stem().string() + '/');
  }
  return frames;
}

Frames frames_of_wildcard(const fs::path& given, const std::string& what) {
  glob_t found = {};
  const int code = glob(given.c_str(), 0, nullptr, &found);
  std::vector<fs::path> files(found.gl_pathv, found.gl_pathv + (code == 0 ? found.gl_pathc : 0));
  globfree(&found);
  std::erase_if(files, [](const fs::path& file) { return !is_file(file); });
  if (files.empty()) refuse(fmt::format("{} {}: no file matches this pattern", what, given.string()));
  std::vector<std::vector<std::string>> parts;
  for (const fs::path& file : files) {
    parts.emplace_back();
    auto part = file.begin();
    for (const fs::path& asked : given) {
      if (has_wildcard(asked.string())) parts.back().push_back(std::next(part) == file.end() ? part->stem() : *part);
      ++part;
    }
  }
  return ordered(std::move(files), parts, what);
}

// Returns the partner in `b` of each frame of `a`, or its size if there is none.
std::vector<std::size_t> partners(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < b.size(); ++i) places[b[i]] = i;
  std::vector<std::size_t> found;
  for (const std::string& key : a) {
    const auto place = places.find(key);
    found.push_back(place == places.end() ? b.size() : place->second);
  }
  return found;
}

}  // namespace

bool file_exists(const fs::path& file) {
  std::error_code error;
  const bool there = fs::exists(file, error);
  if (error) throw Error(ErrorCategory::file, fmt::format("{} cannot be opened: {}", file.string(), error.message()));
  return there;
}

Frames find_frames(const fs::path& given, const std::string& what) {
  const bool there = file_exists(given);
  if (there && fs::is_directory(given)) return frames_of_directory(given, what);
  if (!there)
    if (const auto pattern = parse_pattern(given.filename().string())) return frames_of_pattern(given, *pattern, what);
  if (!there && has_wildcard(given.string())) return frames_of_wildcard(given, what);
  if (!there) refuse(fmt::format("{} {} does not exist; check its name", what, given.string()));
  return {false, {given}, {0}, {}, {}};
}

std::string Frames::name(std::size_t i) const {
  return video ? fmt::format("frame {} of {}", numbers[i], files[i].string()) : file(i).string();
}

std::string Frames::stem(std::size_t i) const { return stems.empty() ? file(i).stem().string() : stems[i]; }

Frames frames_of(std::vector<fs::path> files, const std::string& what) {
  std::vector<std::vector<std::string>> parts;
  for (const fs::path& file : files) parts.push_back({file.stem().string()});
  return ordered(std::move(files), parts, what);
}

Frames selected(const Frames& frames, std::span<const std::size_t> indices) {
  Frames chosen = frames;
  const auto select = [&](auto& values) {
    const auto all = std::exchange(values, {});
    if (all.empty()) return;
    for (const std::size_t i : indices) values.push_back(all[i]);
  };
  select(chosen.files);
  select(chosen.numbers);
  select(chosen.by_number);
  select(chosen.by_name);
  select(chosen.stems);
  return chosen;
}

std::vector<std::string> pair_up(Frames& a, const fs::path& given_a, Frames& b, const fs::path& given_b,
                                 Unpaired unpaired, const std::string& advice) {
  if (a.sequence != b.sequence)
    refuse(fmt::format("{} is {} but {} is {}; give two files or two sequences", given_a.string(),
                       a.sequence ? "a sequence" : "one file", given_b.string(),
                       b.sequence ? "a sequence" : "one file"));
  if (!a.sequence) return {};
  const bool numbered = !a.by_number.empty() && !b.by_number.empty();
  const auto keys = [&](const Frames& frames) { return numbered ? frames.by_number : frames.by_name; };
  const std::vector<std::size_t> of_a = partners(keys(a), keys(b)), of_b = partners(keys(b), keys(a));
  std::vector<std::size_t> in_a, in_b;
  std::vector<std::string> dropped;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    if (of_a[i] < b.size()) {
      in_a.push_back(i);
      in_b.push_back(of_a[i]);
    } else {
      dropped.push_back(a.name(i));
    }
  const std::size_t only_in_a = dropped.size();
  for (std::size_t i = 0; i < of_b.size(); ++i)
    if (of_b[i] == a.size()) dropped.push_back(b.name(i));
  const std::size_t forbidden = unpaired == Unpaired::refuse           ? dropped.size()
                                : unpaired == Unpaired::skip_of_second ? only_in_a
                                                                       : 0;
  if (in_a.empty() || forbidden > 0)
    refuse(fmt::format(
        "{} has {} images and {} has {}; {} has no partner in {}: the images of a pair must have the same {}{}",
        given_a.string(), a.size(), given_b.string(), b.size(), dropped.front(),
        (only_in_a > 0 ? given_b : given_a).string(),
        numbered ? "frame number, the last number of a name" : "name, or both inputs must have frame numbers", advice));
  a = selected(a, in_a);
  b = selected(b, in_b);
  return dropped;
}

void reads(CallFiles& files, const Frames& frames, const std::string& what) {
  for (const fs::path& file : frames.files) {
    files.reads(file, what);
    if (frames.video) return;  // all frames are of one file
  }
}

fs::path output_file(const fs::path& given, const Frames& left, std::size_t i, const std::string& extension,
                     const std::string& option) {
  std::error_code ignored;
  const bool directory = fs::is_directory(given, ignored);
  if (!left.sequence) {
    if (directory) refuse(fmt::format("{} {} is a directory; give the name of a file", option, given.string()));
    return given;
  }
  if (directory) return given / (left.stem(i) + extension);
  if (const auto pattern = parse_pattern(given.filename().string()))
    return given.parent_path() / pattern->name(left.numbers[i]);
  refuse(
      fmt::format("{} {} is neither an existing directory nor a pattern such as disparity%03d.pfm; a sequence requires "
                  "one of them, so create the directory first",
                  option, given.string()));
}

}  // namespace stereopsis::command
