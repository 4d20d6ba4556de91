#include "adversary/reference.hpp"

#include "methods/cpu_backend.hpp"
#include "methods/pipeline_data.hpp"

namespace stereopsis::adversary {
namespace {

Rect scaled(const Rect& r, int factor) {
  const auto up = [&](int at) { return (at + factor - 1) / factor; };
  const int x = r.x / factor, y = r.y / factor;
  return {x, y, up(r.x + r.width) - x, up(r.y + r.height) - y};
}

// An image of `outside` with the region of `part`, which shows `shown`.
template <class T>
Image<T> placed(const Image<T>& part, const Rect& shown, const Rect& region, Size size, T outside) {
  if (part.empty()) return {};
  Image<T> whole(size, part.channels(), outside);
  for (int y = 0; y < region.height; ++y)
    std::copy_n(part.row(region.y - shown.y + y) + (region.x - shown.x) * part.channels(),
                region.width * part.channels(), whole.row(region.y + y) + region.x * part.channels());
  return whole;
}

Matched made_for(const Problem& p, Size result, Size rectified) {
  const Geometry& g = p.geometry;
  Matched m;
  m.disparity = Image<float>(result);
  m.validity = Image<std::uint8_t>(result);
  if (p.want_right) m.right = Image<float>(result);
  if (p.want_confidence) m.confidence = Image<float>(result);
  if (g.want_depth) m.depth = Image<float>(result);
  if (g.want_points) m.points = Image<float>(result, 3);
  if (g.want_uncertainty) m.uncertainty = Image<float>(result);
  if (!g.want_rectified) return m;
  if (p.pixel_type == PixelType::u8) m.rectified = Image<std::uint8_t>(rectified, p.channels);
  if (p.pixel_type == PixelType::u16) m.rectified = AnyImage(Image<std::uint16_t>(rectified, p.channels), p.bit_depth);
  if (p.pixel_type == PixelType::f32) m.rectified = Image<float>(rectified, p.channels);
  return m;
}

Outputs views_of(Matched& m) {
  ImageView<std::uint8_t> rectified;
  std::visit(
      [&]<class T>(Image<T>& pixels) {
        const ImageView<T> v = pixels;
        if (v.empty()) return;
        constexpr int bytes = sizeof(T);
        rectified = {reinterpret_cast<std::uint8_t*>(v.data), bytes * v.width * v.channels, v.height, 1,
                     bytes * v.pitch};
      },
      m.rectified.pixels);
  return {.disparity = m.disparity,
          .validity = m.validity,
          .right = m.right,
          .confidence = m.confidence,
          .depth = m.depth,
          .points = m.points,
          .uncertainty = m.uncertainty,
          .rectified = rectified};
}

}  // namespace

Matched reference(const Pipeline& pipeline, const Problem& problem, const StereoPair& pair) {
  const PipelineData& data = pipeline.data();
  const Rect shown = required_input(data, problem);
  StereoPair seen = pair;
  if (problem.region && !problem.geometry.rectification) {
    seen = {pair.left.crop(shown), pair.right.crop(shown), pair.mask_left, pair.mask_right};
    for (auto* mask : {&seen.mask_left, &seen.mask_right})
      if (!mask->empty()) *mask = mask->crop(shown);
  }
  Matched part = made_for(problem, output_size(data, shown.size()), shown.size());
  OracleBackend counting{Workspace()};
  run(data, problem, seen, views_of(part), counting);
  std::vector<std::byte> memory(counting.bytes() + 64);
  const std::size_t unaligned = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
  OracleBackend backend(Workspace({memory.data() + (64 - unaligned) % 64, counting.bytes()}));
  run(data, problem, seen, views_of(part), backend);
  if (!problem.region) return part;

  const reduce::Parameters reduction = reduction_of(data);
  const int factor = reduction.upsample ? 1 : reduction.factor;
  const Rect there = scaled(shown, factor), region = scaled(*problem.region, factor);
  const auto whole = [&]<class T>(const Image<T>& from, T outside) {
    return placed(from, there, region, output_size(data, problem.rectified_size()), outside);
  };
  Matched result;
  result.disparity = whole(part.disparity, invalid_disparity);
  result.validity = whole(part.validity, validity::outside);
  result.right = whole(part.right, invalid_disparity);
  result.confidence = whole(part.confidence, 0.0f);
  result.depth = whole(part.depth, invalid_disparity);
  result.points = whole(part.points, invalid_disparity);
  result.uncertainty = whole(part.uncertainty, invalid_disparity);
  std::visit(
      [&]<class T>(const Image<T>& from) {
        result.rectified.pixels = placed(from, shown, *problem.region, problem.rectified_size(), T{0});
      },
      part.rectified.pixels);
  return result;
}

}  // namespace stereopsis::adversary
