#include "sources/frames.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/text.hpp"
#include "device/system/system.hpp"
#include "io/file.hpp"
#include "io/pictures.hpp"
#include "sources/layouts.hpp"
#include "sources/side_names.hpp"

namespace stereopsis::sources {
namespace fs = std::filesystem;
namespace {

// A pattern of the form prefix%dsuffix or prefix%0Ndsuffix.
struct NumberPattern {
  std::string prefix, suffix;
  int width = 0;

  std::string name(long long number) const { return prefix + padded(number, width) + suffix; }
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
  const bool is_padded = i < name.size() && name[i] == '0';
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && pattern.width < 100; ++i)
    pattern.width = 10 * pattern.width + (name[i] - '0');
  if (i >= name.size() || name[i] != 'd' || pattern.width > 18 || (pattern.width > 0 && !is_padded))
    return std::nullopt;
  pattern.suffix = name.substr(i + 1);
  return pattern;
}

bool has_wildcard(const std::string& name) { return name.find_first_of("*?[") != std::string::npos; }

std::vector<fs::path> files_in(const fs::path& directory, const std::string& what) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (is_file(entry->path())) files.push_back(entry->path());
  if (error)
    throw Error(ErrorCategory::file, text(what, " ", directory.string(), " cannot be listed: ", error.message()));
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
std::string sortable(const std::string& digits) {
  return padded(static_cast<long long>(digits.size()), 6) + ':' + digits;
}

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
        refuse(text(what, ": the names of ", files[i - 1].string(), " and ", files[i].string(),
                    " differ only in the extension; remove one of them, or select files with a pattern such as '*",
                    files[i].extension().string(), "'"));
  }
  if (numbers.size() < files.size() || !all_differ(numbers)) numbers.clear();
  const std::vector<std::string>& keys = numbers.empty() ? names : numbers;
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  Frames frames{.sequence = true};
  for (const std::size_t i : order) {
    const auto place = static_cast<long long>(frames.files.size());
    frames.files.push_back(files[i]);
    frames.numbers.push_back(numbers.empty() || parts[i].size() > 1 ? place : values[i]);
    if (!numbers.empty()) frames.by_number.push_back(numbers[i]);
    frames.by_name.push_back(names[i]);
  }
  frames.stems = distinct_stems(frames.files);
  return frames;
}

// Returns whether a file has the name of points or of optical flow.
bool is_sensor_name(const fs::path& file) {
  static constexpr std::array extensions = {".bin", ".ply", ".pcd", ".flo"};
  return !file.filename().string().starts_with('.') &&
         std::ranges::find(extensions, io::lower_extension(file)) != extensions.end();
}

Frames frames_of_directory(const fs::path& directory, const std::string& what) {
  const std::vector<fs::path> all = files_in(directory, what);
  std::vector<fs::path> files;
  std::ranges::copy_if(all, std::back_inserter(files), is_image_name);
  if (files.empty()) std::ranges::copy_if(all, std::back_inserter(files), is_sensor_name);
  if (files.empty())
    refuse(text(what, " ", directory.string(), " is a directory without images; give a directory with images"));
  return frames_of(std::move(files), what);
}

Frames frames_of_pattern(const fs::path& given, const NumberPattern& pattern, const std::string& what) {
  const fs::path directory = given.has_parent_path() ? given.parent_path() : ".";
  Frames frames{.sequence = true};
  std::error_code ignored;
  if (fs::is_directory(directory, ignored))
    for (const fs::path& file : files_in(directory, what))
      if (const auto number = pattern.number(file.filename().string())) frames.numbers.push_back(*number);
  if (frames.numbers.empty()) refuse(text(what, " ", given.string(), ": no file matches this pattern"));
  std::sort(frames.numbers.begin(), frames.numbers.end());
  for (const long long number : frames.numbers) {
    frames.files.push_back(given.parent_path() / pattern.name(number));
    frames.by_number.push_back(key_of(number));
    frames.by_name.push_back(frames.files.back().stem().string() + '/');
  }
  return frames;
}

// Returns what the only * of a pattern stands for in a name; nothing for other patterns.
std::optional<std::string> starred(const std::string& name, const std::string& pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos || pattern.find_first_of("*?[", star + 1) != std::string::npos ||
      pattern.find_first_of("?[") != std::string::npos || name.size() + 1 < pattern.size())
    return std::nullopt;
  return name.substr(star, name.size() + 1 - pattern.size());
}

// Returns what the wildcards of a path stand for in each file; nothing for other patterns than one * in each part.
std::vector<std::string> by_wildcard(const std::vector<fs::path>& files, const fs::path& given) {
  std::vector<std::string> found;
  for (const fs::path& file : files) {
    found.emplace_back();
    auto part = file.begin();
    for (const fs::path& asked : given) {
      if (part == file.end()) return {};
      if (has_wildcard(asked.string())) {
        const auto text = starred(part->string(), asked.string());
        if (!text) return {};
        found.back() += *text + '/';
      }
      ++part;
    }
  }
  return all_differ(found) ? found : std::vector<std::string>();
}

Frames frames_of_wildcard(const fs::path& given, const std::string& what) {
  std::vector<fs::path> files = system::matches_of(given);
  std::erase_if(files, [](const fs::path& file) { return !is_file(file); });
  if (files.empty()) refuse(text(what, " ", given.string(), ": no file matches this pattern"));
  std::vector<std::vector<std::string>> parts;
  for (const fs::path& file : files) {
    parts.emplace_back();
    auto part = file.begin();
    for (const fs::path& asked : given) {
      if (has_wildcard(asked.string()))
        parts.back().push_back((std::next(part) == file.end() ? part->stem() : *part).string());
      ++part;
    }
  }
  Frames frames = ordered(std::move(files), parts, what);
  frames.by_wildcard = by_wildcard(frames.files, given);
  return frames;
}

