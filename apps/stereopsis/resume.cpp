#include "resume.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "frames.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

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

void check_depth(const std::string& json, const fs::path& sidecar) {
  try {
    check_json_depth(json);
  } catch (const Error& error) {
    throw Error(error.category(), fmt::format("{}: {}; remove the file and start again without --resume",
                                              sidecar.string(), error.what()));
  }
}

void check_same_call(const fs::path& sidecar, const Json& call, const fs::path& results) {
  std::vector<Difference> found;
  add_differences(read_sidecar(sidecar)["call"], as_stored(call), found);
  if (found.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), most_shown); ++i)
    list += fmt::format("{}{} was {} and is {}", i == 0 ? "" : ", ", found[i].name, found[i].before, found[i].now);
  if (found.size() > most_shown) list += fmt::format(", and {} others differ", found.size() - most_shown);
  refuse(fmt::format(
      "--resume: another call made the results at {}: {}; repeat that call, or leave --resume out to start again",
      results.string(), list));
}

bool is_whole(const FrameFiles& frame, fs::file_time_type since) {
  fs::file_time_type newest = since;
  std::error_code error;
  for (const fs::path& file : frame.inputs) newest = std::max(newest, fs::last_write_time(file, error));
  for (const auto& [file, size] : frame.outputs) {
    if (error || !fs::is_regular_file(file, error) || fs::last_write_time(file, error) < newest) return false;
    if (error || !stereopsis::is_whole(file, size)) return false;
  }
  return !error;
}

}  // namespace

Json read_sidecar(const fs::path& sidecar) {
  const std::string contents = read_text(sidecar);
  check_depth(contents, sidecar);
  Json json = Json::parse(contents, nullptr, false);
  if (!json.is_object() || !json.contains("call"))
    throw Error(
        ErrorCategory::format,
        fmt::format("{} is not a record that --resume can continue; remove the file and start again without --resume",
                    sidecar.string()));
  return json;
}

std::vector<bool> frames_there(const fs::path& sidecar, const Json& contents, const std::vector<FrameFiles>& frames,
                               bool resume, const fs::path& results) {
  if (resume) {
    remove_leftovers(sidecar);
    for (const FrameFiles& frame : frames)
      for (const OutputFile& output : frame.outputs) remove_leftovers(output.file);
  }
  std::vector<bool> there(frames.size(), false);
  if (!resume || !file_exists(sidecar)) {
    write_json(sidecar, contents);
    return there;
  }
  check_same_call(sidecar, contents["call"], results);
  const fs::file_time_type since = fs::last_write_time(sidecar);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = is_whole(frames[i], since);
  remark("{} of {} frames are complete from an earlier run", std::count(there.begin(), there.end(), true),
         there.size());
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

}  // namespace stereopsis::command
