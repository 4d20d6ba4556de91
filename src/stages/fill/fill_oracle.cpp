#include <cmath>
#include <optional>
#include <vector>

#include "stages/fill/fill.hpp"

namespace stereopsis::fill {
namespace {

struct Step {
  int x, y;
};
constexpr Step left{-1, 0}, right{1, 0}, up{0, -1}, down{0, 1};

bool inside(Size size, int x, int y) { return x >= 0 && y >= 0 && x < size.width && y < size.height; }

struct Met {
  float disparity;
  int distance;
};

// Returns the first valid pixel in a direction from (x, y).
std::optional<Met> look(ImageView<const float> disparity, int x, int y, Step step) {
  for (int n = 1; inside(disparity.size(), x + n * step.x, y + n * step.y); ++n) {
    const float d = disparity(x + n * step.x, y + n * step.y);
    if (!std::isnan(d)) return Met{d, n};
  }
  return {};
}

std::optional<float> in_row(ImageView<const float> disparity, int x, int y) {
  if (!std::isnan(disparity(x, y))) return disparity(x, y);
  const auto a = look(disparity, x, y, left), b = look(disparity, x, y, right);
  if (a && b) return std::min(a->disparity, b->disparity);
  if (a) return a->disparity;
  if (b) return b->disparity;
  return {};
}

std::optional<float> background(ImageView<const float> disparity, int x, int y) {
  for (int row = y; row >= 0; --row)
    if (const auto d = in_row(disparity, x, row)) return d;
  for (int row = y + 1; row < disparity.height; ++row)
    if (const auto d = in_row(disparity, x, row)) return d;
  return {};
}

std::optional<float> nearest(ImageView<const float> disparity, int x, int y) {
  std::optional<Met> best;
  for (const Step step : {left, right, up, down}) {
    const auto met = look(disparity, x, y, step);
    if (met && (!best || met->distance < best->distance)) best = met;
  }
  if (best) return best->disparity;
  return {};
}

std::optional<float> second_lowest(ImageView<const float> disparity, int x, int y) {
  std::vector<float> met;
  for (const Step step : {left, right, up, down})
    if (const auto m = look(disparity, x, y, step)) met.push_back(m->disparity);
  if (met.empty()) return {};
  std::sort(met.begin(), met.end());
  return met[std::min<std::size_t>(1, met.size() - 1)];
}

std::optional<float> cross(const Parameters& p, ImageView<const float> disparity, int x, int y) {
  std::optional<Met> best;
  for (const Step step : {left, right, up, down}) {
    const auto met = look(disparity, x, y, step);
    if (met && met->distance <= p.distance && (!best || met->distance < best->distance)) best = met;
  }
  if (best) return best->disparity;
  return {};
}

std::optional<float> box(const Parameters& p, ImageView<const float> disparity, int x, int y) {
  std::vector<float> valid;
  const int radius = p.window / 2;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx)
      if (inside(disparity.size(), x + dx, y + dy) && !std::isnan(disparity(x + dx, y + dy)))
        valid.push_back(disparity(x + dx, y + dy));
  if (valid.empty()) return {};
  std::sort(valid.begin(), valid.end());
  return valid[(valid.size() - 1) / 2];
}

bool to_be_filled(ImageView<const float> disparity, ImageView<const std::uint8_t> validity, int x, int y) {
  return std::isnan(disparity(x, y)) && (validity(x, y) & (validity::masked | validity::outside)) == 0;
}

bool meets_right_view(ImageView<const float> right_view, int x, int y) {
  for (int x_right = 0; x_right < right_view.width; ++x_right) {
    const double d = std::floor(right_view(x_right, y) + 0.5f);
    if (std::abs(d - (x - x_right)) <= 1) return true;
  }
  return false;
}

// Returns an image that is 1 for occluded pixels among the pixels that must be filled.
Image<std::uint8_t> find_occluded(const Input& input, ImageView<const std::uint8_t> validity) {
  Image<std::uint8_t> occluded(input.disparity.size(), 1, 0);
  std::vector<Step> front;
  for (int y = 0; y < occluded.height(); ++y)
    for (int x = 0; x < occluded.width(); ++x)
      if (to_be_filled(input.disparity, validity, x, y) && !meets_right_view(input.right, x, y)) {
        occluded(x, y) = 1;
        front.push_back({x, y});
      }
  while (!front.empty()) {
    const Step at = front.back();
    front.pop_back();
    for (const Step step : {left, right, up, down}) {
      const int x = at.x + step.x, y = at.y + step.y;
      if (!inside(occluded.size(), x, y) || occluded(x, y) || !to_be_filled(input.disparity, validity, x, y)) continue;
      occluded(x, y) = 1;
      front.push_back({x, y});
    }
  }
  return occluded;
}

std::optional<float> hirschmueller(ImageView<const float> disparity, int x, int y, bool occluded) {
  std::vector<float> met;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0)
        if (const auto m = look(disparity, x, y, {dx, dy})) met.push_back(m->disparity);
  if (met.empty()) return {};
  std::sort(met.begin(), met.end());
  return met[occluded ? std::min<std::size_t>(1, met.size() - 1) : (met.size() - 1) / 2];
}

}  // namespace

void oracle(const Parameters& p, const Input& input, ImageView<float> filled, ImageView<std::uint8_t> validity) {
  check(p);
  check_images(p, input, filled);
  const ImageView<const float> disparity = input.disparity;
  const auto occluded = p.mode == Mode::hirschmueller ? find_occluded(input, validity) : Image<std::uint8_t>();
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      filled(x, y) = disparity(x, y);
      if (!to_be_filled(disparity, validity, x, y)) continue;
      std::optional<float> value;
      if (p.mode == Mode::nearest) value = nearest(disparity, x, y);
      if (p.mode == Mode::second_lowest) value = second_lowest(disparity, x, y);
      if (p.mode == Mode::hirschmueller) value = hirschmueller(disparity, x, y, occluded(x, y) != 0);
      if (p.mode == Mode::cross)
        value = cross(p, disparity, x, y);
      else if (p.mode == Mode::box)
        value = box(p, disparity, x, y);
      else if (!value)
        value = background(disparity, x, y);
      if (!value) continue;
      filled(x, y) = *value + 0.0f;  // −0 becomes +0
      validity(x, y) = static_cast<std::uint8_t>((validity(x, y) & ~validity::reasons) | validity::filled);
    }
}

}  // namespace stereopsis::fill
