// What a calibration adds to a run: the pair is rectified before the method, depth and points are made after it.
#pragma once

#include <cmath>
#include <type_traits>

#include "methods/views.hpp"
#include "stages/remap/remap.hpp"
#include "stages/triangulate/triangulate.hpp"
#include "stereopsis/matcher.hpp"

namespace stereopsis::geometry {

// The same memory as pixels.
template <class T>
ImageView<T> pixels_of(const ImageView<std::uint8_t>& bytes, int channels) {
  constexpr int size = sizeof(T);
  return {reinterpret_cast<T*>(bytes.data), bytes.width / (size * channels), bytes.height, channels,
          bytes.pitch / size};
}
template <class T>
gpu::View<T> pixels_of(const gpu::View<std::uint8_t>& bytes, int channels) {
  constexpr int size = sizeof(T);
  return {bytes.memory, bytes.offset / size, bytes.width / (size * channels), bytes.height,
          channels,     bytes.pitch / size};
}

// The part `shown` of both rectified views. `wanted` takes the left one's bytes; empty: it stays in the workspace.
template <class T, template <class> class View, class Backend>
Inputs<T, View> rectified(const Geometry& g, const Inputs<T, View>& in, const Rect& shown,
                          const View<std::uint8_t>& wanted, Backend& backend) {
  const Size size = shown.size();
  const int channels = in.left.channels;
  const auto maps = backend.maps(*g.rectification, shown);
  const View<T> left = wanted.width > 0 ? pixels_of<T>(wanted, channels) : backend.template image<T>(size, channels);
  const View<T> right = backend.template image<T>(size, channels);
  // Room for masks is there whether they are needed or not.
  const View<std::uint8_t> mask_left = backend.template image<std::uint8_t>(size);
  const View<std::uint8_t> mask_right = backend.template image<std::uint8_t>(size);
  const auto needed = [](const View<std::uint8_t>& mask, const View<const std::uint8_t>& given, bool complete) {
    return complete && given.empty() && !std::is_same_v<T, float> ? View<std::uint8_t>() : mask;
  };
  const View<std::uint8_t> usable_left = needed(mask_left, in.mask_left, g.rectification->left_complete);
  const View<std::uint8_t> usable_right = needed(mask_right, in.mask_right, g.rectification->right_complete);
  backend.stage("rectification", 2.0 * (9 + 2 * sizeof(T) * channels) * size.width * size.height, [&] {
    backend.remap(remap::InputOf<T, View>{in.left, in.mask_left, maps.left},
                  remap::OutputOf<T, View>{left, usable_left});
    backend.remap(remap::InputOf<T, View>{in.right, in.mask_right, maps.right},
                  remap::OutputOf<T, View>{right, usable_right});
  });
  return {left, right, usable_left, usable_right};
}

// Depth, points and uncertainty, those that are wanted, of the disparity of the part `shown` of the left view.
template <template <class> class View, class Backend>
void triangulated(const Geometry& g, Size input, const Rect& shown, const OutputsOf<View>& out, Backend& backend) {
  if (!g.want_depth && !g.want_points && !g.want_uncertainty) return;
  const View<const float> disparity = out.disparity;
  // Pixels of a reduced image are as many of the input wide and high.
  const int step = std::max(1, static_cast<int>(std::lround(static_cast<double>(input.width) / disparity.width)));
  const triangulate::Parameters p{*g.rig, g.frame, g.disparity_error, shown.x, shown.y, step};
  const double bytes = 4.0 * (1 + g.want_depth + 3 * g.want_points + g.want_uncertainty);
  backend.stage("depth and points", bytes * disparity.width * disparity.height, [&] {
    backend.triangulate(p, disparity, triangulate::OutputOf<View>{out.depth, out.points, out.uncertainty});
  });
}

}  // namespace stereopsis::geometry
