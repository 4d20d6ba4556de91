#include "jobs/budget.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/text.hpp"
#include "jobs/stopwatch.hpp"
#include "sources/frames.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/version.h"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;

struct Measured {
  const char *method, *settings;
  double bad1;
};
constexpr Measured measured_methods[] = {
#include "jobs/budget_candidates.inc"
};

constexpr int factors[] = {2, 4};  // the sizes that were measured

void set_all(Pipeline& pipeline, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    pipeline.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
}

// The times that this version has measured, in a file of the user's cache folder. A cache that cannot be read or written
// costs only time: all is measured again.
class Cache {
 public:
  explicit Cache(const Warn& warn) : warn_(warn), file_(place()), times_(read()) {}

  std::optional<double> find(const std::string& key) const {
    const auto found = times_.find(key);
    return found == times_.end() ? std::nullopt : std::optional(found->get<double>());
  }

  // Other processes may write the file, too: their times are kept, unless they are written at the same moment.
  void add(const std::string& key, double ms) {
    times_.update(read());
    if (times_.size() >= most_times) times_ = nlohmann::json::object();
    times_[key] = ms;
    if (file_.empty() || has_failed_) return;
    try {
      fs::create_directories(file_.parent_path());
      write_text(file_, nlohmann::json{{"version", STEREOPSIS_VERSION}, {"times", times_}}.dump(1) + "\n");
    } catch (const std::exception& error) {
      has_failed_ = true;
      warn_(fmt::format("the measured times cannot be kept, and the next call measures again: {}", error.what()));
    }
  }

 private:
  static constexpr std::size_t most_times = 1000;

  static fs::path place() {
    for (const auto& [variable, below] : {std::pair{"XDG_CACHE_HOME", ""}, {"HOME", ".cache"}, {"LOCALAPPDATA", ""}}) {
      const char* const folder = std::getenv(variable);
      if (folder != nullptr && fs::path(folder).is_absolute())
        return fs::path(folder) / below / "stereopsis/times.json";
    }
    return {};
  }

  // Returns the times of this version by their keys.
  nlohmann::json read() {
    std::error_code error;
    if (file_.empty() || !fs::exists(file_, error)) return nlohmann::json::object();
    const auto is_time = [](const nlohmann::json& ms) { return ms.is_number() && ms.get<double>() > 0; };
    try {
      const std::string contents = read_text(file_);
      check_json_depth(contents);
      const nlohmann::json json = nlohmann::json::parse(contents);
      if (json.at("version") != STEREOPSIS_VERSION) return nlohmann::json::object();
      const nlohmann::json& times = json.at("times");
      if (times.is_object() && std::all_of(times.begin(), times.end(), is_time)) return times;
    } catch (const std::exception&) {  // said below
    }
    if (!std::exchange(is_corrupt_, true))
      warn_(fmt::format("{} does not hold times that this program has written; it is ignored, and replaced",
                        file_.string()));
    return nlohmann::json::object();
  }

  const Warn& warn_;
  const fs::path file_;
  bool is_corrupt_ = false, has_failed_ = false;
  nlohmann::json times_;
};

// Returns what the time of a pair depends on beside the pair: the device, its threads and its SIMD instructions.
std::string machine_of(const Device& device) {
  std::string text;
  for (const DeviceDescription& found : devices()) {
    if (found.name != device.name && found.name != "cpu") continue;
    text += found.name + " " + found.description;
    for (const auto& [name, value] : found.properties)
      if (name == "SIMD" || name == "driver" || (name == "threads" && device.threads == 0))
        text += fmt::format(", {} {}", name, value);
    text += "; ";
  }
  return fmt::format("{}{} by {} threads, implementation {}", text, device.name, device.threads,
                     static_cast<int>(device.implementation));
}

// Returns the median time. The first runs, in which memory is touched and GPUs record their work, are not counted.
double median_ms(const std::function<void()>& match) {
  constexpr int unmeasured = 3, measured = 5;
  constexpr double most_ms = 1000;
  const Stopwatch since_begun;
  for (int i = 0; i == 0 || (i < unmeasured && since_begun.ms() < most_ms / 2); ++i) match();
  std::vector<double> ms;
  for (int i = 0; i == 0 || (i < measured && since_begun.ms() < most_ms); ++i) {
    const Stopwatch watch;
    match();
    ms.push_back(watch.ms());
  }
  std::nth_element(ms.begin(), ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2), ms.end());
  return ms[ms.size() / 2];
}

}  // namespace

Budget to_budget(const std::string& given, const std::string& text) {
  const std::size_t digits = std::min(given.find_first_not_of("0123456789.e-+"), given.size());
  const auto value = parse_number<double>(given.substr(0, digits));
  for (const auto& [unit, factor] : {std::pair{"ms", 1.0}, {"s", 1e3}})
    if (value && given.substr(digits) == unit && *value > 0 && std::isfinite(*value)) return {*value * factor, text};
  sources::refuse(fmt::format(
      "{} is not allowed; it must be the largest time of a pair with its unit, such as 30ms or 0.5s", text));
}

