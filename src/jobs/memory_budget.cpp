#include "jobs/memory_budget.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "core/memory_text.hpp"
#include "jobs/neighbours.hpp"
#include "jobs/texts.hpp"
#include "stereopsis/resources.hpp"

namespace stereopsis::jobs {
namespace {

std::size_t pixels_of(Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

std::size_t count_gpus(const std::vector<Device>& devices) {
  return static_cast<std::size_t>(std::ranges::count_if(devices, [](const Device& d) { return d.name != "cpu"; }));
}

std::size_t bytes_for_registration(Size depth, Size target) {
  constexpr std::size_t of_left = 72, of_target = 24;  // bytes per pixel
  return of_left * pixels_of(depth) + of_target * pixels_of(target);
}

}  // namespace

MemoryBudget::MemoryBudget(const MemoryLimit& limit, const Inputs& inputs, const Cameras& cameras,
                           const SinkSettings& sinks, bool wants_confidence, const std::vector<Device>& devices,
                           const SettingNames& names)
    : limit_(limit),
      inputs_(inputs),
      cameras_(cameras),
      sinks_(sinks),
      wants_confidence_(wants_confidence),
      devices_(devices),
      names_(names) {}

std::size_t MemoryBudget::limit() const { return limit_.bytes.value_or(host_memory_bytes() / 2); }

std::size_t MemoryBudget::frames_in_flight() const {
  return inputs_.is_sequence() ? 2 * devices_.size() + count_gpus(devices_) : 1;
}

std::size_t MemoryBudget::files_at_once(bool in_order) const {
  const std::size_t gpus = count_gpus(devices_);
  if (in_order || gpus == 0 || !inputs_.is_sequence()) return 1;
  // A GPU matches more frames than 4 threads decode and align, so half of the cores read.
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::size_t frames = std::min({std::max(4 * gpus, cores / 2), 16 * gpus, cores});
  while (frames > 1 && bytes_beside_matching(frames) > limit() / 2) frames /= 2;
  return frames;
}

std::size_t MemoryBudget::bytes_of_frame() const {
  const std::size_t pixel = inputs_.format().bytes_per_pixel(), images = pixels_of(inputs_.image_size()),
                    results = pixels_of(cameras_.matched_size());
  const std::size_t pair = 2 * (pixel + 1) * results;    // with masks
  std::size_t bytes = 2 * pixel * images + 5 * results;  // disparity and validity
  if (inputs_.has_mask_files()) bytes += 2 * images;
  if (cameras_.rectifies_ahead()) bytes += pair;
  if (sinks_.wants(right)) bytes += pair + 5 * results;  // the pair mirrored, and its result
  if (wants_confidence_ || sinks_.wants(confidence) || sinks_.wants(cloud)) bytes += 4 * results;
  if (sinks_.wants_depth_map()) bytes += 4 * results;
  if (sinks_.wants(uncertainty)) bytes += 4 * results;
  for_each_plain_map([&](std::size_t file, const Output&, auto) {
    if (sinks_.wants(file)) bytes += 4 * results;
  });
  if (sinks_.wants(cloud)) bytes += (12 + pixel) * results;
  return bytes;
}

// Besides the frames in flight, `files_at_once` frames are read, and as many are written; others are kept for their
// neighbours.
std::size_t MemoryBudget::bytes_beside_matching(std::size_t files_at_once) const {
  const std::size_t maps = 2 * 2 * sizeof(std::int32_t) * pixels_of(cameras_.rectified_size());
  const auto& target = cameras_.target();
  const std::size_t registration = target ? bytes_for_registration(cameras_.matched_size(), target->size) : 0;
  const std::size_t frames = inputs_.is_sequence() ? frames_in_flight() + 2 * files_at_once + Neighbours::most_kept : 1;
  return maps + registration + bytes_of_frame() * frames;
}

void MemoryBudget::check() const {
  const std::size_t needed = bytes_beside_matching();
  if (needed < limit()) return;
  const Size rectified = cameras_.rectified_size();
  throw Error(
      ErrorCategory::memory,
      fmt::format(
          "images of {}{} need {} of memory in addition to the matching, but the memory limit is {} ({}); raise "
          "{}, or use smaller images",
          size_text(inputs_.image_size()),
          rectified == Size{}
              ? ""
              : fmt::format(", rectified to {} with {},", size_text(rectified), cameras_.source().name()),
          needed_memory(needed), given_memory(limit()),
          limit_.bytes ? names_.spelled("memory_limit") + " " + limit_.text : "half of this machine's memory",
          names_.spelled("memory_limit")));
}

void MemoryBudget::explain(const Error& error) const {
  if (error.category() != ErrorCategory::memory || !limit_.bytes || !on_cpu()) throw error;
  throw Error(ErrorCategory::memory,
              fmt::format("{} (of {} {}, the images and results use {}{})", error.what(),
                          names_.spelled("memory_limit"), limit_.text, needed_memory(bytes_beside_matching()),
                          sinks_.wants(ResultFile::right) ? "; the matching of each view gets half of the rest" : ""));
}

std::size_t MemoryBudget::for_matching() const {
  if (!on_cpu()) return limit_.bytes.value_or(0);
  return limit() - bytes_beside_matching();
}

}  // namespace stereopsis::jobs
