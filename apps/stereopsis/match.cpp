// stereopsis match LEFT RIGHT -o OUT: one pair, or a sequence of them.
//
// All that can be wrong with the call is refused before any matching. Of a sequence one frame is read, two are matched and
// one is written at a time.
#include "match.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "progress.hpp"

namespace stereopsis::command {
namespace matching {
namespace {

class Matching {
 public:
  explicit Matching(const Options& options) : call_(options) {}

  void run() {
    Problem problem = Problem::of(call_.first.pair(), call_.range);
    problem.region = call_.region;
    problem.want_right = call_.options.wants(Output::right);
    problem.want_confidence = call_.options.wants(Output::confidence) || call_.options.wants(Output::cloud);
    problem.geometry = call_.geometry();
    if (!call_.options.memory_limit.empty())
      problem.memory_limit = to_bytes("--memory-limit", call_.options.memory_limit);
    problem.want_times = call_.options.timings || !call_.options.report.empty();
    if (call_.left.sequence) problem.batch = 2;
    Slots slots;
    const Plan plan(call_.pipeline, problem, call_.device);
    if (call_.options.crop && plan.output_size() != call_.size)
      refuse(
          "--crop takes a region of the input, and this result has a reduced size; set reduce.upsample=true, or leave "
          "it out");
    Matcher matcher(plan);  // declared last: done before what it works on goes away
    match_all(matcher, slots);
    if (call_.options.timings) print_timings(call_, records_);
    if (!call_.options.report.empty()) write_json(call_.options.report, report(call_, records_, matcher.plan()));
    print_summary(call_, records_);
  }

 private:
  // A frame's way: read, in work, written. Two are in work at a time, so that the device never waits for the host.
  struct Slot {
    InputFrame frame;
    Matched result;
    Ticket ticket;
    Stopwatch since_enqueued;
    std::future<Written> writing;  // declared last: done before what it reads goes away
  };
  using Slots = std::array<Slot, 4>;  // one read, two in work, one written

  void match_all(Matcher& matcher, Slots& slots) {
    const std::size_t count = call_.left.size();
    records_.resize(count);
    for (Slot& slot : slots) slot.result = matcher.make_result();
    Progress progress(count, "frames");
    std::future<InputFrame> reading;
    for (std::size_t i = 0; i < count; ++i) {
      // Where reading is slow, the frame before is done first.
      if (i > done_ && reading.valid() && reading.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        finish_frame(matcher, slots, progress);
      Slot& slot = slots[i % slots.size()];
      slot.frame = i > 0 ? reading.get() : std::move(call_.first);
      if (i + 1 < count) reading = std::async(std::launch::async, [this, i] { return call_.read(i + 1); });
      check_alike(slot.frame, i);
      slot.since_enqueued = {};
      slot.ticket = matcher.enqueue(slot.frame.pair(), slot.result);
      if (i > done_) finish_frame(matcher, slots, progress);
    }
    while (done_ < count) finish_frame(matcher, slots, progress);
    records_[count - 1].written = slots[(count - 1) % slots.size()].writing.get();
  }

  void check_alike(const InputFrame& frame, std::size_t i) const {
    if (frame.left.size() != call_.given_size || kind_of(frame.left) != call_.kind)
      refuse(fmt::format("{} is {} {}, but the first frame is {} {}; all frames of a sequence must be alike",
                         call_.left.file(i).string(), size_text(frame.left.size()), kind_of(frame.left),
                         size_text(call_.given_size), call_.kind));
  }

  // Waits for the oldest frame in work, and has it written when the one before is.
  void finish_frame(Matcher& matcher, Slots& slots, Progress& progress) {
    const std::size_t i = done_++;
    Slot& slot = slots[i % slots.size()];
    matcher.wait(slot.ticket);
    // The time that the device had for it alone.
    const double ms = std::min(slot.since_enqueued.ms(), since_done_ ? since_done_->ms() : slot.since_enqueued.ms());
    since_done_ = Stopwatch();
    records_[i] = {slot.frame.ms, ms, {}, slot.result.times, densities(slot.result.validity)};
    if (i > 0) records_[i - 1].written = slots[(i - 1) % slots.size()].writing.get();
    slot.writing = std::async(std::launch::async,
                              [this, &slot, i] { return write(call_, slot.frame, slot.result, call_.files[i]); });
    progress.update(done_);
  }

  Call call_;
  FrameRecords records_;
  std::size_t done_ = 0;  // frames
  std::optional<Stopwatch> since_done_;
};

}  // namespace
}  // namespace matching

void add_match(CLI::App& application) {
  using namespace matching;
  Command command(application, "match", "Matches a rectified pair, or a sequence of pairs");
  const auto o = std::make_shared<Options>();
  command.path("LEFT", o->left, "", "Left image; a sequence as a pattern (left%03d.png) or a directory").required();
  command.path("RIGHT", o->right, "", "Right image, or as many of them").required();
  const auto add_output = [&](Output k) {
    const OutputKind& kind = output_kinds()[k];
    return command.path(k == Output::disparity ? "-o,--output" : kind.option, o->outputs[k], kind.placeholder,
                        kind.help);
  };
  add_output(Output::disparity).required();
  command.number("--scale", o->scale, 1e-6, 65535, "S", "8-bit output: stored value = disparity × S");

  command.group("Method");
  o->method.add_to(command);
  o->device.add_to(command);
  command.text("--memory-limit", o->memory_limit, "BYTES",
               "Of the workspace; K, M and G are understood [of a GPU 9/10 of its memory]");

  command.group("Range and region");
  command.integer("--disparities", o->disparities, 1, 65535, "N", "How many are searched [estimated]");
  command.integer("--min-disparity", o->min_disparity, -65535, 65535, "I", "The lowest, of any sign [0]");
  constexpr double huge = std::numeric_limits<double>::infinity();
  command.list("--calib", o->calibration, "FILE", "Calibration: Middlebury, KITTI, OpenCV, or ROS (one per camera)");
  command.number("--near", o->near, 0, huge, "Z", "Range from depths: the nearest, in the calibration's unit");
  command.number("--far", o->far, 0, huge, "Z", "The farthest [infinity]");
  command.flag("--raw", o->raw, "The pair is as the cameras give it: rectified by --calib, before matching");
  command.text("--roi", o->roi, "X,Y,W,H", "Only this region of the left image");
  command.flag("--crop", o->crop, "Write the region alone");
  command.path("--mask-left", o->mask_left, "FILE", "0 = not usable");
  command.path("--mask-right", o->mask_right, "FILE", "0 = not usable");

  command.group("More results");
  for (const Output k : {Output::right, Output::confidence, Output::validity_bits, Output::colour, Output::depth,
                         Output::uncertainty, Output::cloud})
    add_output(k);
  command.text("--frame", o->frame, "NAME", "Of the points: optical (x right, y down, z forward) or head [optical]");
  command.flag("--organised", o->organised, "A cloud with a point for every pixel, NaN where there is none");
  command.number("--disparity-error", o->disparity_error, 0, 1e6, "PX", "What --uncertainty is for [0.5]");
  command.flag("--timings", o->timings, "A line per stage");
  command.path("--report", o->report, "FILE.json", "Parameters, sizes, times and densities");
  command.footer("For a sequence OUT and the other results are patterns too, or directories that exist.");
  command.callback([o] { Matching(*o).run(); });
}

}  // namespace stereopsis::command