std::vector<BudgetCandidate> budget_candidates() {
  std::vector<BudgetCandidate> candidates;
  for (const Measured& one : measured_methods) {
    BudgetCandidate candidate{one.method, {}, Pipeline(one.method)};
    if (*one.settings != 0) candidate.settings = split(one.settings, ',');
    set_all(candidate.pipeline, candidate.settings);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<BudgetCandidate> sizes_of(const Pipeline& pipeline) {
  std::vector<BudgetCandidate> candidates = {{"", {}, pipeline}};
  const std::string stage = pipeline.get("prepare.stage");
  if (stage != "none" && pipeline.get("prepare.factor") != "1") return candidates;
  for (const int factor : factors) {
    BudgetCandidate& one = candidates.emplace_back(candidates.front());
    one.settings = {"prepare.stage=reduce", fmt::format("prepare.factor={}", factor), "prepare.upsample=true"};
    set_all(one.pipeline, one.settings);
  }
  return candidates;
}

std::vector<BudgetCandidate> candidates_of(const Budget& budget, const Pipeline* given) {
  if (given == nullptr) return budget_candidates();
  for (const PipelineSlot& slot : given->slots())
    if (slot.is_function)
      sources::refuse(
          fmt::format("{} chooses among the methods and sizes of this library, which {} is not; leave one of them out",
                      budget.text, given->method()));
  std::vector<BudgetCandidate> sizes = sizes_of(*given);
  if (sizes.size() == 1)
    sources::refuse(
        fmt::format("{} chooses the method or the size of the images, and {} with prepare.factor={} gives both; leave "
                    "one of them out",
                    budget.text, given->method(), given->get("prepare.factor")));
  return sizes;
}

void use_seeds(std::vector<BudgetCandidate>& candidates) {
  for (BudgetCandidate& one : candidates)
    if (one.pipeline.get("seeds.stage") == "none") one.pipeline.set("seeds.stage", "seeds");
}

std::string description_of(const Problem& problem, const StereoPair& pair, const std::string& memory) {
  const auto& region = problem.region;
  std::string text =
      fmt::format("{}x{}x{} from {}, {} {} {}", problem.size.width, problem.size.height, problem.range.count,
                  problem.range.min, to_string(problem.pixel_type), problem.channels, problem.bit_depth);
  if (problem.format) text += fmt::format(", {}", to_string(*problem.format));
  if (region) text += fmt::format(", region {},{},{},{}", region->x, region->y, region->width, region->height);
  for (const Output& output : output_table)
    if (is_requested(problem, output)) text += fmt::format(", {}", output.name);
  for (const auto& [has, what] : {std::pair{!pair.mask_left.empty(), "mask_left"},
                                  {!pair.mask_right.empty(), "mask_right"},
                                  {!pair.seeds.empty(), "seeds"},
                                  {problem.geometry.rectification != nullptr, "rectification"},
                                  {problem.row_alignment.has_value(), "rows"},
                                  {problem.constant.mark_flat, "constant"}})
    if (has) text += fmt::format(", {}", what);
  return text + ", memory " + memory;
}

BudgetChoice choose_within(const Budget& budget, const std::vector<BudgetCandidate>& candidates,
                           const std::string& pairs, const Device& device, const MakeMatch& make, const Warn& warn) {
  Cache cache(warn);
  const std::string about = fmt::format("{} | {}", machine_of(device), pairs);
  double least = std::numeric_limits<double>::infinity();
  bool is_measured = false;
  std::exception_ptr problem;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Pipeline& pipeline = candidates[i].pipeline;
    const std::string key =
        fmt::format("{} | {} {:x}", about, pipeline.method(), std::hash<std::string>()(to_json(pipeline)));
    std::optional<double> ms = cache.find(key);
    if (!ms) try {
        ms = median_ms(make(pipeline));
        cache.add(key, *ms);
        is_measured = true;
      } catch (const Error& error) {  // such as a pipeline that needs too much memory; others may need less
        if (error.category() == ErrorCategory::device) throw;
        if (!problem) problem = std::current_exception();
        continue;
      }
    if (*ms <= budget.ms) return {i, *ms, is_measured};
    least = std::min(least, *ms);
  }
  if (std::isinf(least)) std::rethrow_exception(problem);
  constexpr double steps = 10;  // the sentence rounds upwards, so that its time can be met
  throw Error(ErrorCategory::unsupported,
              fmt::format("{} cannot be met: the least possible time of a pair is {:.1f} ms on {}; allow at least this "
                          "time, or use smaller images or fewer disparities",
                          budget.text, std::ceil(steps * least) / steps, device.name));
}

}  // namespace stereopsis::jobs