// Returns the keys by which the frames are paired with others: their numbers if both have them, else their names.
const std::vector<std::string>& keys_of(const Frames& frames, const Frames& others) {
  return frames.by_number.empty() || others.by_number.empty() ? frames.by_name : frames.by_number;
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

using Partners =
    std::pair<std::vector<std::size_t>, std::vector<std::size_t>>;  // the partner of each frame in a, and in b

bool any_paired(const Partners& found) {
  return std::ranges::any_of(found.first, [&](std::size_t place) { return place < found.second.size(); });
}

Partners by_side(const Frames& a, const Frames& b) {
  Partners found{partners_by_side(a.by_name, b.by_name), std::vector<std::size_t>(b.size(), a.size())};
  for (std::size_t i = 0; i < a.size(); ++i)
    if (found.first[i] < b.size()) found.second[found.first[i]] = i;
  return found;
}

// Pairs the frames by their numbers or names; if that pairs none, by what * stands for; or by names that differ only in
// the side.
Partners partners_in(const Frames& a, const fs::path& given_a, const Frames& b, const fs::path& given_b) {
  Partners found{partners(keys_of(a, b), keys_of(b, a)), partners(keys_of(b, a), keys_of(a, b))};
  if (any_paired(found)) return found;
  if (!a.by_wildcard.empty() && !b.by_wildcard.empty()) {
    const Partners starred{partners(a.by_wildcard, b.by_wildcard), partners(b.by_wildcard, a.by_wildcard)};
    if (any_paired(starred)) return starred;
  }
  const Partners sides = by_side(a, b);
  if (any_paired(sides)) return sides;
  if (any_paired(by_side(b, a)))
    refuse(text("the names of ", given_a.string(), " say right, and those of ", given_b.string(),
                " say left; exchange the two inputs"));
  return found;
}

}  // namespace

void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

std::string padded(long long number, int width) {
  const std::string digits = std::to_string(number);
  return std::string(std::max<std::size_t>(width, digits.size()) - digits.size(), '0') + digits;
}

std::string key_of(long long number) { return sortable(std::to_string(number)) + '/'; }

// Names that begin with a dot are hidden; macOS stores files that are not images as ._left.png.
bool is_image_name(const fs::path& file) {
  static constexpr std::array extensions = {".png", ".pgm", ".ppm",  ".pnm", ".jpg", ".jpeg", ".tif", ".tiff",
                                            ".pfm", ".npy", ".webp", ".bmp", ".jp2", ".mpo",  ".jps", ".pns"};
  return !file.filename().string().starts_with('.') &&
         std::find(extensions.begin(), extensions.end(), io::lower_extension(file)) != extensions.end();
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool has_image(const fs::path& folder) { return std::ranges::any_of(files_in(folder, "the folder"), is_image_name); }

bool file_exists(const fs::path& file) {
  std::error_code error;
  const bool there = fs::exists(file, error);
  if (error) throw Error(ErrorCategory::file, text(file.string(), " cannot be opened: ", error.message()));
  return there;
}

Frames find_frames(const fs::path& given, const std::string& what) {
  const bool there = file_exists(given);
  if (io::image_name(given).picture) return {.files = {given}, .numbers = {0}};
  if (there && fs::is_directory(given)) return frames_of_directory(given, what);
  if (!there)
    if (const auto pattern = parse_pattern(given.filename().string())) return frames_of_pattern(given, *pattern, what);
  if (!there && has_wildcard(given.string())) return frames_of_wildcard(given, what);
  if (!there) refuse(text(what, " ", given.string(), " does not exist; check its name"));
  return {.files = {given}, .numbers = {0}};
}

std::string Frames::name(std::size_t i) const {
  return video ? text("frame ", numbers[i], " of ", files[i].string()) : file(i).string();
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
  select(chosen.by_wildcard);
  select(chosen.stems);
  return chosen;
}

std::vector<std::string> pair_up(Frames& a, const fs::path& given_a, Frames& b, const fs::path& given_b,
                                 Unpaired unpaired, const std::string& advice) {
  if (a.sequence != b.sequence)
    refuse(text(given_a.string(), " is ", a.sequence ? "a sequence" : "one file", " but ", given_b.string(), " is ",
                b.sequence ? "a sequence" : "one file", "; give two files or two sequences"));
  if (!a.sequence) return {};
  const auto [of_a, of_b] = partners_in(a, given_a, b, given_b);
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
    refuse(text(given_a.string(), " has ", a.size(), " images and ", given_b.string(), " has ", b.size(), "; ",
                dropped.front(), " has no partner in ", (only_in_a > 0 ? given_b : given_a).string(),
                ": the images of a pair must have the same ",
                a.by_number.empty() || b.by_number.empty()
                    ? "name or differ only in the word left and right, or both inputs must have frame numbers"
                    : "frame number, the last number of a name",
                advice));
  a = selected(a, in_a);
  b = selected(b, in_b);
  return dropped;
}

std::vector<fs::path> partners_of(const Frames& frames, const Frames& others) {
  std::vector<fs::path> files(frames.size());
  if (!others.sequence) {
    files.front() = others.files.front();
    return files;
  }
  const Frames sought = frames.sequence ? frames : frames_of(frames.files, "the image");
  const std::vector<std::size_t> found = partners(keys_of(sought, others), keys_of(others, sought));
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] < others.size()) files[i] = others.files[found[i]];
  return files;
}

std::optional<fs::path> file_of_pattern(const fs::path& given, long long number) {
  const auto pattern = parse_pattern(given.filename().string());
  if (!pattern) return std::nullopt;
  return given.parent_path() / pattern->name(number);
}

}  // namespace stereopsis::sources
