// stereopsis match LEFT RIGHT -o OUT: one pair, or a sequence of them.
//
// All that can be wrong with the call is refused before any matching. Of a sequence one frame is read, two are matched and
// one is written at a time.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "commands.hpp"
#include "common.hpp"
#include "frames.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/matcher.hpp"
#include "stereopsis/pair_check.hpp"
#include "stereopsis/render.hpp"
#include "table.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

// What is written for a frame, in this order: the disparity last, so that where it is, all is.
enum Output : std::size_t {
  confidence,
  validity_bits,
  right,
  colour,
  depth,
  uncertainty,
  cloud,
  disparity,
  output_count
};

struct OutputKind {
  const char* option;
  const char* placeholder;
  const char* help;
  const char* extension;  // in a directory of results
  std::vector<const char*> extensions;
};

const std::array<OutputKind, output_count>& output_kinds() {
  static const std::array<OutputKind, output_count> kinds = {{
      {"--confidence",
       "FILE",
       "0 to 1 as .pfm .npy .tiff, or 0 to 255 as .png .pgm",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff", ".png", ".pgm"}},
      {"--validity", "FILE", "8-bit reasons: .png .pgm .npy .tiff", ".png", {".png", ".pgm", ".npy", ".tif", ".tiff"}},
      {"--right", "FILE", "Disparity of the right view, in the formats of OUT", ".pfm", {}},
      {"--color",
       "FILE",
       "Picture with a legend: .png .ppm .jpg .tiff",
       ".png",
       {".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}},
      {"--depth",
       "FILE",
       "In the calibration's unit as .pfm .npy .tiff, or mm as 16-bit .png",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff", ".png"}},
      {"--uncertainty",
       "FILE",
       "Of the depth, for --disparity-error: .pfm .npy .tiff",
       ".pfm",
       {".pfm", ".npy", ".tif", ".tiff"}},
      {"--cloud", "FILE", "Coloured points as .ply, in --frame", ".ply", {".ply"}},
      {"-o", "OUT", ".pfm .npy .tiff; .png (16-bit, ×256, 0 = invalid); 8-bit .png .pgm with --scale", ".pfm", {}},
  }};
  return kinds;
}

struct Options {
  fs::path left, right;
  std::array<fs::path, output_count> outputs;
  MethodOptions method;
  DeviceOptions device;
  std::optional<int> min_disparity, disparities;
  std::optional<double> scale, near, far, disparity_error;
  std::string memory_limit, roi, frame = "optical";
  bool crop = false, raw = false, timings = false, organised = false;
  fs::path mask_left, mask_right, report;
  std::vector<std::string> calibration;

  bool wants(Output output) const { return !outputs[output].empty(); }
  bool wants_depth() const { return wants(depth) || wants(cloud) || wants(uncertainty); }
};

struct Frame {
  AnyImage left, right;
  Image<std::uint8_t> mask_left, mask_right;
  double ms = 0;  // of reading

  StereoPair pair() const { return {left, right, mask_left, mask_right}; }
};

struct FrameRecord {
  double reading_ms = 0, matching_ms = 0, writing_ms = 0;
  std::vector<StageTime> stages;
  Densities density;
};

struct Written {
  double ms = 0;
  long long too_far = 0;  // pixels whose depth a 16-bit picture can't hold
};

std::string kind_of(const AnyImageView& image) {
  return fmt::format("{} {}", to_string(image.type), image.channels == 1 ? "grey" : "RGB");
}

class Job {
 public:
  explicit Job(const Options& options)
      : options_(options), pipeline_(options.method.pipeline()), device_(options.device.device()) {
    check_options();
    find_inputs();
    name_outputs();
    check_outputs({0, 1});
    first_ = read(0);
    given_size_ = first_.left.size();
    kind_ = kind_of(first_.left);
    choose_cameras();
    size_ = maps_ ? maps_->size() : given_size_;
    check_size_dependent_options();
    choose_range();
    check_outputs(range_);  // again, for its sign
  }

  void run() {
    Problem problem = Problem::of(first_.pair(), range_);
    problem.region = region_;
    problem.want_right = options_.wants(right);
    problem.want_confidence = options_.wants(confidence) || options_.wants(cloud);
    problem.geometry = geometry();
    if (!options_.memory_limit.empty()) problem.memory_limit = to_bytes("--memory-limit", options_.memory_limit);
    problem.want_times = options_.timings || !options_.report.empty();
    if (left_.sequence) problem.batch = 2;
    Slots slots;
    const Plan plan(pipeline_, problem, device_);
    if (options_.crop && plan.output_size() != size_)
      refuse(
          "--crop takes a region of the input, and this result has a reduced size; set reduce.upsample=true, or leave "
          "it out");
    Matcher matcher(plan);  // declared last: done before what it works on goes away
    match_all(matcher, slots);
    if (options_.timings) print_timings();
    if (!options_.report.empty()) write_json(options_.report, report(matcher.plan()));
    print_summary();
  }

 private:
  void check_options() {
    if (options_.outputs[disparity].empty()) refuse("-o has an empty name; name the file to write");
    if (options_.raw && options_.calibration.empty())
      refuse("--raw needs the calibration of the cameras; give it with --calib FILE");
    if (options_.wants_depth() && options_.calibration.empty())
      refuse("--depth, --uncertainty and --cloud need the calibration; give it with --calib FILE");
    if (options_.organised && !options_.wants(cloud)) refuse("--organised is of a cloud; give its file with --cloud");
    if (options_.disparity_error && !options_.wants(uncertainty))
      refuse("--disparity-error is for --uncertainty; give its file too");
    to_frame(options_.frame);
    if (options_.near && options_.calibration.empty())
      refuse("--near needs the calibration; give it with --calib FILE");
    if (options_.far && !options_.near) refuse("--far needs --near, the depth of the nearest point");
    if (options_.near && options_.disparities)
      refuse("--near and --disparities both give the range; leave one of them out");
    if (options_.min_disparity && !options_.disparities)
      refuse("--min-disparity needs --disparities, the number of disparities to search from there");
    if (options_.crop && options_.roi.empty()) refuse("--crop needs --roi, the region to keep");
    if (options_.calibration.size() > 2) refuse("--calib is given more than twice; a pair has two cameras");
    if (!options_.memory_limit.empty()) to_bytes("--memory-limit", options_.memory_limit);
    if (!options_.calibration.empty()) rig_ = options_.raw ? cameras(KittiPair::any, {1, 1}).rig : rig(KittiPair::any);
    if (extension_of(options_.outputs[depth]) == ".png" && rig_->unit != "mm" && rig_->unit != "m")
      refuse(fmt::format("--depth {} needs millimetres, but {} does not say its unit; use .pfm, .npy or .tiff",
                         options_.outputs[depth].string(), options_.calibration[0]));
  }

  Rig rig(KittiPair cameras) const {
    const std::vector<std::string>& files = options_.calibration;
    return read_rig(files[0], files.size() > 1 ? std::optional<fs::path>(files[1]) : std::nullopt, cameras);
  }

  // OpenCV's files may leave out the size, which is then the images'.
  StereoCalibration cameras(KittiPair pair, Size size) const {
    const std::vector<std::string>& files = options_.calibration;
    return read_calibration(files[0], files.size() > 1 ? std::optional<fs::path>(files[1]) : std::nullopt, pair, size);
  }

  // What `read` finds of the grey cameras or, where there is none, of the others.
  template <class F>
  static auto in_either(F&& read) {
    try {
      return read(KittiPair::grey);
    } catch (const Error&) {
      return read(KittiPair::any);
    }
  }

  // A KITTI file has rigs for grey and for colour images; of the other, where it has only that one.
  void choose_cameras() {
    if (!rig_) return;
    const bool grey = first_.left.channels() == 1;
    if (!options_.raw) {
      if (grey) rig_ = in_either([&](KittiPair pair) { return rig(pair); });
      return;
    }
    const auto read = [&](KittiPair pair) { return cameras(pair, given_size_); };
    const StereoCalibration calibration = grey ? in_either(read) : read(KittiPair::any);
    if (calibration.size != given_size_)
      refuse(fmt::format("{} is for images of {}, but {} is {}", options_.calibration[0], size_text(calibration.size),
                         left_.file(0).string(), size_text(given_size_)));
    rig_ = calibration.rig;
    maps_ = std::make_shared<const RectificationMaps>(rectification_maps(calibration));
  }

  Geometry geometry() const {
    return {.rectification = maps_,
            .want_rectified = maps_ && options_.wants(cloud),
            .rig = rig_,
            .want_depth = options_.wants(depth),
            .want_points = options_.wants(cloud),
            .want_uncertainty = options_.wants(uncertainty),
            .frame = to_frame(options_.frame),
            .disparity_error = options_.disparity_error.value_or(Geometry().disparity_error)};
  }

  void find_inputs() {
    left_ = find_frames(options_.left, "the left image");
    right_ = find_frames(options_.right, "the right image");
    check_counts(left_, options_.left, right_, options_.right);
    if (!options_.mask_left.empty()) mask_left_ = find_mask(options_.mask_left, "--mask-left");
    if (!options_.mask_right.empty()) mask_right_ = find_mask(options_.mask_right, "--mask-right");
  }

  // One mask for all frames, or one each.
  Frames find_mask(const fs::path& given, const std::string& option) {
    const Frames mask = find_frames(given, option);
    if (mask.sequence) check_counts(left_, options_.left, mask, given);
    return mask;
  }

  void name_outputs() {
    files_.resize(left_.size());
    std::map<fs::path, std::string> taken;
    for (const Frames* inputs : {&left_, &right_})
      for (const fs::path& file : inputs->files) taken.emplace(fs::weakly_canonical(file), "an input image");
    const auto take = [&](const fs::path& file, const std::string& what) {
      const auto [other, is_new] = taken.emplace(fs::weakly_canonical(file), what);
      if (!is_new) refuse(fmt::format("{} {} is {} already; give it another name", what, file.string(), other->second));
    };
    for (std::size_t k = 0; k < output_count; ++k)
      for (std::size_t i = 0; i < left_.size() && !options_.outputs[k].empty(); ++i) {
        files_[i][k] =
            output_file(options_.outputs[k], left_, i, output_kinds()[k].extension, output_kinds()[k].option);
        take(files_[i][k], output_kinds()[k].option);
      }
    if (!options_.report.empty()) take(options_.report, "--report");
  }

  Frame read(std::size_t i) const {
    const Stopwatch watch;
    Frame frame;
    frame.left = read_image(left_.file(i));
    frame.right = read_image(right_.file(i));
    require_size(left_.file(i), frame.left.size(), right_.file(i), frame.right.size());
    if (kind_of(frame.left) != kind_of(frame.right))
      refuse(fmt::format("{} is {} but {} is {}; both images of a pair must be of one kind", left_.file(i).string(),
                         kind_of(frame.left), right_.file(i).string(), kind_of(frame.right)));
    frame.mask_left = read_mask_of(mask_left_, frame, i);
    frame.mask_right = read_mask_of(mask_right_, frame, i);
    frame.ms = watch.ms();
    return frame;
  }

  Image<std::uint8_t> read_mask_of(const std::optional<Frames>& mask, const Frame& frame, std::size_t i) const {
    if (!mask) return {};
    Image<std::uint8_t> pixels = read_mask(mask->file(i));
    require_size(left_.file(i), frame.left.size(), mask->file(i), pixels.size());
    return pixels;
  }

  static void require_size(const fs::path& file, Size size, const fs::path& other, Size other_size) {
    if (size != other_size)
      refuse(fmt::format("{} is {} but {} is {}; they must have one size", file.string(), size_text(size),
                         other.string(), size_text(other_size)));
  }

  void check_size_dependent_options() {
    if (rig_ && rig_->size != Size{} && rig_->size != size_)
      refuse(fmt::format("{} is for images of {}, but {} is {}", options_.calibration[0], size_text(rig_->size),
                         left_.file(0).string(), size_text(size_)));
    if (options_.roi.empty()) return;
    std::vector<int> numbers;
    std::istringstream parts(options_.roi);
    for (std::string part; std::getline(parts, part, ',');)
      numbers.push_back(to_integer("--roi", part, 0, std::numeric_limits<int>::max()));
    if (numbers.size() != 4 || numbers[2] == 0 || numbers[3] == 0)
      refuse(fmt::format("--roi {} is not allowed; it must be X,Y,WIDTH,HEIGHT with a width and height of at least 1",
                         options_.roi));
    if (numbers[0] > size_.width - numbers[2] || numbers[1] > size_.height - numbers[3])
      refuse(fmt::format("--roi {} does not lie inside the image of {}; X + WIDTH may be {} and Y + HEIGHT {} at most",
                         options_.roi, size_text(size_), size_.width, size_.height));
    region_ = Rect{numbers[0], numbers[1], numbers[2], numbers[3]};
  }

  void choose_range() {
    if (options_.disparities) {
      range_ = {options_.min_disparity.value_or(0), *options_.disparities};
      return;
    }
    if (options_.near) {
      const double far = options_.far.value_or(std::numeric_limits<double>::infinity());
      range_ = rig_->range(*options_.near, far);
      fmt::print(stderr, "stereopsis: disparities {} for depths of {} to {} {}, from {}\n", range_text(range_),
                 *options_.near, far, rig_->unit.empty() ? "units" : rig_->unit, options_.calibration[0]);
      return;
    }
    range_ = estimated_range();
    const bool unsigned_file = holds_no_sign(disparity) || holds_no_sign(right);
    const bool raised = unsigned_file && range_.min < 0 && range_.max() > 0;
    if (raised) range_ = {0, range_.max() + 1};
    fmt::print(
        stderr, "stereopsis: disparities {}, estimated from the images{} (--min-disparity {} --disparities {})\n",
        range_text(range_), raised ? ", from 0 on as PNG and PGM hold no negative ones" : "", range_.min, range_.count);
  }

  DisparityRange estimated_range() const {
    if (!maps_) return estimate_range(first_.left, first_.right);
    return estimate_range(rectified(first_.left, maps_->left).image, rectified(first_.right, maps_->right).image);
  }

  bool holds_no_sign(Output output) const {
    const std::string extension = extension_of(options_.outputs[output]);
    return extension == ".png" || extension == ".pgm";
  }

  void check_outputs(DisparityRange range) const {
    for (const auto& files : files_)
      for (std::size_t k = 0; k < output_count; ++k) {
        if (files[k].empty()) continue;
        check_tiff(files[k]);
        if (k == disparity || k == right)
          check_writable_disparity(files[k], range, options_.scale.value_or(0));
        else
          check_output(files[k], output_kinds()[k].extensions, output_kinds()[k].option);
      }
    if (!options_.report.empty()) check_writable(options_.report);
  }

  // A frame's way: read, in work, written. Two are in work at a time, so that the device never waits for the host.
  struct Slot {
    Frame frame;
    Matched result;
    Ticket ticket;
    Stopwatch since_enqueued;
    std::future<Written> writing;  // declared last: done before what it reads goes away
  };
  using Slots = std::array<Slot, 4>;  // one read, two in work, one written

  void match_all(Matcher& matcher, Slots& slots) {
    const std::size_t count = left_.size();
    records_.resize(count);
    for (Slot& slot : slots) slot.result = matcher.make_result();
    Progress progress(count, "frames");
    std::future<Frame> reading;
    for (std::size_t i = 0; i < count; ++i) {
      // Where reading is slow, the frame before is done first.
      if (i > done_ && reading.valid() && reading.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        finish_frame(matcher, slots, progress);
      Slot& slot = slots[i % slots.size()];
      slot.frame = i > 0 ? reading.get() : std::move(first_);
      if (i + 1 < count) reading = std::async(std::launch::async, [this, i] { return read(i + 1); });
      check_alike(slot.frame, i);
      slot.since_enqueued = {};
      slot.ticket = matcher.enqueue(slot.frame.pair(), slot.result);
      if (i > done_) finish_frame(matcher, slots, progress);
    }
    while (done_ < count) finish_frame(matcher, slots, progress);
    record(count - 1, slots[(count - 1) % slots.size()].writing.get());
  }

  void check_alike(const Frame& frame, std::size_t i) const {
    if (frame.left.size() != given_size_ || kind_of(frame.left) != kind_)
      refuse(fmt::format("{} is {} {}, but the first frame is {} {}; all frames of a sequence must be alike",
                         left_.file(i).string(), size_text(frame.left.size()), kind_of(frame.left),
                         size_text(given_size_), kind_));
  }

  // Waits for the oldest frame in work, and has it written when the one before is.
  void finish_frame(Matcher& matcher, Slots& slots, Progress& progress) {
    const std::size_t i = done_++;
    Slot& slot = slots[i % slots.size()];
    matcher.wait(slot.ticket);
    // The time that the device had for it alone.
    const double ms = std::min(slot.since_enqueued.ms(), since_done_ ? since_done_->ms() : slot.since_enqueued.ms());
    since_done_ = Stopwatch();
    records_[i] = {slot.frame.ms, ms, 0, slot.result.times, densities(slot.result.validity)};
    if (i > 0) record(i - 1, slots[(i - 1) % slots.size()].writing.get());
    slot.writing =
        std::async(std::launch::async, [this, &slot, i] { return write(slot.frame, slot.result, files_[i]); });
    progress.update(done_);
  }

  void record(std::size_t i, const Written& written) {
    records_[i].writing_ms = written.ms;
    too_far_ += written.too_far;
  }

  template <class T>
  ImageView<const T> cropped(const Image<T>& image) const {
    return options_.crop ? image.view().crop(*region_) : image.view();
  }

  Written write(const Frame& frame, const Matched& result, const std::array<fs::path, output_count>& files) const {
    const Stopwatch watch;
    Written written;
    const double scale = options_.scale.value_or(0);
    if (options_.wants(confidence)) write_confidence(files[confidence], cropped(result.confidence));
    if (options_.wants(validity_bits)) write_image(files[validity_bits], cropped(result.validity));
    if (options_.wants(right)) write_disparity(files[right], cropped(result.right), scale);
    if (options_.wants(colour)) write_image(files[colour], picture(result.disparity));
    if (options_.wants_depth()) written.too_far = write_depth(frame, result, files);
    write_disparity(files[disparity], cropped(result.disparity), scale);
    written.ms = watch.ms();
    return written;
  }

  static void write_confidence(const fs::path& file, ImageView<const float> pixels) {
    const std::string extension = extension_of(file);
    if (extension == ".png" || extension == ".pgm")
      write_image(file, confidence_8_bits(pixels));
    else
      write_image(file, pixels);
  }

  // A sequence has one scale of colours for all frames.
  Image<std::uint8_t> picture(const Image<float>& pixels) const {
    const auto [low, high] = left_.sequence
                                 ? std::pair<double, double>(range_.min, std::max(range_.max(), range_.min + 1))
                                 : display_limits(cropped(pixels));
    return colour_disparity(cropped(pixels), low, high, true);
  }

  // The pixels that are too far for the file.
  long long write_depth(const Frame& frame, const Matched& result,
                        const std::array<fs::path, output_count>& files) const {
    long long too_far = 0;
    if (options_.wants(depth)) {
      if (extension_of(files[depth]) == ".png")
        write_image(files[depth], millimetres(cropped(result.depth), *rig_, too_far));
      else
        write_disparity(files[depth], cropped(result.depth));
    }
    if (options_.wants(uncertainty)) write_disparity(files[uncertainty], cropped(result.uncertainty));
    if (options_.wants(cloud)) {
      const Image<std::uint8_t> colours = to_8_bits(maps_ ? result.rectified.view() : frame.left.view());
      write_point_cloud(files[cloud], cropped(result.points), cropped(colours), cropped(result.confidence),
                        options_.organised);
    }
    return too_far;
  }

  double median_of(double FrameRecord::*field) const {
    std::vector<double> values;
    for (const FrameRecord& record : records_) values.push_back(record.*field);
    return median(values);
  }

  // The median over the frames of each stage.
  std::vector<StageTime> median_stages() const {
    std::vector<StageTime> stages = records_[0].stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      std::vector<double> ms;
      for (const FrameRecord& record : records_)
        if (s < record.stages.size()) ms.push_back(record.stages[s].ms);
      stages[s].ms = median(ms);
    }
    return stages;
  }

  void print_timings() const {
    Table table = stage_table(records_.size() > 1 ? "stage (median of the frames)" : "stage", median_stages(),
                              measure_roofs(device_));
    table.add({"matching, whole", cell(median_of(&FrameRecord::matching_ms), 3), "", "", ""});
    table.add({"reading files", cell(median_of(&FrameRecord::reading_ms), 3), "", "", ""});
    table.add({"writing files", cell(median_of(&FrameRecord::writing_ms), 3), "", "", ""});
    table.print();
  }

  void print_summary() const {
    if (too_far_ > 0)
      fmt::print(stderr,
                 "stereopsis: {} pixels are farther than 65.535 m and were written as 0 to --depth; .pfm holds them\n",
                 too_far_);
    double valid = 0;
    for (const FrameRecord& record : records_) valid += record.density.valid / static_cast<double>(records_.size());
    fmt::print("{}: {}{}, disparities {}, {} on {}, {:.1f} % valid, {:.1f} ms{}\n",
               options_.outputs[disparity].string(), left_.sequence ? fmt::format("{} frames of ", left_.size()) : "",
               size_text(size_), range_text(range_), pipeline_.method(), device_.name, valid,
               median_of(&FrameRecord::matching_ms), left_.sequence ? " a frame" : "");
  }

  Json report(const Plan& plan) const {
    Json frames = Json::array();
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const FrameRecord& r = records_[i];
      const Densities& d = r.density;
      Json outputs = Json::object();
      for (std::size_t k = 0; k < output_count; ++k)
        if (!files_[i][k].empty())
          outputs[k == disparity ? "disparity" : output_kinds()[k].option + 2] = files_[i][k].string();
      frames.push_back({{"left", left_.files[i].string()},
                        {"right", right_.files[i].string()},
                        {"outputs", outputs},
                        {"ms", {{"reading", r.reading_ms}, {"matching", r.matching_ms}, {"writing", r.writing_ms}}},
                        {"stages", stages_json(r.stages, {})},
                        {"density",
                         {{"before_fill", d.measured},
                          {"after_fill", d.valid},
                          {"reasons",
                           {{"no_candidate", d.no_candidate},
                            {"left_right", d.left_right},
                            {"ambiguous", d.ambiguous},
                            {"speckle", d.speckle},
                            {"masked", d.masked}}}}}});
    }
    const Problem& problem = plan.problem();
    return {{"version", STEREOPSIS_VERSION},
            {"method", pipeline_.method()},
            {"device", device_.name},
            {"threads", threads_of(device_)},
            {"parameters", parameters_json(pipeline_)},
            {"width", problem.size.width},
            {"height", problem.size.height},
            {"result_width", plan.output_size().width},
            {"result_height", plan.output_size().height},
            {"channels", problem.channels},
            {"bit_depth", problem.bit_depth},
            {"min_disparity", range_.min},
            {"disparities", range_.count},
            {"range_from", options_.disparities ? "call"
                           : options_.near      ? "calibration"
                                                : "estimate"},
            {"roi", region_ ? Json{region_->x, region_->y, region_->width, region_->height} : Json(nullptr)},
            {"workspace_bytes", plan.workspace_bytes()},
            {"frames", frames}};
  }

  const Options& options_;
  Pipeline pipeline_;
  Device device_;
  std::optional<Rig> rig_;
  std::shared_ptr<const RectificationMaps> maps_;  // of a raw pair
  Frames left_, right_;
  std::optional<Frames> mask_left_, mask_right_;
  std::vector<std::array<fs::path, output_count>> files_;  // a row per frame
  Frame first_;
  Size given_size_, size_;  // of the images, and of the results
  std::string kind_;
  DisparityRange range_;
  std::optional<Rect> region_;
  std::vector<FrameRecord> records_;
  std::size_t done_ = 0;  // frames
  std::optional<Stopwatch> since_done_;
  long long too_far_ = 0;
};

}  // namespace

void add_match(CLI::App& application) {
  auto* app = application.add_subcommand("match", "Matches a rectified pair, or a sequence of pairs");
  const auto o = std::make_shared<Options>();
  add_path(*app, "LEFT", o->left, "", "Left image; a sequence as a pattern (left%03d.png) or a directory")->required();
  add_path(*app, "RIGHT", o->right, "", "Right image, or as many of them")->required();
  const auto add_output = [&](Output k) {
    const OutputKind& kind = output_kinds()[k];
    return add_path(*app, k == disparity ? "-o,--output" : kind.option, o->outputs[k], kind.placeholder, kind.help);
  };
  add_output(disparity)->required();
  add_number(*app, "--scale", o->scale, 1e-6, 65535, "S", "8-bit output: stored value = disparity × S");

  app->option_defaults()->group("Method");
  o->method.add_to(*app);
  o->device.add_to(*app);
  add_text(*app, "--memory-limit", o->memory_limit, "BYTES", "Of the workspace; K, M and G are understood");

  app->option_defaults()->group("Range and region");
  add_integer(*app, "--disparities", o->disparities, 1, 65535, "N", "How many are searched [estimated]");
  add_integer(*app, "--min-disparity", o->min_disparity, -65535, 65535, "I", "The lowest, of any sign [0]");
  constexpr double huge = std::numeric_limits<double>::infinity();
  add_list(*app, "--calib", o->calibration, "FILE", "Calibration: Middlebury, KITTI, OpenCV, or ROS (one per camera)");
  add_number(*app, "--near", o->near, 0, huge, "Z", "Range from depths: the nearest, in the calibration's unit");
  add_number(*app, "--far", o->far, 0, huge, "Z", "The farthest [infinity]");
  app->add_flag("--raw", o->raw, "The pair is as the cameras give it: rectified by --calib, before matching");
  add_text(*app, "--roi", o->roi, "X,Y,W,H", "Only this region of the left image");
  app->add_flag("--crop", o->crop, "Write the region alone");
  add_path(*app, "--mask-left", o->mask_left, "FILE", "0 = not usable");
  add_path(*app, "--mask-right", o->mask_right, "FILE", "0 = not usable");

  app->option_defaults()->group("More results");
  for (const Output k : {right, confidence, validity_bits, colour, depth, uncertainty, cloud}) add_output(k);
  add_text(*app, "--frame", o->frame, "NAME", "Of the points: optical (x right, y down, z forward) or head [optical]");
  app->add_flag("--organised", o->organised, "A cloud with a point for every pixel, NaN where there is none");
  add_number(*app, "--disparity-error", o->disparity_error, 0, 1e6, "PX", "What --uncertainty is for [0.5]");
  app->add_flag("--timings", o->timings, "A line per stage");
  add_path(*app, "--report", o->report, "FILE.json", "Parameters, sizes, times and densities");
  app->footer("For a sequence OUT and the other results are patterns too, or directories that exist.");
  app->callback([o] { Job(*o).run(); });
}

}  // namespace stereopsis::command
