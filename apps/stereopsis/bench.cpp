// stereopsis bench: times on generated pairs, beside the peers that were built in; with --dataset, times and accuracy.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <sstream>

#include "bench.hpp"
#include "commands.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/synth.hpp"
#include "table.hpp"

namespace stereopsis::command {
namespace {

struct Options {
  std::vector<std::string> methods, settings, devices, sizes;
  std::optional<int> batch, repeat, threads;
  std::filesystem::path dataset, json;
  bool no_peers = false;
};

struct Workload {
  Size size;
  int disparities = 0;

  std::string text() const { return fmt::format("{}×{}", size_text(size), disparities); }
};

struct Result {
  Workload workload;
  std::string method, device;
  Json parameters;
  bool peer = false;
  std::vector<double> ms;
  std::size_t workspace_bytes = 0;
  std::vector<StageTime> stages;

  double median_ms() const { return median(ms); }
  double min_ms() const { return *std::min_element(ms.begin(), ms.end()); }
  double gde_per_s() const {
    return static_cast<double>(workload.size.width) * workload.size.height * workload.disparities / median_ms() * 1e-6;
  }
};

Workload parse_workload(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) numbers.push_back(to_integer("--size", part, 1, 1 << 20));
  if (numbers.size() != 3)
    refuse(fmt::format("--size {} is not allowed; it must be WIDTHxHEIGHTxDISPARITIES, such as 1280x960x128", text));
  return {{numbers[0], numbers[1]}, numbers[2]};
}

Json to_json(const Result& r, int threads) {
  return {{"method", r.method},
          {"device", r.device},
          {"parameters", r.parameters},
          {"threads", threads},
          {"commit", STEREOPSIS_COMMIT},
          {"width", r.workload.size.width},
          {"height", r.workload.size.height},
          {"disparities", r.workload.disparities},
          {"batch", 1},
          {"peer", r.peer ? Json(r.method) : Json(nullptr)},
          {"median_ms", r.median_ms()},
          {"min_ms", r.min_ms()},
          {"gde_per_s", r.gde_per_s()},
          {"workspace_bytes", r.workspace_bytes},
          {"roof", {{"ms", nullptr}, {"bound", nullptr}}},
          {"stages", stages_json(r.stages)}};
}

// The ratios to the peers first: they are the result.
void print(const std::vector<Result>& results) {
  for (const Result& ours : results) {
    if (ours.peer) continue;
    for (const Result& peer : results)
      if (peer.peer && peer.workload.text() == ours.workload.text())
        fmt::print("{}: {} on {} is {:.2f}× as fast as {} ({:.2f} ms against {:.2f} ms)\n", ours.workload.text(),
                   ours.method, ours.device, peer.median_ms() / ours.median_ms(), peer.method, ours.median_ms(),
                   peer.median_ms());
  }
  Table table({"size", "method", "device", "median ms", "min ms", "GDE/s", "workspace MB"});
  for (const Result& r : results)
    table.add({r.workload.text(), r.method, r.device, cell(r.median_ms(), 2), cell(r.min_ms(), 2),
               cell(r.gde_per_s(), 3), r.peer ? "–" : cell(static_cast<double>(r.workspace_bytes) * 1e-6, 1)});
  fmt::print("\n");
  table.left({0, 1, 2}).print();
  for (const Result& r : results) {
    if (r.stages.empty()) continue;
    Table stages({"stage of " + r.method + ", " + r.device + ", " + r.workload.text(), "ms", "GB/s"});
    for (const StageTime& s : r.stages) stages.add({s.name, cell(s.ms, 3), cell(gigabytes_per_second(s), 2)});
    fmt::print("\n");
    stages.print();
  }
}

// NAME, or NAME:slot.parameter=value,…: its own settings come after those of all.
Pipeline parse_method(const std::string& text, std::vector<std::string> settings) {
  const std::size_t colon = text.find(':');
  Pipeline pipeline(text.substr(0, colon));
  std::istringstream parts(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string part; std::getline(parts, part, ',');) settings.push_back(part);
  apply_settings(pipeline, settings);
  return pipeline;
}

void bench_sizes(const Bench& bench, const std::vector<Workload>& workloads) {
  std::vector<Result> results;
  Progress progress(workloads.size() * bench.contenders.size(), "runs");
  std::size_t done = 0;
  for (const Workload& workload : workloads) {
    const Scene scene = make_scene({.size = workload.size, .disparities = workload.disparities});
    const Image<std::uint8_t> left = grey(scene.left), right = grey(scene.right);
    const StereoPair pair{left, right, {}, {}};
    for (const auto& [label, pipeline, device] : bench.contenders) {
      Problem problem = Problem::of(pair, {0, workload.disparities});
      problem.want_times = true;
      Matcher matcher(Plan(pipeline, problem, device));
      Matched matched;
      Result result{workload, label, device.name, parameters_json(pipeline), false, {}, 0, {}};
      result.ms = time_runs(bench.repeat, [&] { matcher.match(pair, matched); });
      result.workspace_bytes = matcher.plan().workspace_bytes();
      result.stages = matched.times;
      results.push_back(std::move(result));
      progress.update(++done);
    }
    if (bench.peers)
      for (const Peer& peer : make_peers(left, right, workload.disparities, bench.threads, PeerColumns::as_found))
        results.push_back(
            {workload, peer.name, "cpu", peer.parameters, true, time_runs(bench.repeat, peer.run), 0, {}});
  }
  progress.clear();
  print(results);
  if (bench.json.empty()) return;
  Json list = Json::array();
  for (const Result& result : results) list.push_back(to_json(result, threads_of(bench.contenders.front().device)));
  write_json(bench.json, {{"results", list}});
}

void bench(const Options& options) {
  if (options.batch.value_or(1) != 1)
    throw Error(
        ErrorCategory::unsupported,
        fmt::format("--batch {} is not there yet: this version matches one pair at a time; use 1", *options.batch));
  const bool scenes = !options.dataset.empty();
  Bench bench{
      {}, !options.no_peers, options.threads.value_or(0), options.repeat.value_or(scenes ? 3 : 7), options.json};
  for (const std::string& method : options.methods.empty() ? std::vector<std::string>{"sgm"} : options.methods) {
    const Pipeline pipeline = parse_method(method, options.settings);
    for (const std::string& device : options.devices.empty() ? std::vector<std::string>{"auto"} : options.devices)
      bench.contenders.push_back({method, pipeline, {resolve_device(device), bench.threads}});
  }
  std::vector<Workload> workloads;
  for (const std::string& size :
       options.sizes.empty() ? std::vector<std::string>{"640x480x64", "1280x960x128"} : options.sizes)
    workloads.push_back(parse_workload(size));
  if (!bench.json.empty()) check_writable(bench.json);
  scenes ? bench_dataset(bench, options.dataset) : bench_sizes(bench, workloads);
}

}  // namespace

