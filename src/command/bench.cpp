// stereopsis bench: times of generated pairs, next to the peers in this build; with --dataset, times and accuracy.
#include "command/bench.hpp"

#include <fmt/core.h>

#include <memory>
#include <sstream>

#include "command/commands.hpp"
#include "command/frames.hpp"
#include "command/outside_methods.hpp"
#include "command/result_files.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/simd.hpp"

namespace stereopsis::command {
namespace {

struct Options {
  std::vector<std::string> methods, settings, devices, sizes;
  std::vector<std::string> threads, simd;
  std::optional<int> batch, repeat;
  std::filesystem::path dataset, json, html;
  bool no_peers = false, no_stream = false, confidence = false;
  RowOptions rows;
};

Workload parse_workload(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) numbers.push_back(to_integer("--size", part, 1, 1 << 20));
  if (numbers.size() != 3)
    refuse(fmt::format("--size {} is not allowed; it must be WIDTHxHEIGHTxDISPARITIES, such as 1280x960x128", text));
  return {{numbers[0], numbers[1]}, numbers[2]};
}

// Returns numbers of threads; 0 means all.
std::vector<int> parse_threads(const std::vector<std::string>& texts) {
  std::vector<int> counts;
  for (const std::string& text : texts) counts.push_back(text == "all" ? 0 : to_integer("--threads", text, 1, 4096));
  if (counts.empty()) counts.push_back(0);
  return counts;
}

// Adds a contender for each SIMD target. Returns false for a GPU, for which SIMD targets and threads do not matter.
bool add_contenders(Contender contender, const std::vector<std::string>& simd, std::vector<Contender>& contenders) {
  const bool on_cpu = contender.runs_on() == "cpu";
  for (const std::string& target : simd.empty() || !on_cpu ? std::vector<std::string>{"auto"} : simd) {
    use_simd(target);  // throws before anything is measured
    contender.simd = target;
    contenders.push_back(contender);
  }
  return on_cpu;
}

// Adds the methods on all devices, and the peers: those that are named, or all that are there.
void add_methods(const Options& options, const std::vector<int>& threads, Bench& bench) {
  for (const std::string& method : options.methods.empty() ? std::vector<std::string>{"sgm"} : options.methods) {
    if (is_peer(method)) {
      add_method(bench, method, {}, {});
      continue;
    }
    for (const std::string& device : options.devices.empty() ? std::vector<std::string>{"auto"} : options.devices)
      for (const int count : threads) {
        DeviceOptions on;
        on.name = device;
        if (count > 0) on.threads = count;
        if (!add_contenders(contender_of(method, options.settings, on), options.simd, bench.contenders)) break;
      }
  }
  if (!bench.peers.empty() && options.no_peers)
    refuse(fmt::format("--no-peers excludes --method {}; leave one of them out", bench.peers.front().text()));
  if (!bench.peers.empty() || options.no_peers) return;
  bench.peers = peers_there();
  bench.left_out = peers_left_out();
}

void bench(const Options& options) {
  for (const std::string& target : options.simd) use_simd(target);  // refuses wrong names, also beside a GPU
  const bool scenes = !options.dataset.empty();
  const std::vector<int> threads = parse_threads(options.threads);
  Bench bench;
  bench.stream = !options.no_stream;
  bench.confidence = options.confidence;
  bench.threads = threads.back();
  bench.repeat = options.repeat.value_or(scenes ? 3 : 7);
  bench.batch = options.batch.value_or(1);
  bench.json = options.json;
  bench.html = options.html;
  if (scenes && bench.batch != 1)
    throw Error(
        ErrorCategory::unsupported,
        fmt::format(
            "--batch {} cannot be used with --dataset, because the scenes of a dataset differ in size; use --batch 1",
            bench.batch));
  bench.rows = options.rows.settings();
  add_methods(options, threads, bench);
  std::vector<Workload> workloads;
  for (const std::string& size :
       options.sizes.empty() ? std::vector<std::string>{"640x480x64", "1280x960x128"} : options.sizes)
    workloads.push_back(parse_workload(size));
  reads_methods(bench.files, options.methods);
  for (const auto& file : {bench.json, bench.html})
    if (!file.empty()) check_result(file);
  scenes ? bench_dataset(bench, options.dataset) : bench_sizes(bench, workloads);
}

}  // namespace

