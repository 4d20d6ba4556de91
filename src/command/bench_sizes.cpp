// The generated pairs of `bench`: times at chosen sizes, ratios to the peers, roofs and stages.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "command/bench.hpp"
#include "command/peers.hpp"
#include "command/progress.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "stereopsis/device_image.hpp"
#include "stereopsis/simd.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::command {
namespace {

// Times of consecutive pairs from pinned host memory, with several pairs in flight.
struct StreamTimes {
  double ms = 0;          // per pair
  double enqueue_ms = 0;  // per pair: median of the host's time in enqueue
};

struct Result {
  Workload workload;
  std::string method, device, simd = "auto";
  int threads = 0;  // CPU threads
  Json parameters;
  int batch = 1;
  bool peer = false;
  std::vector<double> ms;  // per batch; on a GPU with all images on the device
  double first_ms = 0;     // from the plan to the first result, transfers included
  std::size_t workspace_bytes = 0;
  std::vector<StageTime> stages;     // without transfers
  std::vector<StageTime> transfers;  // times of one pair; empty on the CPU
  std::optional<StreamTimes> stream;
  Roofs roofs;
  double processor_ms = 0;  // per batch, of all threads
  bool confidence = false;  // the runs computed the confidence, too

  double median_ms() const { return median(ms); }
  double min_ms() const { return *std::min_element(ms.begin(), ms.end()); }
  double gde_per_s() const {
    return static_cast<double>(workload.size.width) * workload.size.height * workload.disparities * batch /
           median_ms() * 1e-6;
  }
  // Returns the roof of the batch.
  Roof roof() const {
    Roof one = roof_of(stages, roofs);
    one.ms *= batch;
    return one;
  }
};

Json to_json(const Result& r) {
  return {{"method", r.method},
          {"device", r.device},
          {"simd", r.simd},
          {"parameters", r.parameters},
          {"threads", r.threads},
          {"commit", built_commit},
          {"width", r.workload.size.width},
          {"height", r.workload.size.height},
          {"disparities", r.workload.disparities},
          {"batch", r.batch},
          {"peer", r.peer ? Json(r.method) : Json(nullptr)},
          {"median_ms", r.median_ms()},
          {"min_ms", r.min_ms()},
          {"p99_ms", quantile(r.ms, 0.99)},
          {"max_ms", quantile(r.ms, 1)},
          {"processor_ms", r.processor_ms},
          {"confidence", r.confidence},
          {"first_ms", r.peer ? Json(nullptr) : Json(r.first_ms)},
          {"gde_per_s", r.gde_per_s()},
          {"workspace_bytes", r.workspace_bytes},
          {"roof", r.peer ? Json{{"ms", nullptr}, {"bound", nullptr}}
                          : Json{{"ms", r.roof().ms}, {"bound", to_string(r.roof().bound)}}},
          {"stages", stages_json(r.stages, r.roofs)},
          {"transfers", stages_json(r.transfers, {})},
          {"stream", r.stream ? Json{{"ms", r.stream->ms}, {"enqueue_ms", r.stream->enqueue_ms}} : Json(nullptr)},
          {"roofs",
           {{"bytes_per_s", r.roofs.bytes},
            {"path_operations_per_s", r.roofs.path_operations},
            {"popcounts_per_s", r.roofs.popcounts},
            {"operations_per_s", r.roofs.operations}}}};
}

// Prints the ratios to the peers first, because they are the main result.
void print_results(const std::vector<Result>& results) {
  for (const Result& ours : results) {
    if (ours.peer) continue;
    for (const Result& peer : results)
      if (peer.peer && peer.workload.text() == ours.workload.text())
        say("{}: {} on {} is {:.2f}× as fast as {} ({:.2f} ms against {:.2f} ms)\n", ours.workload.text(), ours.method,
            device_text(ours.device, ours.simd), peer.median_ms() / ours.median_ms(), peer.method, ours.median_ms(),
            peer.median_ms());
  }
  Table table({"size", "method", "device", "threads", "batch", "median ms", "min ms", "p99 ms", "max ms", "first ms",
               "GDE/s", "% of roof", "bound", "stream ms", "workspace MiB"});
  for (const Result& r : results)
    table.add({r.workload.text(), r.method, device_text(r.device, r.simd),
               r.device == "cpu" ? std::to_string(r.threads) : "–", std::to_string(r.batch), cell(r.median_ms(), 3),
               cell(r.min_ms(), 3), cell(quantile(r.ms, 0.99), 3), cell(quantile(r.ms, 1), 3),
               r.peer ? "–" : cell(r.first_ms, 1), cell(r.gde_per_s(), 3),
               r.peer ? "–" : roof_share(r.roof().ms, r.median_ms()), r.peer ? "–" : to_string(r.roof().bound),
               r.stream ? cell(r.stream->ms, 3) : "–",
               r.peer ? "–" : cell(static_cast<double>(r.workspace_bytes) / mebibyte, 1)});
  say("\n");
  table.left({0, 1, 2, 12}).print();
  for (const Result& r : results) {
    if (r.stages.empty()) continue;
    say("\n");
    stage_table("stage of " + r.method + ", " + device_text(r.device, r.simd) + ", " + r.workload.text(), r.stages,
                r.roofs)
        .print();
    for (const StageTime& t : r.transfers) say("{}: {:.3f} ms, {:.1f} GB/s\n", t.name, t.ms, gigabytes_per_second(t));
  }
}

// Images on a device: a pair, and memory for the results of a batch.
class OnDevice {
 public:
  OnDevice(const Matcher& matcher, const StereoPair& pair)
      : device_(matcher.plan().device().name), left_(device_, pair.left), right_(device_, pair.right) {
    const Size size = matcher.plan().output_size();
    for (int i = 0; i < matcher.plan().problem().batch; ++i) {
      disparities_.emplace_back(device_, size, PixelType::f32);
      if (matcher.plan().problem().want_confidence) confidences_.emplace_back(device_, size, PixelType::f32);
      validities_.emplace_back(device_, size);
    }
  }
  DevicePair pair() const { return {left_, right_, {}, {}}; }
  DeviceMatched out(int i) const {
    DeviceMatched out{disparities_[i], validities_[i], {}, {}};
    if (!confidences_.empty()) out.confidence = confidences_[i];
    return out;
  }

