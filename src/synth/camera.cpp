#include "synth/camera.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synth/response.hpp"
#include "synth/rows.hpp"

namespace stereopsis::synth {
namespace {

template <class F>
void replace(Picture& picture, F&& colour_at) {
  Picture result(picture.size);
  for_rows(picture.size.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < picture.size.width; ++x) result(x, y) = colour_at(x, y);
  });
  std::swap(picture, result);
}

// Convolves horizontally (`level`) or vertically, with weights for offsets from −radius to radius.
void convolve(Picture& picture, const std::vector<double>& weights, bool level) {
  const int radius = static_cast<int>(weights.size()) / 2;
  replace(picture, [&](int x, int y) {
    Colour sum;
    for (int i = -radius; i <= radius; ++i)
      sum += weights[i + radius] * (level ? picture.clamped(x + i, y) : picture.clamped(x, y + i));
    return sum;
  });
}

void normalise(std::vector<double>& weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
}

void gaussian_blur(Picture& picture, double sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> weights;
  for (int i = -radius; i <= radius; ++i) weights.push_back(exponential(-.5 * i * i / (sigma * sigma)));
  normalise(weights);
  for (const bool level : {true, false}) convolve(picture, weights, level);
}

void motion_blur(Picture& picture, double length) {
  const int radius = static_cast<int>(std::ceil(.5 * length));
  std::vector<double> weights;  // fraction of each pixel that the line covers
  for (int i = -radius; i <= radius; ++i)
    weights.push_back(std::clamp(.5 * (length + 1) - std::abs(i), 0.0, std::min(1.0, length)));
  weights[radius] = std::max(weights[radius], 1 - length);
  normalise(weights);
  convolve(picture, weights, true);
}

// Each pixel gathers the pixels whose discs cover it. Farther pixels do not bleed over the edges of nearer ones.
void defocus(Picture& picture, const Lens& lens, ImageView<const float> disparity) {
  constexpr double most = 6;
  const auto radius_of = [&](float d) { return std::min(lens.defocus * std::abs(d - lens.focused), most); };
  float low = disparity(0, 0), high = low;
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      low = std::min(low, disparity(x, y)), high = std::max(high, disparity(x, y));
  const int reach = static_cast<int>(std::ceil(std::max(radius_of(low), radius_of(high))));
  replace(picture, [&](int x, int y) {
    const float here = disparity(x, y);
    const double own = radius_of(here);
    Colour sum;
    double total = 0;
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        const float there = disparity.clamped(x + i, y + j);
        const double radius = there < here ? std::min(radius_of(there), own) : radius_of(there);
        const double covered = std::clamp(radius + .5 - std::sqrt(static_cast<double>(i * i + j * j)), 0.0, 1.0);
        const double weight = covered / (.25 + radius * radius);
        sum += weight * picture.clamped(x + i, y + j);
        total += weight;
      }
    return (1 / total) * sum;  // the total is not 0, because the disc of the pixel itself covers it
  });
}

void sharpen(Picture& picture, double share) {
  Picture soft = picture;
  gaussian_blur(soft, 1);
  replace(picture, [&](int x, int y) { return picture(x, y) + share * (picture(x, y) - soft(x, y)); });
}

}  // namespace

const Colour& Picture::clamped(int x, int y) const {
  x = std::clamp(x, 0, size.width - 1), y = std::clamp(y, 0, size.height - 1);
  return colours[static_cast<std::size_t>(y) * size.width + x];
}

void add(const Flare& flare, int x0, int y0, Picture& picture) {
  if (flare.strength == 0) return;
  struct Ghost {
    double place, radius;  // distance from the centre, relative to that of the source; radius in image widths
    Colour tint;
  };
  constexpr Ghost ghosts[] = {
      {-.3, .02, {.5, .9, .6}}, {-.55, .05, {.9, .6, .4}}, {-1.1, .09, {.4, .5, .9}}, {.45, .03, {.8, .8, .4}}};
  const double cx = .5 * (flare.size.width - 1), cy = .5 * (flare.size.height - 1), width = flare.size.width;
  const auto distance = [&](double px, double py, double x, double y) {
    return std::sqrt((px - x) * (px - x) + (py - y) * (py - y)) / width;
  };
  replace(picture, [&](int x, int y) {
    const double far = distance(x0 + x, y0 + y, flare.x, flare.y) / .1, veil = .6 / (1 + far * far);
    Colour light = Colour{veil, .97 * veil, .9 * veil};
    for (const Ghost& g : ghosts) {
      const double away = distance(x0 + x, y0 + y, cx + g.place * (flare.x - cx), cy + g.place * (flare.y - cy));
      light += (.12 * std::clamp((g.radius - away) / (.2 * g.radius), 0.0, 1.0)) * g.tint;
    }
    return picture(x, y) + flare.strength * light;
  });
}

void apply(const Lens& lens, ImageView<const float> disparity, Picture& picture) {
  if (lens.defocus > 0) defocus(picture, lens, disparity);
  if (lens.motion > 0) motion_blur(picture, lens.motion);
  if (lens.blur > 0) gaussian_blur(picture, lens.blur);
  if (lens.sharpening > 0) sharpen(picture, lens.sharpening);
}

}  // namespace stereopsis::synth
