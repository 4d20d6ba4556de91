// What `match` writes of a frame.
#include "match.hpp"
#include "stereopsis/render.hpp"

namespace stereopsis::command::matching {
namespace {

template <class T>
ImageView<const T> cropped(const Call& call, const Image<T>& image) {
  return call.options.crop ? image.view().crop(*call.region) : image.view();
}

void write_confidence(const fs::path& file, ImageView<const float> pixels) {
  const std::string extension = extension_of(file);
  if (extension == ".png" || extension == ".pgm")
    write_image(file, confidence_8_bits(pixels));
  else
    write_image(file, pixels);
}

// A sequence has one scale of colours for all frames.
Image<std::uint8_t> picture(const Call& call, const Image<float>& pixels) {
  const auto [low, high] =
      call.left.sequence ? std::pair<double, double>(call.range.min, std::max(call.range.max(), call.range.min + 1))
                         : display_limits(cropped(call, pixels));
  return colour_disparity(cropped(call, pixels), low, high, true);
}

// The pixels that are too far for the file.
long long write_depth(const Call& call, const InputFrame& frame, const Matched& result, const OutputFiles& files) {
  long long too_far = 0;
  if (call.options.wants(Output::depth)) {
    if (extension_of(files[Output::depth]) == ".png")
      write_image(files[Output::depth], millimetres(cropped(call, result.depth), *call.rig, too_far));
    else
      write_disparity(files[Output::depth], cropped(call, result.depth));
  }
  if (call.options.wants(Output::uncertainty))
    write_disparity(files[Output::uncertainty], cropped(call, result.uncertainty));
  if (call.options.wants(Output::cloud)) {
    const Image<std::uint8_t> colours = to_8_bits(call.maps ? result.rectified.view() : frame.left.view());
    write_point_cloud(files[Output::cloud], cropped(call, result.points), cropped(call, colours),
                      cropped(call, result.confidence), call.options.organised);
  }
  return too_far;
}

}  // namespace

Written write(const Call& call, const InputFrame& frame, const Matched& result, const OutputFiles& files) {
  const Stopwatch watch;
  Written written;
  const double scale = call.options.scale.value_or(0);
  if (call.options.wants(Output::confidence))
    write_confidence(files[Output::confidence], cropped(call, result.confidence));
  if (call.options.wants(Output::validity_bits))
    write_image(files[Output::validity_bits], cropped(call, result.validity));
  if (call.options.wants(Output::right)) write_disparity(files[Output::right], cropped(call, result.right), scale);
  if (call.options.wants(Output::colour)) write_image(files[Output::colour], picture(call, result.disparity));
  if (call.options.wants_depth()) written.too_far = write_depth(call, frame, result, files);
  write_disparity(files[Output::disparity], cropped(call, result.disparity), scale);
  written.ms = watch.ms();
  return written;
}

}  // namespace stereopsis::command::matching
