#include "jobs/seed_source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/rotations.hpp"
#include "jobs/texts.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/seed_files.hpp"
#include "stereopsis/seeds.hpp"
#include "stereopsis/triangulation.hpp"

namespace stereopsis::jobs {

namespace fs = std::filesystem;
using sources::refuse;

void FrameBefore::keep(std::size_t number, const Matched& result) {
  number_ = number;
  disparity_ = Image<float>(result.disparity.view());
  for (int y = 0; y < disparity_.height(); ++y)
    for (float* d = disparity_.row(y); d != disparity_.row(y) + disparity_.width(); ++d)
      if (!std::isfinite(*d)) *d = std::nanf("");
}

SeedSource::SeedSource(const SeedSettings& settings, const Inputs& inputs, bool vertical, const SettingNames& names)
    : settings_(settings), inputs_(inputs), names_(names) {
  check_settings(vertical);
  seeds_ = inputs.find_beside(settings.seeds, "seeds");
  trust_ = inputs.find_beside(settings.trust, "seed_trust");
  depth_ = inputs.find_beside(settings.depth, "seed_depth");
  points_ = inputs.find_beside(settings.points, "seed_points");
  find_flow();
  if (settings.poses.empty()) return;
  poses_ = read_poses(settings.poses);
  if (poses_.size() != inputs.left().size())
    refuse(fmt::format("{} has {} poses, and there are {} frames; give one line for each frame",
                       settings.poses.string(), poses_.size(), inputs.left().size()));
}

// The flow from a frame to the next one has the name or the number of the frame.
void SeedSource::find_flow() {
  if (settings_.flow.empty()) return;
  const std::string setting = names_.spelled("seed_flow");
  flow_ = sources::partners_of(inputs_.left(), sources::find_frames(settings_.flow, setting));
  for (std::size_t i = 0; i + 1 < flow_.size(); ++i)
    if (flow_[i].empty())
      refuse(fmt::format("{} has no flow from {} to the frame after it; give one file for each frame but the last",
                         setting, inputs_.left().name(i)));
}

void SeedSource::check_settings(bool vertical) const {
  const auto spelled = [&](const char* setting) { return names_.spelled(setting); };
  const auto needs = [&](bool given, const char* setting, bool other, const char* needed) {
    if (given && !other) refuse(fmt::format("{} requires {}; add it", spelled(setting), spelled(needed)));
  };
  const bool has_depth = !settings_.depth.empty(), has_points = !settings_.points.empty();
  const bool has_maps = !settings_.seeds.empty() || has_depth;
  needs(!settings_.trust.empty(), "seed_trust", has_maps, "seeds");
  needs(!settings_.pose.empty(), "seed_pose", has_points, "seed_points");
  needs(!settings_.poses.empty(), "seed_poses", settings_.previous, "seed_previous");
  needs(!settings_.flow.empty(), "seed_flow", settings_.previous, "seed_previous");
  if (!settings_.flow.empty() && !settings_.poses.empty())
    refuse(fmt::format("{} and {} both say how the frame before has moved; leave one of them out", spelled("seed_flow"),
                       spelled("seed_poses")));
  const auto both = [&](const char* one, const char* other) {
    refuse(fmt::format("{} and {} both give the seeds; leave one of them out", spelled(one), spelled(other)));
  };
  if (!settings_.seeds.empty() && has_depth) both("seeds", "seed_depth");
  if (has_maps && has_points) both(has_depth ? "seed_depth" : "seeds", "seed_points");
  if (settings_.previous && !inputs_.is_sequence())
    refuse(fmt::format("{0} applies to sequences; leave {0} out", spelled("seed_previous")));
  if (gives_any() && vertical)
    refuse("seeds are disparities along rows, which cameras above each other do not have; leave them out");
}

void SeedSource::add_to(CallFiles& files) const {
  const auto add = [&](const std::optional<sources::Frames>& frames, const char* setting) {
    if (frames) files.reads(*frames, names_.spelled(setting));
  };
  add(seeds_, "seeds"), add(trust_, "seed_trust"), add(depth_, "seed_depth"), add(points_, "seed_points");
  for (const fs::path& file : flow_) files.reads(file, names_.spelled("seed_flow"));
  files.reads(settings_.pose, names_.spelled("seed_pose"));
  files.reads(settings_.poses, names_.spelled("seed_poses"));
}

void SeedSource::add_files_of(std::size_t i, std::vector<fs::path>& files) const {
  for (const auto* frames : {&seeds_, &trust_, &depth_, &points_})
    if (*frames) files.push_back((*frames)->file(i));
}

void SeedSource::read_pose_for(const Cameras& cameras) {
  for (const auto& [given, setting] : {std::pair{!settings_.points.empty(), "seed_points"},
                                       {!settings_.depth.empty(), "seed_depth"},
                                       {!settings_.poses.empty(), "seed_poses"}})
    if (given && !cameras.rig())
      refuse(fmt::format("{} requires the calibration of the cameras; give it with {}", names_.spelled(setting),
                         names_.spelled("calib")));
  const KittiPair pair = inputs_.format().channels == 1 ? KittiPair::grey_first : KittiPair::any;
  if (!settings_.pose.empty()) pose_ = read_pose(settings_.pose, pair);
  if (const auto& raw = cameras.raw_cameras()) pose_ = after({raw->left.rectification, {}}, pose_);
}

void SeedSource::read(InputFrame& frame, std::size_t i, const Cameras& cameras) const {
  const Size size = cameras.matched_size();
  const auto of_size = [&](const fs::path& file, Image<float> map) {
    if (map.size() == size) return map;
    refuse(fmt::format("{} is {} but {} is {} when it is matched; both must have the same size", file.string(),
                       size_text(map.size()), inputs_.left().name(i), size_text(size)));
  };
  if (seeds_) frame.seeds = of_size(seeds_->file(i), read_disparity(seeds_->file(i)));
  if (trust_) frame.seed_trust = of_size(trust_->file(i), read_confidence(trust_->file(i)));
  if (depth_)
    frame.seeds = disparity_of_depth(of_size(depth_->file(i), read_disparity(depth_->file(i))), *cameras.rig());
  if (points_) frame.seeds = seeds_of_points(read_points(points_->file(i)), pose_, *cameras.rig(), size);
}

// Returns what the frame before gives to frame i.
std::optional<Image<float>> SeedSource::moved(std::size_t i, const Cameras& cameras) const {
  if (!before_.is_there()) return {};
  const std::size_t before = before_.number();
  if (!poses_.empty())
    return moved_disparities(before_.disparity(), *cameras.rig(), after(poses_[i].inverse(), poses_[before]));
  if (before + 1 != i) return {};  // a frame between them has no result
  if (!flow_.empty()) return moved_disparities(before_.disparity(), read_flow(flow_[before]));
  return Image<float>(before_.disparity().view());
}

void SeedSource::follow(InputFrame& frame, std::size_t i, const Cameras& cameras) const {
  if (!settings_.previous) return;
  const Size size = cameras.matched_size();
  auto of_before = moved(i, cameras);
  frame.seeds = of_before ? std::move(*of_before) : Image<float>(size, 1, std::nanf(""));
  frame.seed_trust = Image<float>(size, 1, trust_of_frame_before);
}

}  // namespace stereopsis::jobs
