#include "resume.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frames.hpp"
#include "stereopsis/io.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

// As it is in a file, where what is not UTF-8 is replaced.
Json as_stored(const Json& json) { return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

void check_same_call(const fs::path& sidecar, const Json& call, const fs::path& results) {
  const Json before = read_sidecar(sidecar)["call"], now = as_stored(call);
  for (const auto& [key, value] : now.items()) {
    if (before.contains(key) && before[key] == value) continue;
    refuse(fmt::format(
        "--resume: the results at {} are of another call, whose \"{}\" was {} and is {}; leave --resume out to "
        "do all anew",
        results.string(), key, before.contains(key) ? before[key].dump().substr(0, 200) : "not there",
        value.dump().substr(0, 200)));
  }
}

void check_depth(const std::string& json, const fs::path& sidecar) {
  try {
    check_json_depth(json);
  } catch (const Error& error) {
    throw Error(error.category(), fmt::format("{}: {}; remove the file, and leave --resume out", sidecar.string(),
                                              error.what()));
  }
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
    throw Error(ErrorCategory::format,
                fmt::format("{} is not what --resume goes by; remove it, and leave --resume out", sidecar.string()));
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
  remark("{} of {} frames are there already", std::count(there.begin(), there.end(), true), there.size());
  return there;
}

Json texts_of(const std::vector<std::string>& files) {
  Json texts = Json::array();
  for (const std::string& file : files) texts.push_back(read_text(file));
  return texts;
}

}  // namespace stereopsis::command
