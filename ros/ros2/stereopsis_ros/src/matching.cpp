#include "matching.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "stereopsis/calibration.hpp"
#include "stereopsis/rig_refinement.hpp"

namespace stereopsis_ros {
namespace {

using namespace stereopsis;

constexpr int black_of_jpeg = 2;  // black becomes noise of this size in JPEG images
constexpr int least_bits = 12;    // 16-bit images with fewer bits are noted

int largest_of(const AnyImageView& image) {
  int largest = 0;
  const auto pixels = image.as<std::uint16_t>();
  for (int y = 0; y < pixels.height; ++y)
    largest = std::max<int>(largest, *std::max_element(pixels.row(y), pixels.row(y) + pixels.width * pixels.channels));
  return largest;
}

std::string text_of(const RowEstimate& rows) {
  if (!rows.alignment) return rows.sentence();
  char text[80];
  std::snprintf(text, sizeof text, "rows aligned: %.2f px, roll %.2f px", rows.alignment->rms(), rows.alignment->roll);
  const RowField& field = rows.alignment->field;
  if (field.empty()) return text;
  return text + (", field of " + std::to_string(field.columns) + "×" + std::to_string(field.rows) + " knots");
}

}  // namespace

Matching::Matching(const StartSettings& start, LiveSettings live, const Publishers& publishers, Notes& notes,
                   std::function<void(Stamp, double)> on_done)
    : start_(start),
      publishers_(publishers),
      notes_(notes),
      on_done_(std::move(on_done)),
      live_(std::make_shared<const LiveSettings>(std::move(live))),
      run_(RunSettings(), *this),
      thread_([this] { work(); }) {}

Matching::~Matching() {
  queue_.clear();
  queue_.close();
  thread_.join();
  try {
    write_rig();
  } catch (const std::exception& error) {
    notes_.log(error.what());
  }
}

void Matching::change(LiveSettings live) {
  const std::lock_guard lock(mutex_);
  live_ = std::make_shared<const LiveSettings>(std::move(live));
}

std::string Matching::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

std::optional<RunPair> Matching::take() {
  while (auto pair = queue_.take()) {
    Kind kind{.cameras = pair->cameras, .is_lossy = pair->images[0].is_lossy, .wanted = publishers_.wanted()};
    if (!kind.wanted.any()) continue;
    {
      const std::lock_guard lock(mutex_);
      kind.live = live_;
    }
    if (kind != kind_) {
      run_.change(settings_of(kind));
      kind_ = kind;
      note_contrast(*pair);
    }
    const auto job = std::make_shared<const Job>(Job{std::move(*pair), std::move(kind)});
    const auto& [left, right] = job->pair.images;
    StereoPair images{.left = left.pixels, .right = right.pixels, .format = left.format};
    if (job->pair.seeds) images.seeds = *job->pair.seeds;
    images.mask_left = start_.masks[0].view(), images.mask_right = start_.masks[1].view();
    return RunPair{.images = images, .owner = job, .stamp = stamp_of(job->pair.header)};
  }
  return {};
}

// Returns the tracker of a rig that moves, as long as the cameras stay the same; null if it does not move.
std::shared_ptr<RigTracker> Matching::tracker_of(const std::shared_ptr<const Cameras>& cameras) {
  if (start_.track_rig.empty() || tracked_ == cameras) return tracker_;
  write_rig();
  Rig rig = cameras->rig;
  rig.size = cameras->size;
  tracked_ = cameras;
  return tracker_ =
             std::make_shared<RigTracker>(cameras->calibration ? *cameras->calibration : stereopsis::cameras_of(rig));
}

void Matching::write_rig() const {
  if (tracker_) write_calibration(start_.track_rig, tracker_->calibration());
}

RunSettings Matching::settings_of(const Kind& kind) {
  const auto& [live, cameras, is_lossy, wanted] = kind;
  RunSettings made{.pipeline = live->pipeline, .devices = {{start_.device, start_.threads}}};
  made.range = live->range ? live->range : estimated_;
  made.aligns_rows = start_.estimates_rows, made.seeds_previous = start_.seeds_previous;
  if (start_.seeds != "none") made.pipeline.set("seeds.stage", std::string_view("seeds"));
  Problem& problem = made.problem;
  problem.want_confidence = wanted.confidence;
  problem.row_alignment = start_.rows;
  problem.constant = {.mask_black = true, .black = is_lossy ? black_of_jpeg : 0, .mark_flat = true};
  if (!cameras) return made;
  Geometry& geometry = problem.geometry;
  geometry.rig = cameras->rig, geometry.rectification = cameras->maps;
  geometry.want_depth = wanted.depth || wanted.registered, geometry.want_points = wanted.points;
  made.tracker = tracker_of(cameras);
  geometry.want_rectified = wanted.points && cameras->maps;
  geometry.fill_depth = live->fills_depth;
  return made;
}

// Notes 16-bit images of which few bits are used, such as the 10 bits of many cameras: they are matched nearly black.
void Matching::note_contrast(const StampedPair& pair) {
  if (pair.images[0].pixels.type != PixelType::u16) return;
  const int largest = std::max(largest_of(pair.images[0].pixels), largest_of(pair.images[1].pixels));
  if (largest < 1 << least_bits)
    notes_.note("low contrast",
                "no pixel of the pair at " + shown(stamp_of(pair.header)) + " exceeds " + std::to_string(largest) +
                    " of 65535; shift the images to the left by " +
                    std::to_string(16 - std::max(9, static_cast<int>(std::bit_width(static_cast<unsigned>(largest))))) +
                    " bits");
}

void Matching::work() {
  for (RunResult done;;) try {
      if (!run_.next(done)) return;
      finish(done);
    } catch (const std::exception& error) {
      ++failed_;
      notes_.note("pairs that cannot be matched", std::string("a pair cannot be matched: ") + error.what());
    }
}

void Matching::finish(RunResult& done) {
  const auto begin = std::chrono::steady_clock::now();
  const auto job = std::static_pointer_cast<const Job>(done.pair.owner);
  const Kind& kind = job->kind;
  if (!kind.live->range) estimated_ = done.range;
  if (tracker_)
    for (const RigNews& news : tracker_->news())
      notes_.log("at " + shown(done.pair.stamp) + ", pair " + std::to_string(news.pair) + ": " + news.sentence());
  if (done.fault)
    notes_.note(std::string("pair: ") + to_string(done.fault->kind),
                "at " + shown(done.pair.stamp) + ", " + done.fault->sentence);
  if (const auto shutters = run_.shutters()) notes_.note("shutters out of step", shutters->sentence());
  publishers_.send(job->pair.header, done, *kind.live, kind.wanted, kind.cameras.get());
  if (done.rows) {
    const std::lock_guard lock(mutex_);
    rows_ = text_of(*done.rows);
  }
  const std::chrono::duration<double> sending = std::chrono::steady_clock::now() - begin;
  on_done_(done.pair.stamp, done.matching_ms / 1000 + sending.count());
}

}  // namespace stereopsis_ros
