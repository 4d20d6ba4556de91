#include "stamps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>

#include "options.hpp"
#include "stereopsis/io.hpp"
#include "video.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

constexpr long double second = 1e9L;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the nanoseconds of a number whose unit follows from its length.
std::optional<Nanoseconds> stamp_of_number(const std::string& text) {
  const char* const end = text.data() + text.size();
  if (std::all_of(text.begin(), text.end(), is_digit)) {
    long long value = 0;
    const auto [last, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || last != end) return std::nullopt;
    const Nanoseconds unit = text.size() >= 18   ? 1
                             : text.size() >= 15 ? 1'000
                             : text.size() >= 12 ? 1'000'000
                                                 : 1'000'000'000;
    if (value > std::numeric_limits<long long>::max() / unit) return std::nullopt;  // such as a date of 14 digits
    return value * unit;
  }
  long double seconds = 0;
  const auto [last, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || last != end || !(std::abs(seconds) < 9e9L)) return std::nullopt;
  return std::llround(seconds * second);
}

// Returns the nanoseconds of "2011-09-26 13:02:25.964389445".
std::optional<Nanoseconds> stamp_of_date(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%*1[ T]%2d:%2d:%n", &year, &month, &day, &hour, &minute, &used) != 5 ||
      used == 0)
    return std::nullopt;
  const auto seconds = stamp_of_number(text.substr(static_cast<std::size_t>(used)));
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!seconds || !date.ok()) return std::nullopt;
  const auto minutes = std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute);
  return std::chrono::nanoseconds(minutes.time_since_epoch()).count() + *seconds;
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

std::vector<Nanoseconds> listed(const fs::path& list, std::size_t count) {
  std::vector<Nanoseconds> stamps;
  std::istringstream lines(read_text(list));
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line.starts_with('#')) continue;
    const auto number = stamp_of_number(line), stamp = number ? number : stamp_of_date(line);
    if (!stamp)
      throw Error(ErrorCategory::format,
                  fmt::format("{}: '{}' is not a time; write seconds, or dates with times", list.string(), line));
    stamps.push_back(*stamp);
  }
  if (stamps.size() != count)
    throw Error(ErrorCategory::format,
                fmt::format("{} has {} times for {} images; it must have one line for each image", list.string(),
                            stamps.size(), count));
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

Nanoseconds to_duration(const std::string& option, const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789.e-+"), text.size());
  long double value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + digits, value);
  std::string unit = text.substr(digits);
  unit.erase(0, unit.find_first_not_of(' '));
  for (const auto& [name, factor] :
       {std::pair{"", 1e9L}, {"s", 1e9L}, {"ms", 1e6L}, {"us", 1e3L}, {"µs", 1e3L}, {"ns", 1.0L}})
    if (error == std::errc() && last == text.data() + digits && unit == name && value >= 0 && value * factor < 9e18L)
      return std::llround(value * factor);
  refuse(fmt::format("{} {} is not allowed; it must be a duration such as 5ms, 200us or 0.01s", option, text));
}

std::vector<Nanoseconds> stamps_of(const Frames& frames) {
  std::vector<Nanoseconds> stamps;
  if (frames.video) {
    for (const long long frame : frames.numbers)
      stamps.push_back(std::llround(static_cast<long double>(frame) * second / frames.video->rate()));
    return stamps;
  }
  if (const auto list = list_of_times(frames.file(0))) return listed(*list, frames.size());
  for (const fs::path& file : frames.files) {
    const auto stamp = stamp_of_number(last_decimal(file.stem().string()));
    if (!stamp)
      refuse(fmt::format("{} has no time in its name; add timestamps.txt next to the images, or leave --pair stamp out",
                         file.string()));
    stamps.push_back(*stamp);
  }
  return stamps;
}

std::vector<std::pair<std::size_t, std::size_t>> nearest(const std::vector<Nanoseconds>& left,
                                                         const std::vector<Nanoseconds>& right,
                                                         std::optional<Nanoseconds> slop) {
  const Nanoseconds limit = slop.value_or(std::min(interval_of(left), interval_of(right)) / 2);
  std::vector<std::optional<std::size_t>> best(right.size());  // the left frame of each right one
  const auto apart = [&](std::size_t l, std::size_t r) { return std::abs(left[l] - right[r]); };
  for (std::size_t l = 0; l < left.size(); ++l) {
    const auto after = static_cast<std::size_t>(std::lower_bound(right.begin(), right.end(), left[l]) - right.begin());
    std::size_t r = std::min(after, right.size() - 1);
    if (after > 0 && apart(l, after - 1) <= apart(l, r)) r = after - 1;
    if (apart(l, r) <= limit && (!best[r] || apart(l, r) < apart(*best[r], r))) best[r] = l;
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t r = 0; r < right.size(); ++r)
    if (best[r]) pairs.emplace_back(*best[r], r);
  return pairs;
}

}  // namespace stereopsis::command
