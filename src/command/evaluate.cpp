// stereopsis evaluate DISPARITY --truth FILE, or evaluate --dataset DIR: prints a table with one row per scene.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command/bench.hpp"
#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/evaluate_maps.hpp"
#include "command/frames.hpp"
#include "command/group_options.hpp"
#include "command/outside_methods.hpp"
#include "command/progress.hpp"
#include "command/result_files.hpp"
#include "command/scores.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "command/truth_file.hpp"
#include "jobs/pixels.hpp"
#include "sources/maps.hpp"
#include "stereopsis/dataset.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/mask.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct EvaluateOptions {
  fs::path disparity, mask, error_image, dataset, json, html, sparsification, confidence;
  TruthOptions truth;
  std::optional<double> disparity_scale, threshold;
  MethodOptions method;
  std::vector<std::string> methods;
  DeviceOptions device;
  RowOptions rows;
};

Image<std::uint8_t> read_counted(const fs::path& file) {
  Image<std::uint8_t> mask = read_mask(file);
  bool any = false;
  for (int y = 0; y < mask.height() && !any; ++y)
    any = std::find(mask.row(y), mask.row(y) + mask.width(), mask_counts) != mask.row(y) + mask.width();
  if (!any)
    refuse(
        fmt::format("--mask {} has no pixel with value 255, so no pixel is scored; mark the pixels to score with 255",
                    file.string()));
  return mask;
}

void check_call(const EvaluateOptions& o) {
  o.truth.check();
  CallFiles files;
  for (const auto& [file, name] : {std::pair{&o.disparity, "the disparity"},
                                   {&o.truth.file, "--truth"},
                                   {&o.mask, "--mask"},
                                   {&o.confidence, "--confidence"}}) {
    if (!file->empty() && !file_exists(*file))
      refuse(fmt::format("{} {} does not exist; check its name", name, file->string()));
    files.reads(*file, name);
  }
  o.truth.rig.calibration().reads(files);
  files.writes(o.error_image, "--error-image");
  files.writes(o.sparsification, "--sparsification");
  files.writes(o.json, "--json");
  if (!o.error_image.empty())
    check_output(o.error_image, std::array{".png", ".ppm", ".jpg", ".jpeg", ".webp", ".jp2", ".tif", ".tiff"},
                 "--error-image");
  if (!o.json.empty()) check_result(o.json);
  if (o.sparsification.empty() && !o.confidence.empty())
    refuse("--confidence has an effect only with --sparsification FILE.svg; give both, or neither");
  if (o.sparsification.empty()) return;
  check_output(o.sparsification, std::array{".svg"}, "--sparsification");
  if (o.confidence.empty())
    refuse("--sparsification requires the confidence of the map; give it with --confidence FILE");
}

using command::to_json;  // for an Evaluation

struct Score {
  Evaluation result;
  std::optional<Sparsification> sparse;
  std::optional<double> bad;  // for --threshold
  std::vector<std::string> warnings;
};

Json to_json(const EvaluateOptions& o, const Score& score) {
  Json json = {{"disparity", o.disparity.string()}, {"truth", o.truth.file.string()}};
  if (score.sparse)
    json["sparsification"] = {{"auc", score.sparse->auc},
                              {"auc_optimum", score.sparse->auc_optimum},
                              {"curve", score.sparse->curve},
                              {"optimum", score.sparse->optimum}};
  if (score.bad) json["threshold"] = {{"px", *o.threshold}, {"bad", *score.bad}};
  json["measures"] = to_json(score.result);
  json["warnings"] = score.warnings;
  return json;
}

void print_score(const EvaluateOptions& o, const Score& score) {
  const Evaluation& result = score.result;
  Table table({"measure", "all counted", "valid only", ""});
  for (const auto& [key, value] : measure_columns) {
    const bool pixels = value == &Measures::avgerr || value == &Measures::rms || value == &Measures::a90 ||
                        value == &Measures::a95 || value == &Measures::a99;
    table.add(
        {key, cell(result.all.*value, pixels ? 3 : 2), cell(result.valid.*value, pixels ? 3 : 2), pixels ? "px" : "%"});
  }
  if (score.bad) table.add({fmt::format("bad{}", *o.threshold), cell(*score.bad, 2), "", "%"});
  if (score.sparse) {
    table.add({"AUC", cell(score.sparse->auc, 2), "", "%"});
    table.add({"AUC over optimum", cell(score.sparse->auc / score.sparse->auc_optimum, 2), "", ""});
  }
  table.add({"counted", std::to_string(result.all.counted), std::to_string(result.valid.counted), "pixels"});
  table.left({0, 3}).print();
}

