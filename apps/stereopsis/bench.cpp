// stereopsis bench: times of generated pairs, next to the peers in this build; with --dataset, times and accuracy.
#include "bench.hpp"

#include <fmt/core.h>

#include <memory>
#include <sstream>

#include "call_files.hpp"
#include "commands.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

struct Options {
  std::vector<std::string> methods, settings, devices, sizes;
  std::vector<std::string> threads;
  std::optional<int> batch, repeat;
  std::filesystem::path dataset, json;
  bool no_peers = false, no_stream = false;
};

Workload parse_workload(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) numbers.push_back(to_integer("--size", part, 1, 1 << 20));
  if (numbers.size() != 3)
    refuse(fmt::format("--size {} is not allowed; it must be WIDTHxHEIGHTxDISPARITIES, such as 1280x960x128", text));
  return {{numbers[0], numbers[1]}, numbers[2]};
}

// Parses NAME or FILE.json, optionally with :slot.parameter=value,…; these settings follow those for all methods.
Pipeline parse_method(const std::string& text, std::vector<std::string> settings) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  Pipeline pipeline = name.ends_with(".json") ? read_pipeline(name) : Pipeline(name);
  std::istringstream parts(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string part; std::getline(parts, part, ',');) settings.push_back(part);
  apply_settings(pipeline, settings);
  return pipeline;
}

// Returns numbers of threads; 0 means all.
std::vector<int> parse_threads(const std::vector<std::string>& texts) {
  std::vector<int> counts;
  for (const std::string& text : texts) counts.push_back(text == "all" ? 0 : to_integer("--threads", text, 1, 4096));
  if (counts.empty()) counts.push_back(0);
  return counts;
}

void bench(const Options& options) {
  const bool scenes = !options.dataset.empty();
  const std::vector<int> threads = parse_threads(options.threads);
  Bench bench{{},
              !options.no_peers,
              !options.no_stream,
              threads.back(),
              options.repeat.value_or(scenes ? 3 : 7),
              options.batch.value_or(1),
              options.json};
  if (scenes && bench.batch != 1)
    throw Error(
        ErrorCategory::unsupported,
        fmt::format("--batch {} cannot be used with --dataset, because its scenes differ in size; use 1", bench.batch));
  for (const std::string& method : options.methods.empty() ? std::vector<std::string>{"sgm"} : options.methods) {
    const Pipeline pipeline = parse_method(method, options.settings);
    for (const std::string& device : options.devices.empty() ? std::vector<std::string>{"auto"} : options.devices)
      // The number of threads does not matter for a GPU.
      for (const int count : resolve_device(device) == "cpu" ? threads : std::vector<int>{0})
        bench.contenders.push_back({method, pipeline, {resolve_device(device), count}});
  }
  std::vector<Workload> workloads;
  for (const std::string& size :
       options.sizes.empty() ? std::vector<std::string>{"640x480x64", "1280x960x128"} : options.sizes)
    workloads.push_back(parse_workload(size));
  CallFiles files;
  for (const std::string& method : options.methods)
    if (const std::string file = method.substr(0, method.find(':')); file.ends_with(".json"))
      files.reads(file, "--method");
  files.writes(bench.json, "--json");
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
  Command command(application, "bench",
                  "Measure the run time of methods, next to other stereo matchers that are installed");
  const auto o = std::make_shared<Options>();
  command.list(
      "--method", o->methods, "NAME[:SET,...]",
      "Method, or FILE.json of a pipeline, with optional settings of its own: sgm:sgm.paths=8; repeatable [sgm]");
  command.list("--set", o->settings, "NAME.PARAMETER=VALUE", "Set a parameter of all methods; repeatable");
  command.list("--device", o->devices, "NAME", "Device: auto, cpu, cuda[:N] or opencl[:N]; repeatable [auto]");
  command.list("--threads", o->threads, "N|all",
               "Number of CPU threads; repeatable; other matchers use the last number [all]");
  const Option sizes = command.list(
      "--size", o->sizes, "WxHxD",
      "Width, height and number of disparities of a generated pair; repeatable [640x480x64, 1280x960x128]");
  command
      .path("--dataset", o->dataset, "DIR",
            "Folder of scenes with a dataset.json; they replace the generated pairs, and the accuracy is reported as "
            "well")
      .excludes(sizes);
  command.integer("--batch", o->batch, 1, 4096, "N", "Number of pairs in flight at a time [1]");
  command.integer("--repeat", o->repeat, 1, 10000, "N",
                  "Number of timed runs after one warm-up run [7, or 3 with --dataset]");
  command.flag("--no-peers", o->no_peers, "Do not run other stereo matchers");
  command.flag("--no-stream", o->no_stream, "Do not measure `stream ms`, which takes 66 pairs on a GPU");
  command.path("--json", o->json, "FILE.json", "Write all results as JSON");
  command.footer(
      "Generated pairs are 8-bit grey scenes of `synth` with seed 1; above 8 megapixels, a smaller pair is repeated.\n"
      "The column `GDE/s` counts pairs of a pixel and a disparity, in 10⁹ per second; `first ms` is the time from the "
      "plan to the first result, with transfers.\n"
      "On a GPU, all images are on the device; `stream ms` is the time per pair from and to host memory, with three "
      "pairs in flight.\n"
      "The roof is the least time that the bytes and operations of the stages take at the measured rates of the "
      "device.\n"
      "With --dataset, other matchers get grey images, which are padded on the left so that their maps cover all "
      "columns.\n"
      "These maps are made dense with the smaller neighbour of the row; this is not part of their time.");
  command.callback([o] { bench(*o); });
}

}  // namespace stereopsis::command
