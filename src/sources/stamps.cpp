#include "sources/stamps.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

#include "core/text.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::sources {
namespace {

namespace fs = std::filesystem;

constexpr long double second = 1e9L;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the nanoseconds of a number whose unit follows from its length.
std::optional<Nanoseconds> stamp_of_number(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), is_digit)) {
    const auto value = parse_number<long long>(text);
    if (!value) return std::nullopt;
    const Nanoseconds unit = text.size() >= 18   ? 1
                             : text.size() >= 15 ? 1'000
                             : text.size() >= 12 ? 1'000'000
                                                 : 1'000'000'000;
    if (*value > std::numeric_limits<long long>::max() / unit) return std::nullopt;  // such as a date of 14 digits
    return *value * unit;
  }
  const auto seconds = parse_number<long double>(text);
  if (!seconds || !(std::abs(*seconds) < 9e9L)) return std::nullopt;
  return std::llround(*seconds * second);
}

// Returns the nanoseconds of a date, a time and the digits after its seconds, which a pattern found.
std::optional<Nanoseconds> stamp_of(const std::smatch& found) {
  const auto number = [&](std::size_t part) { return found[part].length() > 0 ? std::stoi(found[part].str()) : 0; };
  const std::chrono::year_month_day date{std::chrono::year(number(1)),
                                         std::chrono::month(static_cast<unsigned>(number(2))),
                                         std::chrono::day(static_cast<unsigned>(number(3)))};
  const int hour = number(4), minute = number(5), seconds = number(6);
  if (!date.ok() || hour > 23 || minute > 59 || seconds > 60) return std::nullopt;
  const auto time = std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                    std::chrono::seconds(seconds);
  std::string fraction = found[7].str();
  fraction.resize(9, '0');
  return std::chrono::nanoseconds(time.time_since_epoch()).count() + std::stoi(fraction);
}

// Returns the nanoseconds of "2011-09-26 13:02:25.964389445".
std::optional<Nanoseconds> stamp_of_date(const std::string& text) {
  static const std::regex pattern(R"(((?:19|20)\d\d)-(\d\d?)-(\d\d?)[ T](\d\d?):(\d\d?):(\d\d?)(?:\.(\d*))?)");
  std::smatch found;
  return std::regex_match(text, found, pattern) ? stamp_of(found) : std::nullopt;
}

// Returns the nanoseconds of a name that ends with a date and a time: 20110926T130225.964, 20110926_130225 or
// 20110926130225964.
std::optional<Nanoseconds> stamp_of_dated_name(const std::string& name) {
  static const std::regex pattern(
      R"((?:^|.*\D)((?:19|20)\d\d)(\d\d)(\d\d)[T_-]?(\d\d)(\d\d)(\d\d)\.?(|\d{3}|\d{6}|\d{9})\D*)");
  std::smatch found;
  return std::regex_match(name, found, pattern) ? stamp_of(found) : std::nullopt;
}

// Returns the last number of a name, with its decimals.
std::string last_decimal(const std::string& name) {
  const auto is_part = [&](std::size_t i) {
    const bool point = name[i] == '.' && i > 0 && i + 1 < name.size() && is_digit(name[i - 1]) && is_digit(name[i + 1]);
    return is_digit(name[i]) || point;
  };
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  bool has_point = false;
  while (begin > 0 && is_part(begin - 1) && !(has_point && name[begin - 1] == '.')) {
    --begin;
    has_point |= name[begin] == '.';
  }
  return name.substr(begin, end - begin);
}

std::optional<fs::path> list_of_times(const fs::path& image) {
  const fs::path folder = fs::absolute(image).parent_path();
  for (const fs::path& place : {folder, folder.parent_path()})
    for (const char* name : {"timestamps.txt", "times.txt"})
      if (file_exists(place / name)) return place / name;
  return std::nullopt;
}