void evaluate_file(const EvaluateOptions& o) {
  check_call(o);
  const auto [scored, known] = read_scored(o.disparity, o.disparity_scale, o.truth);
  const Image<float>&disparity = scored.values, &truth = known.values;
  const Image<std::uint8_t> mask = o.mask.empty() ? Image<std::uint8_t>() : read_counted(o.mask);
  if (disparity.size() != truth.size())
    refuse(fmt::format("{} is {} but {} is {}; both must have the same size", o.disparity.string(),
                       size_text(disparity.size()), o.truth.file.string(), size_text(truth.size())));
  if (!mask.empty() && mask.size() != truth.size())
    refuse(fmt::format("{} is {} but {} is {}; both must have the same size", o.mask.string(), size_text(mask.size()),
                       o.truth.file.string(), size_text(truth.size())));

  const double threshold = o.threshold.value_or(1);
  Score score{evaluate(disparity, truth, mask), {}, {}, {}};
  if (score.result.all.counted == 0)
    refuse(fmt::format(
        "{} has no valid disparity{}, so no pixel is scored; give a ground truth or a mask with pixels to score",
        o.truth.file.string(), mask.empty() ? "" : fmt::format(" where {} is 255", o.mask.string())));
  if (const auto mismatch = mismatch_text(o.truth, scored, known, mask)) {
    score.warnings.push_back(*mismatch);
    warn("warning: {}", *mismatch);
  }
  create_folder_of(o.error_image);
  create_folder_of(o.sparsification);
  if (!o.error_image.empty()) write_image(o.error_image, error_image(disparity, truth, mask, threshold, true));
  if (!o.sparsification.empty()) {
    score.sparse = sparsification(disparity, read_confidence(o.confidence), truth, mask, threshold);
    write_text(o.sparsification, to_svg(*score.sparse));
  }
  if (o.threshold) score.bad = bad_pixels(disparity, truth, mask, threshold);
  if (!o.json.empty()) write_json(o.json, to_json(o, score));
  print_score(o, score);
}

// ---- Datasets ----

constexpr int timed_runs = 3;  // after one warm-up run; the median is reported

std::vector<std::string> row(const SceneResult& r, bool is_average) {
  std::vector<std::string> cells = {is_average ? r.scene.name : r.scene.dataset + "/" + r.scene.name,
                                    is_average ? "" : size_text(r.size),
                                    is_average ? "" : std::to_string(r.scene.disparities), cell(r.ms, 1)};
  for (const auto measure : {&Measures::bad05, &Measures::bad10, &Measures::bad20, &Measures::bad40})
    cells.push_back(cell(r.value("nonocc", measure), 2));
  cells.push_back(cell(r.value("all", &Measures::bad10), 2));
  cells.push_back(cell(r.value("disc", &Measures::bad10), 2));
  cells.push_back(cell(r.value(r.widest(), &Measures::d1), 2));
  cells.push_back(cell(r.value(r.region("nonocc") ? "nonocc" : "all", &Measures::avgerr), 3));
  cells.push_back(cell(r.value(r.widest(), &Measures::density), 1));
  return cells;
}

void print_results(const std::vector<SceneResult>& results, const std::vector<SceneResult>& means) {
  Table table({"scene", "size", "disp.", "ms", "nonocc bad0.5", "bad1.0", "bad2.0", "bad4.0", "all bad1.0",
               "disc bad1.0", "D1", "avgerr", "density"});
  for (const SceneResult& result : results) table.add(row(result, false));
  table.add_rule();
  for (const SceneResult& mean : means) table.add(row(mean, true));
  table.print();
  say("ms: median of {} runs after one warm-up run. D1 and density: over all pixels, or over nonocc if the ground "
      "truth of\noccluded pixels is not known. avgerr: over valid nonocc pixels.\n",
      timed_runs);
  if (const auto twelve = average_of_12(results)) say("Middlebury v2, average of the 12: {:.2f}\n", *twelve);
}

// Returns the method of a call without --methods, with its device.
Contender contender_of(const EvaluateOptions& o) {
  const fs::path& file = o.method.pipeline_file;
  const ChosenMethod method = o.method.chosen(o.device);
  return {file.empty() ? method.pipeline.method() : file.string(), method.pipeline,
          library_device(method.pipeline, o.device).device(), "auto", method.own_device};
}

// Returns whether the call names several methods.
bool compares(const EvaluateOptions& o) {
  return o.methods.size() > 1 || !o.html.empty() ||
         (o.methods.size() == 1 && is_peer(o.methods[0]) && peers_named(o.methods[0]).size() > 1);
}

Bench bench_of(const EvaluateOptions& o) {
  Bench bench;
  bench.alone = !compares(o);
  bench.threads = o.device.threads.value_or(0);
  bench.repeat = timed_runs;
  bench.json = o.json;
  bench.html = o.html;
  bench.rows = o.rows.settings();
  if (o.methods.empty()) bench.contenders.push_back(contender_of(o));
  for (const std::string& method : o.methods) add_method(bench, method, o.method.settings, o.device);
  if (bench.alone)
    for (Contender& contender : bench.contenders) contender.simd = o.device.simd;
  bench.files.reads(o.method.pipeline_file, "--pipeline");
  reads_methods(bench.files, o.methods);
  for (const auto& result : {o.json, o.html})
    if (!result.empty()) check_result(result);
  return bench;
}

