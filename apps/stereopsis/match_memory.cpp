// Memory that `match` needs in addition to the matching itself, computed from sizes only.
#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "core/memory_text.hpp"
#include "match.hpp"

namespace stereopsis::command::matching {
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

std::size_t MatchJob::frames_in_flight() const {
  return inputs.is_sequence() ? 2 * devices.size() + count_gpus(devices) : 1;
}

std::size_t MatchJob::memory_limit() const {
  return options.memory_limit.empty() ? host_memory_bytes() / 2 : to_bytes("--memory-limit", options.memory_limit);
}

std::size_t MatchJob::files_at_once() const {
  // Frames of a video are decoded and written in order. The other options judge or search each frame while it is read.
  const bool in_order = inputs.is_video() || sinks->has_videos() || options.strict || options.range.per_frame ||
                        cameras->rectifies_ahead();
  const std::size_t gpus = count_gpus(devices);
  if (in_order || gpus == 0 || !inputs.is_sequence()) return 1;
  std::size_t frames = std::clamp<std::size_t>(4 * gpus, 1, std::max(1U, std::thread::hardware_concurrency()));
  const auto is_too_much = [&] { return bytes_beside_matching(frames) > memory_limit() / 2; };
  while (frames > 1 && is_too_much()) frames /= 2;
  return frames;
}

std::size_t MatchJob::bytes_beside_matching(std::size_t frames_at_once) const {
  const Size images = inputs.image_size(), rectified = cameras->rectified_size();
  const AnyImageView view = first.left;
  const std::size_t sample = view.type == PixelType::u8 ? 1 : view.type == PixelType::u16 ? 2 : 4;
  const std::size_t pixel = static_cast<std::size_t>(view.channels) * sample,
                    results = rectified == Size{} ? pixels_of(images) : pixels_of(rectified);
  const std::size_t maps_bytes = 2 * 2 * sizeof(std::int32_t) * pixels_of(rectified);
  std::size_t frame = 2 * pixel * pixels_of(images) + 5 * results;  // disparity and validity
  if (inputs.has_mask_files()) frame += 2 * pixels_of(images);
  if (cameras->rectifies_ahead()) frame += 2 * (pixel + 1) * results;
  if (options.sinks.wants(ResultFile::right))
    frame += 2 * (pixel + 1) * results + 5 * results;  // the pair mirrored, and its result
  if (options.sinks.wants(ResultFile::confidence) || options.sinks.wants(ResultFile::cloud) || options.min_confidence)
    frame += 4 * results;
  if (options.sinks.wants_depth_map()) frame += 4 * results;
  if (options.sinks.wants(ResultFile::uncertainty)) frame += 4 * results;
  for_each_plain_map([&](std::size_t file, const Output&, auto) {
    if (options.sinks.wants(file)) frame += 4 * results;
  });
  if (options.sinks.wants(ResultFile::cloud)) frame += (12 + pixel) * results;
  const std::size_t registration = cameras->target() ? bytes_for_registration(size(), cameras->target()->size) : 0;
  // Besides the frames in flight, `frames_at_once` frames are read, and as many are written.
  return maps_bytes + registration + frame * (inputs.is_sequence() ? frames_in_flight() + 2 * frames_at_once : 1);
}

void MatchJob::bound_memory() const {
  const Size images = inputs.image_size(), rectified = cameras->rectified_size();
  const std::size_t needed = bytes_beside_matching(), limit = memory_limit();
  if (needed < limit) return;
  throw Error(ErrorCategory::memory,
              fmt::format("images of {}{} need {} of memory in addition to the matching, but {}; raise --memory-limit, "
                          "or use smaller images",
                          size_text(images),
                          rectified == Size{} ? ""
                                              : fmt::format(", rectified to {} with {},", size_text(rectified),
                                                            cameras->source().name()),
                          needed_memory(needed), limit_text()));
}

std::string MatchJob::limit_text() const {
  return fmt::format(
      "the memory limit is {} ({})", given_memory(memory_limit()),
      options.memory_limit.empty() ? "half of this machine's memory" : "--memory-limit " + options.memory_limit);
}

// The library knows the memory left for matching; this error adds the limit that the user gave.
void MatchJob::explain_limit(const Error& error) const {
  if (error.category() != ErrorCategory::memory || options.memory_limit.empty() || device.name != "cpu") throw error;
  throw Error(
      ErrorCategory::memory,
      fmt::format("{} (of --memory-limit {}, the images and results use {}{})", error.what(), options.memory_limit,
                  needed_memory(bytes_beside_matching()),
                  options.sinks.wants(ResultFile::right) ? "; the matching of each view gets half of the rest" : ""));
}

std::size_t MatchJob::memory_for_matching() const {
  // A GPU has memory of its own: without a limit, the library chooses one.
  if (device.name != "cpu") return options.memory_limit.empty() ? 0 : memory_limit();
  return memory_limit() - bytes_beside_matching();
}

}  // namespace stereopsis::command::matching
