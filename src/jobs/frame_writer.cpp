#include "jobs/frame_writer.hpp"

#include <algorithm>
#include <tuple>

#include "jobs/folders.hpp"
#include "jobs/pixels.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/point_cloud_files.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;

void write_confidence(const fs::path& file, ImageView<const float> pixels) {
  const std::string extension = extension_of(file);
  if (extension == ".png" || extension == ".pgm")
    write_image(file, confidence_8_bits(pixels));
  else
    write_image(file, pixels);
}

// Returns the depths at two disparities. The far end is at most six times the near one, because far points would leave
// no colours for the others.
std::pair<double, double> depth_limits(const Rig& rig, std::pair<double, double> disparities) {
  const double doffs = rig.cx_right - rig.cx_left, largest = std::max(disparities.second + doffs, 1.0);
  return {rig.focal * rig.baseline / largest,
          rig.focal * rig.baseline / std::max(disparities.first + doffs, largest / 6)};
}

void write_picture(VideoFile* video, const fs::path& file, const Image<std::uint8_t>& picture) {
  if (video != nullptr)
    video->append(picture);
  else
    write_image(file, picture);
}

}  // namespace

// Returns the disparities at the ends of the colours if all pictures share them.
std::optional<std::pair<double, double>> FrameWriter::shared_limits() const {
  if (settings_.pictures.limits) return settings_.pictures.limits;
  if (!settings_.pictures.shared.value_or(in_sequence_)) return std::nullopt;
  return std::pair<double, double>(facts_.range.min, std::max(facts_.range.max(), facts_.range.min + 1));
}

Coloring FrameWriter::coloring(const Matched& result) const {
  Coloring made{.map = settings_.pictures.map, .legend = settings_.pictures.legend};
  if (settings_.pictures.show_filled) made.validity = cropped(result.validity);
  return made;
}

Image<std::uint8_t> FrameWriter::disparity_picture(const Matched& result) const {
  Coloring how = coloring(result);
  std::tie(how.low, how.high) = shared_limits().value_or(display_limits(cropped(result.disparity)));
  return colour_values(cropped(result.disparity), how);
}

Image<std::uint8_t> FrameWriter::depth_picture(const Matched& result, ImageView<const float> depth) const {
  Coloring how = coloring(result);
  if (facts_.registered) how.validity = {};  // seen by another camera
  how.near_is_low = true;
  how.unit = facts_.rig->unit;
  const auto shared = shared_limits();
  if (const auto& given = settings_.pictures.depth_limits)
    std::tie(how.low, how.high) = std::pair{given->first.in(how.unit), given->second.in(how.unit)};
  else
    std::tie(how.low, how.high) = shared ? depth_limits(*facts_.rig, *shared) : display_limits(depth, 1e-6);
  return colour_values(depth, how);
}

long long FrameWriter::write_depth(const Matched& result, const ResultFiles& files) const {
  long long too_far = 0;
  const Image<float> registered = facts_.registered ? facts_.registered(result.depth) : Image<float>();
  const ImageView<const float> depth = facts_.registered ? registered.view() : cropped(result.depth);
  if (settings_.wants(ResultFile::depth_picture))
    write_picture(depth_, files[ResultFile::depth_picture], depth_picture(result, depth));
  if (extension_of(files[ResultFile::depth]) == ".png")
    write_image(files[ResultFile::depth], millimetres(depth, *facts_.rig, too_far));
  else if (settings_.wants(ResultFile::depth))
    write_disparity(files[ResultFile::depth], depth);
  return too_far;
}

void FrameWriter::write_cloud(const InputFrame& frame, const Matched& result, const fs::path& file) const {
  const Image<std::uint8_t> colours =
      to_8_bits(result.rectified.view().empty() ? frame.left.view() : result.rectified.view());
  const ImageView<const float> points = cropped(result.points);
  write_point_cloud(file, point_cloud(points, cropped(colours), cropped(result.confidence), {}, settings_.organised),
                    settings_.organised ? points.size() : Size{});
}

void FrameWriter::write_volumes(const Matched& result) const {
  for_each_output([&](std::size_t row, auto field) {
    for (const SavedVolume& volume : settings_.volumes)
      if constexpr (requires { write_volume(volume.file, field(result)); })
        if (volume.output == &output_table[row]) write_volume(volume.file, field(result));
  });
}

long long FrameWriter::write_upright(const InputFrame& frame, const FrameResult& result,
                                     const ResultFiles& files) const {
  const double scale = settings_.scale.value_or(0);
  const Matched& left = result.left;
  if (settings_.wants(ResultFile::confidence))
    write_confidence(files[ResultFile::confidence], cropped(left.confidence));
  if (settings_.wants(ResultFile::validity_bits)) write_image(files[ResultFile::validity_bits], cropped(left.validity));
  if (settings_.wants(ResultFile::validity_picture))
    write_image(files[ResultFile::validity_picture], colour_validity(cropped(left.validity), true));
  if (settings_.wants(ResultFile::right)) {
    const Image<float> as_seen = mirrored(result.right.disparity.view());
    write_disparity(files[ResultFile::right], cropped(as_seen), scale);
  }
  if (settings_.wants(ResultFile::colour)) write_picture(color_, files[ResultFile::colour], disparity_picture(left));
  const long long too_far = settings_.wants_depth_map() ? write_depth(left, files) : 0;
  if (settings_.wants(ResultFile::uncertainty))
    write_disparity(files[ResultFile::uncertainty], cropped(left.uncertainty));
  if (settings_.wants(ResultFile::cloud)) write_cloud(frame, left, files[ResultFile::cloud]);
  for_each_plain_map([&](std::size_t file, const Output&, auto field) {
    if (settings_.wants(file)) write_image(files[file], cropped(field(left)));
  });
  write_volumes(left);
  if (settings_.wants(ResultFile::disparity))
    write_disparity(files[ResultFile::disparity], cropped(left.disparity), scale);
  return too_far;
}

long long FrameWriter::write(const InputFrame& frame, const FrameResult& result, const ResultFiles& files) const {
  if (!settings_.vertical) return write_upright(frame, result, files);
  InputFrame upright;
  upright.left = transposed(frame.left);
  upright.range = frame.range;
  FrameResult turned;
  turned.left = transposed(result.left, settings_.point_frame);
  return write_upright(upright, turned, files);
}

}  // namespace stereopsis::jobs
