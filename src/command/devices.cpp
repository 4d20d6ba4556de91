// The subcommands about devices: stereopsis devices, stereopsis conformance
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "build_parts.hpp"
#include "command/bench.hpp"
#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/result_files.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "stereopsis/self_test.hpp"

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

Json to_json(const DeviceDescription& device) {
  Json properties = Json::object();
  for (const auto& [name, value] : device.properties) properties[name] = value;
  return {{"name", device.name},
          {"usable", device.usable},
          {"description", device.description},
          {"reason", device.usable ? Json(nullptr) : Json(device.reason)},
          {"properties", properties}};
}

Json to_json(const std::vector<DeviceDescription>& found) {
  Json list = Json::array();
  for (const DeviceDescription& device : found) list.push_back(to_json(device));
  return list;
}

struct ConformanceOptions {
  DeviceOptions device;
  std::filesystem::path report;
};

// Returns the devices of the options, or all that can be used.
std::vector<Device> devices_of(const ConformanceOptions& o, const std::vector<DeviceDescription>& found) {
  DeviceOptions given = o.device;
  if (given.name.empty() && given.implementation == "oracle") given.name = "cpu";
  if (!given.name.empty()) return given.devices();
  for (const DeviceDescription& device : found)
    if (device.usable) given.name += (given.name.empty() ? "" : ",") + device.name;
  return given.devices();
}

std::size_t passed_of(const std::vector<ConformanceCase>& cases) {
  return static_cast<std::size_t>(std::ranges::count_if(cases, &std::string::empty, &ConformanceCase::problem));
}

Json to_json(const ConformanceCase& one) {
  const bool passed = one.problem.empty();
  return {{"name", one.name},
          {"passed", passed},
          {"hash", one.hash},
          {"expected", one.expected.empty() ? Json(nullptr) : Json(one.expected)},
          {"problem", passed ? Json(nullptr) : Json(one.problem)}};
}

Json report_of(const DeviceDescription& description, const Device& device,
               const std::vector<ConformanceCase>& checked) {
  Json cases = Json::array();
  for (const ConformanceCase& one : checked) cases.push_back(to_json(one));
  return {{"device", to_json(description)},
          {"implementation", to_string(device.implementation)},
          {"passed", passed_of(checked)},
          {"failed", checked.size() - passed_of(checked)},
          {"cases", cases}};
}

std::string compiler() {
#ifdef __clang__
  return __VERSION__;  // starts with "Clang"
#else
  return "GCC " __VERSION__;
#endif
}

void conformance(const ConformanceOptions& o) {
  const auto found = devices();
  if (!o.report.empty()) check_result(o.report);
  bool passed = true;
  Json runs = Json::array();
  for (const Device& device : devices_of(o, found)) {
    const std::vector<ConformanceCase> cases = check_conformance(device);
    for (const ConformanceCase& one : cases)
      if (!one.problem.empty()) say("{}: {}: {}\n", device.name, one.name, one.problem);
    say("{}: {} of {} cases have the expected bits\n", device.name, passed_of(cases), cases.size());
    passed &= passed_of(cases) == cases.size();
    runs.push_back(report_of(*std::ranges::find(found, device.name, &DeviceDescription::name), device, cases));
  }
  if (!o.report.empty())
    write_json(o.report, {{"version", STEREOPSIS_VERSION},
                          {"commit", built_commit},
                          {"compiler", compiler()},
                          {"parts", build_parts},
                          {"simd", o.device.simd},
                          {"runs", runs}});
  if (!passed) throw CheckFailed{};
}

}  // namespace

void add_devices(CLI::App& application) {
  Command command(
      application, "devices",
      "List the devices and, for each device that cannot be used, the reason; then the parts of this build");
  const auto json = std::make_shared<bool>();
  command.flag("--json", *json, "Print the list as JSON");
  command.callback([json] {
    const auto found = devices(true);
    if (*json) return say("{}", json_text({{"devices", to_json(found)}}));
    list(found);
  });
}

void add_conformance(CLI::App& application) {
  Command command(application, "conformance",
                  "Run every stage and method on generated images, and compare the results with stored hashes");
  const auto o = std::make_shared<ConformanceOptions>();
  o->device.name.clear();
  command.text("--device", o->device.name, "NAME",
               "Device, or a list with commas: cpu, cuda[:N], opencl[:N] [all that can be used]");
  o->device.add_threads_to(command);
  command.text("--implementation", o->device.implementation, "NAME",
               "Implementation: fused, plain or oracle (the scalar reference, on the CPU) [fused]");
  command.text("--simd", o->device.simd, "NAME", fmt::format("{} [auto]", simd_help));
  command.path("--report", o->report, "FILE", "Write a report as JSON: version, compiler, devices and drivers, cases");
  command.creates_folders();
  command.footer("The exit code is 0 if all results have the expected bits, and 1 if one differs.");
  command.callback([o] { conformance(*o); });
}

}  // namespace stereopsis::command
