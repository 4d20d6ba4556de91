#include "jobs/record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sources/frames.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;
using sources::refuse;

// Returns the JSON as stored in a file, where bytes that are not UTF-8 are replaced.
Json as_stored(const Json& json) { return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

struct Difference {
  std::string name, before, now;
};

constexpr std::size_t most_shown = 3, longest_value = 80;

std::string value_text(const Json& values, const std::string& key) {
  if (!values.contains(key)) return "not given";
  const Json& value = values[key];
  if (value.is_null() || value == "") return "not given";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.size() <= longest_value ? text : text.substr(0, longest_value) + "…";
}

// Adds the parts of values that differ, by their own names.
void add_differences(const Json& before, const Json& now, std::vector<Difference>& found) {
  Json keys = now;
  keys.update(before);
  for (const auto& [key, ignored] : keys.items()) {
    const bool both = before.contains(key) && now.contains(key);
    if (both && before[key] == now[key]) continue;
    if (both && before[key].is_object() && now[key].is_object())
      add_differences(before[key], now[key], found);
    else
      found.push_back({key, value_text(before, key), value_text(now, key)});
  }
}

bool is_whole(const FrameFiles& frame, fs::file_time_type since) {
  fs::file_time_type newest = since;
  std::error_code error;
  for (const fs::path& file : frame.inputs) newest = std::max(newest, fs::last_write_time(image_file(file), error));
  for (const auto& [file, size] : frame.outputs) {
    if (error || !fs::is_regular_file(file, error) || fs::last_write_time(file, error) < newest) return false;
    if (error || !stereopsis::is_whole(file, size)) return false;
  }
  return !error;
}

}  // namespace

Json Record::read() const {
  const std::string contents = read_text(file_);
  const std::string advice = fmt::format("remove the file and start again without {}", front_end_.spelled("resume"));
  try {
    check_json_depth(contents);
  } catch (const Error& error) {
    throw Error(error.category(), fmt::format("{}: {}; {}", file_.string(), error.what(), advice));
  }
  Json json = Json::parse(contents, nullptr, false);
  if (!json.is_object() || !json.contains("call"))
    throw Error(ErrorCategory::format, fmt::format("{} is not a record that {} can continue; {}", file_.string(),
                                                   front_end_.spelled("resume"), advice));
  return json;
}

void Record::check_same_call(const Json& call, const fs::path& results) const {
  std::vector<Difference> found;
  add_differences(read()["call"], as_stored(call), found);
  if (found.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), most_shown); ++i)
    list += fmt::format("{}{} was {} and is {}", i == 0 ? "" : ", ", found[i].name, found[i].before, found[i].now);
  if (found.size() > most_shown) list += fmt::format(", and {} others differ", found.size() - most_shown);
  refuse(
      fmt::format("{0}: another call made the results at {1}: {2}; repeat that call, or leave {0} out to start again",
                  front_end_.spelled("resume"), results.string(), list));
}

std::optional<DisparityRange> Record::range_before() const {
  if (!sources::file_exists(file_)) return std::nullopt;
  const Json range = read()["estimated"];
  if (!range.is_array() || range.size() != 2 || !range[0].is_number_integer() || !range[1].is_number_integer())
    return std::nullopt;
  return DisparityRange{range[0].get<int>(), range[1].get<int>()};
}

std::vector<bool> Record::frames_there(const Json& contents, const std::vector<FrameFiles>& frames, bool resumes,
                                       const fs::path& results) const {
  if (resumes) {
    std::map<fs::path, fs::path> a_file{{file_.parent_path(), file_}};  // by folder
    for (const FrameFiles& frame : frames)
      for (const OutputFile& output : frame.outputs) a_file.emplace(output.file.parent_path(), output.file);
    for (const auto& [folder, file] : a_file) remove_leftovers(file);
  }
  std::vector<bool> there(frames.size(), false);
  if (!resumes || !sources::file_exists(file_)) {
    write_text(file_, contents.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return there;
  }
  check_same_call(contents["call"], results);
  const fs::file_time_type since = fs::last_write_time(file_);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = is_whole(frames[i], since);
  front_end_.remark(fmt::format("{} of {} frames are complete from an earlier run",
                                std::count(there.begin(), there.end(), true), there.size()));
  return there;
}

Json lines_of(const std::vector<std::string>& files) {
  Json lines = Json::object();
  for (std::size_t i = 0; i < files.size(); ++i) {
    int number = 0;
    for (const fs::path& file : calibration_files(files[i])) {
      std::istringstream text(read_text(file));
      for (std::string line; std::getline(text, line);)
        lines[fmt::format("line {} of {} --calib file", ++number, i == 0 ? "the" : "the second")] = line;
    }
  }
  return lines;
}

}  // namespace stereopsis::jobs
