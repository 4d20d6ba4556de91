// RigTracker: the filter, the maps of each correction, and the order of the pairs.
#include "stereopsis/rig_tracking.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <numbers>

#include "core/refuse.hpp"
#include "core/text.hpp"
#include "geometry/rig_filter.hpp"
#include "geometry/rotations.hpp"

namespace stereopsis {
namespace {

using Maps = std::shared_ptr<const RectificationMaps>;

std::string angle_text(const RigTurn& turn) {
  const auto rounded = [](double v) { return text(std::round(v * 1e4) / 1e4, "°"); };
  return text("pitch ", rounded(turn.pitch), ", yaw ", rounded(turn.yaw), ", roll ", rounded(turn.roll));
}

}  // namespace

const char* to_string(RigNews::Kind kind) {
  constexpr std::array names = {"corrected", "jumped", "lost", "found", "unconfirmed"};
  return names[static_cast<std::size_t>(kind)];
}

std::string RigNews::sentence() const {
  switch (kind) {
    case Kind::corrected:
      return text("the right camera has turned and is corrected by ", angle_text(turn),
                  " (standard deviations: ", angle_text(deviation), ")");
    case Kind::jumped:
      return text("the rows have jumped, as if the right camera had turned by ", angle_text(turn),
                  "; until the next pairs confirm it, they are matched with the rig as it was");
    case Kind::lost:
      return text("the rig is lost: ", RigTracker::pairs_to_lose,
                  " pairs do not show how the cameras are turned, and the last correction is used; check the cameras");
    case Kind::found: return "the rig is found again";
    default:
      return text("the rows show a yaw of ", std::round(turn.yaw * 1e4) / 1e4,
                  "°, which is not corrected, because points would be behind infinity");
  }
}

StereoCalibration turned(const StereoCalibration& cameras, const RigTurn& by) {
  constexpr double degree = std::numbers::pi / 180;
  StereoCalibration c = cameras;
  const Matrix3 &before = cameras.right.rectification,
                turn = rotation_by({by.pitch * degree, by.yaw * degree, by.roll * degree});
  c.right.rectification = product(transposed(turn), before);
  const Matrix3 of_camera = product(transposed(before), product(turn, before));
  c.rotation = product(of_camera, cameras.rotation);
  c.translation = turned(of_camera, cameras.translation);
  return c;
}

struct RigTracker::State {
  // The correction of the pairs from `first` on.
  struct Step {
    std::size_t first;
    RigTurn turn;
    std::shared_future<Maps> maps;
  };

  explicit State(const StereoCalibration& cameras_) : cameras(cameras_), filter(cameras_.rig) {
    std::promise<Maps> maps;
    maps.set_value(unmoved);
    steps.push_back({0, {}, maps.get_future().share()});
  }

  const Step& step_of(std::size_t pair) const {
    const auto step = std::find_if(steps.rbegin(), steps.rend(), [pair](const Step& s) { return s.first <= pair; });
    if (step == steps.rend())
      refuse(text("the maps of pair ", pair,
                  " are requested after those of later pairs were used; request the maps of a "
                  "pair before its rows are added"));
    return *step;
  }
  // Gives the filter the pairs that are there, in their order.
  void go_on() {
    for (auto next = waiting.begin(); next != waiting.end() && next->first == done; next = waiting.erase(next)) {
      while (steps.size() > 1 && steps[1].first <= done) steps.pop_front();
      for (const RigNews& one : filter.next(next->second, steps.front().turn)) {
        news.push_back(one);
        if (one.kind == RigNews::Kind::corrected) correct();
      }
      ++done;
    }
    changed.notify_all();
  }
  void correct() {
    const RigTurn turn = filter.turn();
    const auto make = [this, turn]() -> Maps {
      return std::make_shared<const RectificationMaps>(with_turned_right(*unmoved, turned(cameras, turn)));
    };
    steps.push_back({done + delay, turn, std::async(std::launch::async, make).share()});
  }

  const StereoCalibration cameras;
  const Maps unmoved = std::make_shared<const RectificationMaps>(rectification_maps(cameras));
  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  RigFilter filter;
  std::map<std::size_t, std::optional<RowMeasurement>> waiting;  // pairs whose predecessors are not there yet
  std::size_t done = 0;                                          // pairs that the filter has
  std::vector<RigNews> news;
  std::deque<Step> steps;  // declared last, because their threads read the cameras
};

RigTracker::RigTracker(const StereoCalibration& cameras) : state_(std::make_unique<State>(cameras)) {}
RigTracker::~RigTracker() = default;

std::shared_ptr<const RectificationMaps> RigTracker::maps_for(std::size_t pair) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->done + delay > pair; });
  const std::shared_future<Maps> maps = state_->step_of(pair).maps;
  lock.unlock();
  return maps.get();
}

void RigTracker::add(std::size_t pair, std::optional<RowMeasurement> rows) {
  const std::lock_guard lock(state_->mutex);
  if (pair < state_->done || !state_->waiting.emplace(pair, std::move(rows)).second)
    refuse(text("the rows of pair ", pair, " are added twice; add each pair once"));
  state_->go_on();
}

std::size_t RigTracker::pairs() const {
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

std::vector<RigNews> RigTracker::news() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->news, {});
}

RigTurn RigTracker::turn() const {
  const std::lock_guard lock(state_->mutex);
  return state_->filter.turn();
}

StereoCalibration RigTracker::calibration() const { return turned(state_->cameras, turn()); }

}  // namespace stereopsis
