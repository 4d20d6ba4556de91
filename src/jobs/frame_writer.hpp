// Writes the results of one frame.
#pragma once

#include "jobs/sinks.hpp"
#include "stereopsis/render.hpp"

namespace stereopsis::jobs {

class FrameWriter {
 public:
  // `color` and `depth` are the videos of the pictures; null if the pictures are files. All arguments must outlive the
  // object.
  FrameWriter(const SinkSettings& settings, const ResultFacts& facts, bool in_sequence, VideoFile* color,
              VideoFile* depth)
      : settings_(settings), facts_(facts), in_sequence_(in_sequence), color_(color), depth_(depth) {}

  // Returns the number of pixels that are too far for a 16-bit depth file.
  long long write(const InputFrame& frame, const FrameResult& result, const ResultFiles& files) const;

 private:
  template <class T>
  ImageView<const T> cropped(const Image<T>& image) const {
    return settings_.crop ? image.view().crop(*facts_.region) : image.view();
  }
  std::optional<std::pair<double, double>> shared_limits() const;
  Coloring coloring(const Matched& result) const;
  Image<std::uint8_t> disparity_picture(const Matched& result) const;
  Image<std::uint8_t> depth_picture(const Matched& result, ImageView<const float> depth) const;
  long long write_depth(const Matched& result, const ResultFiles& files) const;
  void write_cloud(const InputFrame& frame, const Matched& result, const std::filesystem::path& file) const;
  void write_volumes(const Matched& result) const;
  long long write_upright(const InputFrame& frame, const FrameResult& result, const ResultFiles& files) const;

  const SinkSettings& settings_;
  const ResultFacts& facts_;
  const bool in_sequence_;
  VideoFile* const color_;
  VideoFile* const depth_;
};

}  // namespace stereopsis::jobs