// Returns the times of names that all end with dates, else those of the last numbers of the names.
std::vector<Nanoseconds> named(const std::vector<fs::path>& files) {
  std::vector<Nanoseconds> dates, numbers;
  for (const fs::path& file : files)
    if (const auto date = stamp_of_dated_name(file.stem().string())) dates.push_back(*date);
  if (dates.size() == files.size()) return dates;
  for (const fs::path& file : files) {
    const auto number = stamp_of_number(last_decimal(file.stem().string()));
    if (!number)
      refuse(text(file.string(),
                  " has no time in its name; add timestamps.txt next to the images, or leave --pair stamp out"));
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<Nanoseconds> listed(const fs::path& list, std::size_t count) {
  std::vector<Nanoseconds> stamps;
  std::istringstream lines(read_text(list));
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line.starts_with('#')) continue;
    const auto number = stamp_of_number(line), stamp = number ? number : stamp_of_date(line);
    if (!stamp)
      throw Error(ErrorCategory::format,
                  text(list.string(), ": '", line, "' is not a time; write seconds, or dates with times"));
    stamps.push_back(*stamp);
  }
  if (stamps.size() != count)
    throw Error(ErrorCategory::format, text(list.string(), " has ", stamps.size(), " times for ", count,
                                            " images; it must have one line for each image"));
  return stamps;
}

// Returns the median time between two frames.
Nanoseconds interval_of(const std::vector<Nanoseconds>& stamps) {
  std::vector<Nanoseconds> steps;
  for (std::size_t i = 1; i < stamps.size(); ++i)
    if (stamps[i] > stamps[i - 1]) steps.push_back(stamps[i] - stamps[i - 1]);
  if (steps.empty()) return std::numeric_limits<Nanoseconds>::max();
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

}  // namespace

Nanoseconds to_slop(const std::string& given, const std::vector<Nanoseconds>& left,
                    const std::vector<Nanoseconds>& right) {
  const Nanoseconds interval = std::min(interval_of(left), interval_of(right));
  if (given.empty()) return interval / 2;
  const std::size_t digits = std::min(given.find_first_not_of("0123456789.e-+"), given.size());
  const auto value = parse_number<double>(given.substr(0, digits));
  std::string unit = given.substr(digits);
  unit.erase(0, unit.find_first_not_of(' '));
  for (const auto& [name, factor] : {std::pair{"", 1e9},
                                     {"s", 1e9},
                                     {"ms", 1e6},
                                     {"us", 1e3},
                                     {"µs", 1e3},
                                     {"ns", 1.0},
                                     {"%", static_cast<double>(interval) / 100}})
    if (value && unit == name && *value >= 0) return std::llround(std::min(*value * factor, 9e18));
  refuse(text("--slop ", given,
              " is not allowed; it must be a duration such as 5ms, 200us or 0.01s, or a share of the time between two "
              "frames such as 5%"));
}

std::vector<Nanoseconds> stamps_of(const Frames& frames) {
  std::vector<Nanoseconds> stamps;
  if (frames.video) {
    for (const long long frame : frames.numbers)
      stamps.push_back(std::llround(static_cast<long double>(frame) * second / frames.video->rate()));
    return stamps;
  }
  if (const auto list = list_of_times(frames.file(0))) return listed(*list, frames.size());
  return named(frames.files);
}

std::vector<std::pair<std::size_t, std::size_t>> nearest(const std::vector<Nanoseconds>& left,
                                                         const std::vector<Nanoseconds>& right, Nanoseconds slop) {
  std::vector<std::optional<std::size_t>> best(right.size());  // the left frame of each right one
  const auto apart = [&](std::size_t l, std::size_t r) { return std::abs(left[l] - right[r]); };
  for (std::size_t l = 0; l < left.size(); ++l) {
    const auto after = static_cast<std::size_t>(std::lower_bound(right.begin(), right.end(), left[l]) - right.begin());
    std::size_t r = std::min(after, right.size() - 1);
    if (after > 0 && apart(l, after - 1) <= apart(l, r)) r = after - 1;
    if (apart(l, r) <= slop && (!best[r] || apart(l, r) < apart(*best[r], r))) best[r] = l;
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t r = 0; r < right.size(); ++r)
    if (best[r]) pairs.emplace_back(*best[r], r);
  return pairs;
}

}  // namespace stereopsis::sources