 private:
  std::string device_;
  DeviceImage left_, right_;
  std::vector<DeviceImage> disparities_, validities_, confidences_;
};

// Measures whole batches, without transfers.
std::vector<double> time_batches(Matcher& matcher, const StereoPair& pair, int repeat, double* processor_ms) {
  const int batch = matcher.plan().problem().batch;
  if (matcher.plan().device().name == "cpu") {
    const std::vector<StereoPair> pairs(static_cast<std::size_t>(batch), pair);
    std::vector<Matched> results(pairs.size());
    const auto run = [&] { batch == 1 ? matcher.match(pair, results[0]) : matcher.match(pairs, results); };
    return time_runs(repeat, run, processor_ms);
  }
  const OnDevice there(matcher, pair);
  std::vector<Ticket> tickets(static_cast<std::size_t>(batch));
  const auto run = [&] {
    for (int i = 0; i < batch; ++i) tickets[i] = matcher.enqueue(there.pair(), there.out(i));
    for (const Ticket ticket : tickets) matcher.wait(ticket);
  };
  for (int i = 0; i < 3; ++i) run();  // a GPU records the second run, and replays from the third on
  return time_runs(repeat, run, processor_ms);
}

template <class T>
Image<T> page_locked_copy(const std::string& device, const Image<T>& image) {
  Image<T> copy = page_locked_image<T>(device, image.size(), image.channels());
  copy.copy_from(image);
  return copy;
}

StreamTimes time_stream(const Pipeline& pipeline, Problem problem, const Device& device,
                        const Image<std::uint8_t>& left, const Image<std::uint8_t>& right) {
  constexpr int in_flight = 3, warm = 2 * in_flight, pairs = 60;
  problem.batch = in_flight;
  Matcher matcher(Plan(pipeline, problem, device));
  const Image<std::uint8_t> l = page_locked_copy(device.name, left), r = page_locked_copy(device.name, right);
  std::vector<Matched> results;
  std::vector<Ticket> tickets(in_flight);
  for (int i = 0; i < in_flight; ++i) results.push_back(matcher.make_result());
  std::vector<double> enqueue_ms;
  std::optional<Stopwatch> watch;
  for (int i = 0; i < warm + pairs; ++i) {
    if (i >= in_flight) matcher.wait(tickets[i % in_flight]);
    if (i == warm) watch.emplace();
    const Stopwatch enqueuing;
    tickets[i % in_flight] = matcher.enqueue({l, r, {}, {}}, results[i % in_flight]);
    enqueue_ms.push_back(enqueuing.ms());
  }
  // Measures from the end of one pair to the end of the pair `pairs` later.
  matcher.wait(tickets[(warm + pairs) % in_flight]);
  const double ms = watch->ms() / pairs;
  for (const Ticket ticket : tickets) matcher.wait(ticket);
  return {ms, median(enqueue_ms)};
}

// Returns the stages of one pair with its transfers. Each time is a median, because short times vary most between runs.
std::vector<StageTime> time_stages(const Pipeline& pipeline, Problem problem, const Device& device,
                                   const StereoPair& pair) {
  constexpr int warm = 2, runs = 5;
  problem.batch = 1;
  problem.want_times = true;
  Matcher matcher(Plan(pipeline, problem, device));
  Matched matched = matcher.make_result();
  for (int i = 0; i < warm; ++i) matcher.match(pair, matched);
  std::vector<std::vector<double>> ms(matched.times.size());
  for (int i = 0; i < runs; ++i) {
    matcher.match(pair, matched);
    for (std::size_t stage = 0; stage < ms.size(); ++stage) ms[stage].push_back(matched.times[stage].ms);
  }
  for (std::size_t stage = 0; stage < ms.size(); ++stage) matched.times[stage].ms = median(ms[stage]);
  return matched.times;
}

bool is_transfer(const StageTime& stage) { return stage.name == "upload" || stage.name == "download"; }

Result measure(const Bench& bench, const Workload& workload, const Contender& contender,
               const Image<std::uint8_t>& left, const Image<std::uint8_t>& right) {
  const Pipeline& pipeline = contender.pipeline;
  const Device& device = contender.device;
  use_simd(contender.simd);
  const StereoPair pair{left, right, {}, {}};
  Problem problem = Problem::of(pair, {0, workload.disparities});
  problem.batch = bench.batch;
  problem.want_confidence = bench.confidence;
  Result result;
  result.workload = workload;
  result.method = contender.label;
  result.device = contender.runs_on();
  result.simd = contender.simd;
  result.threads = threads_of(device);
  result.parameters = parameters_json(pipeline);
  result.batch = bench.batch;
  {
    const Stopwatch since_plan;
    Matcher matcher(Plan(pipeline, problem, device));
    matcher.match(pair);
    result.first_ms = since_plan.ms();
    result.workspace_bytes = matcher.plan().workspace_bytes();
    result.ms = time_batches(matcher, pair, bench.repeat, &result.processor_ms);
  }
  result.confidence = bench.confidence;
  for (const StageTime& stage : time_stages(pipeline, problem, device, pair))
    (is_transfer(stage) ? result.transfers : result.stages).push_back(stage);
  if (bench.stream && device.name != "cpu") result.stream = time_stream(pipeline, problem, device, left, right);
  return result;
}

Result measure(const Bench& bench, const Workload& workload, const Peer& peer) {
  Result result;
  result.workload = workload;
  result.method = peer.name;
  result.device = "cpu";
  result.threads = threads_of({"cpu", bench.threads});
  result.parameters = peer.parameters;
  result.peer = true;
  result.ms = time_runs(bench.repeat, peer.run, &result.processor_ms);
  return result;
}

// Returns the hardware behind the names of the usable devices.
Json hardware() {
  Json names = Json::object();
  for (const DeviceDescription& device : devices())
    if (device.usable) names[device.name] = device.description;
  return names;
}

// Above this many pixels, a smaller scene is repeated: generating 200 megapixels would take longer than all runs on
// them.
constexpr double most_pixels_of_a_scene = 8e6;
constexpr Size repeated_scene{2048, 1536};

Image<std::uint8_t> repeated(ImageView<const std::uint8_t> image, Size size) {
  Image<std::uint8_t> large(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; x += image.width)
      std::copy_n(image.row(y % image.height), std::min(image.width, size.width - x), large.row(y) + x);
  return large;
}

}  // namespace