Image<std::uint8_t> grey(ImageView<const std::uint8_t> image) {
  Image<std::uint8_t> out(Size{image.width, image.height});
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      out(x, y) = image.channels == 1
                      ? image(x, y)
                      : static_cast<std::uint8_t>(
                            (299 * image(x, y, 0) + 587 * image(x, y, 1) + 114 * image(x, y, 2) + 500) / 1000);
  return out;
}

void add_bench(CLI::App& application) {
  auto* app = application.add_subcommand("bench", "Times methods beside the installed peers");
  const auto o = std::make_shared<Options>();
  add_list(*app, "--method", o->methods, "NAME[:SET,...]",
           "With its own --set, as in sgm:sgm.paths=8; repeatable [sgm]");
  add_list(*app, "--set", o->settings, "NAME.PARAMETER=VALUE", "Sets a parameter of all of them; repeatable");
  add_list(*app, "--device", o->devices, "NAME", "auto, cpu, cuda[:N] or opencl[:N]; repeatable [auto]");
  add_integer(*app, "--threads", o->threads, 1, 4096, "N", "Threads of the CPU, for the peers too [all]");
  auto* sizes = add_list(*app, "--size", o->sizes, "WxHxD", "Repeatable [640x480x64, 1280x960x128]");
  add_path(*app, "--dataset", o->dataset, "DIR", "Scenes with a dataset.json, instead of generated pairs")
      ->excludes(sizes);
  add_integer(*app, "--batch", o->batch, 1, 4096, "N", "Pairs at a time [1]");
  add_integer(*app, "--repeat", o->repeat, 1, 10000, "N", "Timed runs, after one to warm up [7; of scenes 3]");
  app->add_flag("--no-peers", o->no_peers, "The methods alone");
  add_path(*app, "--json", o->json, "FILE", "All results");
  app->footer(
      "Generated pairs: 8-bit grey, of `synth` with seed 1. GDE/s: 10⁹ pixel·disparity hypotheses a second.\n"
      "With --dataset the accuracy of all is compared too; the peers' images are grey, padded on the left so that no\n"
      "column is left out, and their maps are made dense, outside their time, with the smaller row neighbour.");
  app->callback([o] { bench(*o); });
}

}  // namespace stereopsis::command