Contender contender_of(const std::string& text, std::vector<std::string> settings, const DeviceOptions& device) {
  const std::size_t colon = is_outside_method(text) ? std::string::npos : text.find(':');
  const std::string name = text.substr(0, colon);
  auto [pipeline, own_device] = name.ends_with(".json") ? method_of_file(name, device) : method_named(name, device);
  std::istringstream parts(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string part; std::getline(parts, part, ',');) settings.push_back(part);
  apply_settings(pipeline, settings);
  const Device used = library_device(pipeline, device).device();
  return {text, std::move(pipeline), used, "auto", own_device};
}

void add_method(Bench& bench, const std::string& text, const std::vector<std::string>& settings,
                const DeviceOptions& device) {
  if (!is_peer(text)) {
    bench.contenders.push_back(contender_of(text, settings, device));
    return;
  }
  for (PeerName& peer : peers_named(text)) bench.peers.push_back(std::move(peer));
}

void reads_methods(CallFiles& files, const std::vector<std::string>& methods) {
  for (const std::string& method : methods) {
    if (const std::string file = method.substr(0, method.find(':')); file.ends_with(".json"))
      files.reads(file, "--method");
    for (const std::filesystem::path& file : files_of_method(method)) files.reads(file, "--method");
  }
}

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
  Command command(application, "bench",
                  "Measure the run time of methods, next to other stereo matchers that are installed");
  const auto o = std::make_shared<Options>();
  command.list(
      "--method", o->methods, "NAME[:SET,...]",
      "Method, or FILE.json of a pipeline, with optional settings: sgm:optimisation.paths=8; opencv, or one of "
      "its matchers such as opencv:3WAY; with the Python package also onnx:FILE or program:CMD; repeatable "
      "[sgm, and all other stereo matchers]");
  command.list("--set", o->settings, "NAME.PARAMETER=VALUE", "Set a parameter of all methods; repeatable");
  command.list("--device", o->devices, "NAME", "Device: auto, cpu, cuda[:N] or opencl[:N]; repeatable [auto]");
  command.list("--threads", o->threads, "N|all",
               "Number of CPU threads; repeatable; other stereo matchers run with the last number only [all]");
  command.list("--simd", o->simd, "NAME", fmt::format("{}; repeatable [auto]", simd_help));
  const Option sizes = command.list(
      "--size", o->sizes, "WxHxD",
      "Width, height and number of disparities of a generated pair; repeatable [640x480x64, 1280x960x128]");
  Option dataset = command.path(
      "--dataset", o->dataset, "DIR",
      "Folder of scenes with a dataset.json; they replace the generated pairs, and the accuracy is reported as "
      "well");
  dataset.excludes(sizes);
  o->rows.add_to(command, dataset);
  command.integer("--batch", o->batch, 1, 4096, "N", "Number of pairs in flight at a time [1]");
  command.integer("--repeat", o->repeat, 1, 10000, "N",
                  "Number of timed runs after one warm-up run [7, or 3 with --dataset]");
  command.flag("--no-peers", o->no_peers, "Do not run other stereo matchers [all, or those that --method names]");
  command.flag("--confidence", o->confidence, "Compute the confidence, too; the run times include it");
  command.flag("--no-stream", o->no_stream, "Skip the measurement of `stream ms`, which matches 66 pairs on a GPU");
  command.path("--json", o->json, "FILE.json", "Write all results as JSON");
  command
      .path("--html", o->html, "FILE.html",
            "Write a page with figures, medals, accuracy over time and error pictures of the scenes of --dataset")
      .needs(dataset);
  command.creates_folders();
  command.footer(
      "The generated pairs are 8-bit grey scenes of `stereopsis synth` with seed 1. Pairs above 8 megapixels are "
      "composed of copies of a smaller pair.\n"
      "The column `GDE/s` is the number of pixels times the number of disparities, in 10⁹ per second. The column "
      "`first ms` is the time from the plan to the first result, including transfers.\n"
      "On a GPU, run times are measured with all images on the device. The column `stream ms` is the time per pair "
      "from host memory to host memory, with three pairs in flight.\n"
      "The roof is a lower bound of the run time: the time for the memory traffic and the operations of all stages at "
      "the measured rates of the device. Above 100 %, the data lie in a cache, which is faster than the memory.\n"
      "Other matchers run with the settings of src/command/peers.json: for each of them, the customary setting "
      "with "
      "the fewest errors on indoor or on road scenes. With --dataset, their images are padded on the left to obtain "
      "disparities in all columns.\n"
      "Invalid pixels of other matchers are filled with the smaller of the two neighbouring disparities in the row; "
      "the run time excludes this step.");
  command.callback([o] { bench(*o); });
}

}  // namespace stereopsis::command