void bench_sizes(const Bench& bench, const std::vector<Workload>& workloads) {
  CallFiles files = bench.files;
  files.writes(bench.json, "--json");
  std::vector<Result> results;
  std::map<std::string, Roofs> roofs;
  for (const Contender& contender : bench.contenders)
    if (const std::string key = device_text(contender.device.name, contender.simd); !roofs.contains(key)) {
      use_simd(contender.simd);
      roofs[key] = measure_roofs(contender.device);
    }
  Progress progress(workloads.size() * bench.contenders.size(), "runs");
  std::size_t done = 0;
  for (const Workload& workload : workloads) {
    const bool repeats = 1.0 * workload.size.width * workload.size.height > most_pixels_of_a_scene;
    const Scene scene =
        make_scene({.size = repeats ? repeated_scene : workload.size, .disparities = workload.disparities});
    Image<std::uint8_t> left = grey(scene.left), right = grey(scene.right);
    if (repeats) left = repeated(left.view(), workload.size), right = repeated(right.view(), workload.size);
    for (const Contender& contender : bench.contenders) {
      results.push_back(measure(bench, workload, contender, left, right));
      results.back().roofs = roofs[device_text(contender.device.name, contender.simd)];
      progress.update(++done);
    }
    for (const PeerName& name : bench.peers) {
      const auto peer = make_peer(name, {left, right, workload.disparities, bench.threads, PeerColumns::as_found});
      if (peer)
        results.push_back(measure(bench, workload, *peer));
      else
        warn("{} is left out at {}: it does not support this size", name.text(), workload.text());
    }
  }
  print_results(results);
  if (!bench.left_out.empty()) remark("{}", bench.left_out);
  if (bench.json.empty()) return;
  Json list = Json::array();
  for (const Result& result : results) list.push_back(to_json(result));
  write_json(bench.json, {{"hardware", hardware()}, {"results", list}});
}

}  // namespace stereopsis::command
