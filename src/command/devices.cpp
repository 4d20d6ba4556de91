// The subcommand: stereopsis devices [--check]
#include <fmt/core.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "build_parts.hpp"
#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/self_test.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::command {
namespace {

void list(const std::vector<DeviceDescription>& found) {
  Table table({"device", "usable", "description, or why it cannot be used"});
  for (const DeviceDescription& device : found)
    table.add({device.name, device.usable ? "yes" : "no", device.usable ? device.description : device.reason});
  table.left({0, 1, 2}).print();
  for (const DeviceDescription& device : found)
    for (const auto& [name, value] : device.properties) say("{}: {} = {}\n", device.name, name, value);
  say("parts of this build:\n");
  for (const char* part : build_parts) say("  {}\n", part);
}

Json to_json(const std::vector<DeviceDescription>& found) {
  Json list = Json::array();
  for (const DeviceDescription& device : found) {
    Json properties = Json::object();
    for (const auto& [name, value] : device.properties) properties[name] = value;
    list.push_back({{"name", device.name},
                    {"usable", device.usable},
                    {"description", device.description},
                    {"reason", device.usable ? Json(nullptr) : Json(device.reason)},
                    {"properties", properties}});
  }
  return list;
}

bool same_bits(const Image<float>& a, const Image<float>& b) {
  for (int y = 0; y < a.height(); ++y)
    if (std::memcmp(a.row(y), b.row(y), sizeof(float) * static_cast<std::size_t>(a.width())) != 0) return false;
  return true;
}

// Compares every stage with its oracle on every device.
bool stages_test(const std::vector<DeviceDescription>& found) {
  bool passed = true;
  for (const DeviceDescription& device : found) {
    if (!device.usable) continue;
    const std::vector<StageCheck> checks = check_stages({device.name, 0});
    std::size_t same = 0;
    for (const StageCheck& check : checks) {
      same += check.same;
      if (!check.same)
        say("{}: the stage '{}' {}\n", device.name, check.stage,
            check.problem.empty() ? "does NOT equal its definition" : "FAILED: " + check.problem);
    }
    say("{}: {} of {} stages equal their definitions bit for bit\n", device.name, same, checks.size());
    passed &= same == checks.size();
  }
  return passed;
}

// Matches a scene of odd size with known disparity by every method. The result must be correct, and have the same bits
// for any number of threads and on every device.
bool self_test(const std::vector<DeviceDescription>& found) {
  constexpr int disparities = 32;
  const Scene scene = make_scene({.size = {201, 127}, .disparities = disparities});
  const StereoPair pair{scene.left, scene.right, {}, {}};
  bool passed = true;
  for (const MethodInfo& method : methods()) {
    const Matched reference = match(pair, {0, disparities}, Pipeline(method.name), {"cpu", 1});
    const double bad = bad_pixels(reference.disparity, scene.disparity_left, {}, 2);
    const bool right = bad < 30;  // includes half-occluded pixels; far above the error of any method that works
    say("{}: {}, {:.1f} % of the pixels of a generated scene have errors above 2 px\n", method.name,
        right ? "right" : "WRONG", bad);
    passed &= right;
    for (const DeviceDescription& device : found) {
      if (!device.usable) continue;
      const Matched got = match(pair, {0, disparities}, Pipeline(method.name), {device.name, 0});
      const bool same = same_bits(got.disparity, reference.disparity);
      say("{} on {}: {} as on one thread of the CPU\n", method.name, device.name,
          same ? "the same bits" : "NOT the same bits");
      passed &= same;
    }
  }
  return passed;
}

}  // namespace

void add_devices(CLI::App& application) {
  Command command(
      application, "devices",
      "List the devices and, for each device that cannot be used, the reason; then the parts of this build");
  struct Options {
    bool check = false, json = false;
  };
  const auto o = std::make_shared<Options>();
  Option check = command.flag("--check", o->check, "Run every stage and method on each device and compare the results");
  command.flag("--json", o->json, "Print the list as JSON").excludes(check);
  command.callback([o] {
    const auto found = devices(true);
    if (o->json) return say("{}", json_text({{"devices", to_json(found)}}));
    list(found);
    if (!o->check) return;
    const bool stages = stages_test(found), methods_too = self_test(found);
    if (!stages || !methods_too) throw CheckFailed{};
  });
}

}  // namespace stereopsis::command