// A scene that fails is reported, and the others still run.
void evaluate_dataset(const EvaluateOptions& o) {
  const Bench bench = bench_of(o);
  if (!bench.alone) return bench_dataset(bench, o.dataset);
  SceneFailures failures;
  const Compared compared = compare_with_progress(bench, o.dataset, failures);
  const Entry& one = compared.entries.front();
  const bool is_peer = bench.contenders.empty();
  if (!o.json.empty()) {
    Json json = scenes_json(is_peer ? bench.peers[0].text() : bench.contenders[0].pipeline.method(),
                            is_peer ? "cpu" : bench.contenders[0].runs_on(), one.parameters, one.results);
    json["align_rows"] = o.rows.how;
    json["failed"] = failures.json();
    write_json(o.json, json);
  }
  print_results(one.results, one.means);
  if (failures.size() > 0) throw CheckFailed{};
}

void run(const EvaluateOptions& o) {
  if (o.dataset.empty() == o.disparity.empty())
    refuse("evaluate requires either DISPARITY and --truth FILE, or --dataset DIR; see `stereopsis evaluate --help`");
  if (!o.dataset.empty() && o.truth.rig.given())
    refuse("--calib, --focal and --baseline apply to a ground truth of depths, not to --dataset; leave them out");
  if (!o.dataset.empty()) return evaluate_dataset(o);
  if (o.truth.file.empty())
    refuse(fmt::format("the ground truth of {} is missing; give it with --truth FILE", o.disparity.string()));
  if (!sources::are_maps(o.disparity)) return evaluate_file(o);
  if (!o.error_image.empty() || !o.sparsification.empty() || !o.confidence.empty() || o.threshold)
    refuse(
        fmt::format("--error-image, --sparsification, --confidence and --threshold apply to one map, and {} names "
                    "several; give one map, or leave them out",
                    o.disparity.string()));
  evaluate_maps({o.disparity, o.mask, o.json, o.disparity_scale, o.truth});
}

}  // namespace

void add_evaluate(CLI::App& application) {
  Command command(application, "evaluate", "Score disparity maps, or a method on a folder of scenes");
  const auto o = std::make_shared<EvaluateOptions>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Option> of_file;
  command.path("--json", o->json, "FILE.json", "Write all measures as JSON");
  command.creates_folders();

  command.group("A disparity map");
  of_file.push_back(
      command.path("DISPARITY", o->disparity, "",
                   "Disparity map to score, a folder or pattern of maps, or a ROS bag of disparity maps"));
  o->truth.add_to(command, of_file);
  of_file.push_back(command.number("--disparity-scale", o->disparity_scale, 1e-6, 65536, "S",
                                   "Scale of DISPARITY: disparity = stored value / S, with 16 for OpenCV's int16 maps "
                                   "[256 for 16-bit images, 1 for floats]"));
  of_file.push_back(
      command.path("--mask", o->mask, "FILE", "Mask of the pixels to score: 255 = scored; 0 and 128 = not scored"));
  of_file.push_back(
      command.number("--threshold", o->threshold, 0, infinity, "T",
                     "Error threshold in pixels, for the reported share of wrong pixels and for --error-image [1]"));
  of_file.push_back(command.path("--error-image", o->error_image, "FILE", "Write a picture of the errors"));
  of_file.push_back(
      command.path("--sparsification", o->sparsification, "FILE.svg",
                   "Write the sparsification curve: the remaining error when the least confident pixels are removed"));
  of_file.push_back(command.path("--confidence", o->confidence, "FILE",
                                 "Confidence map of DISPARITY, for --sparsification: values 0 to 1 in .pfm, .npy or "
                                 ".tiff, or the full range of an integer image"));

  command.group("A folder of scenes");
  Option dataset =
      command.path("--dataset", o->dataset, "DIR",
                   "Folder of scenes: all subfolders with a dataset.json, or with the files of Middlebury or "
                   "ETH3D, at any depth");
  for (Option option : of_file) dataset.excludes(option);
  Option methods =
      command.list("--method", o->methods, "NAME[:SET,...]",
                   "Method, or FILE.json of a pipeline, with optional settings: sgm:optimisation.paths=8; opencv, or "
                   "one of its matchers such as opencv:3WAY; with the Python package also onnx:FILE or program:CMD; "
                   "several are compared; repeatable [sgm]");
  o->method.add_file_to(command, methods);
  o->rows.add_to(command, dataset);
  command.path("--html", o->html, "FILE.html",
               "Write a page with figures, medals, accuracy over time, the worst scenes and the settings that differ");
  o->device.add_to(command);
  for (const char* name : {"--html", "--method", "--pipeline", "--set", "--device", "--threads", "--implementation"})
    command.option(name).needs(dataset);
  command.footer(
      "Percentages are 0 to 100; invalid pixels count as errors. D1 is the percentage of pixels whose error exceeds "
      "both 3 px and 5 % of the disparity (KITTI 2015).");
  command.callback([o] { run(*o); });
}

}  // namespace stereopsis::command
