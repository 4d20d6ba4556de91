#include <cmath>
#include <optional>

#include "stages/pyramid/pyramid.hpp"

namespace stereopsis::pyramid {
namespace {

class Pixel {
 public:
  Pixel(const Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
        const Input<ImageView>& in, int x, int y)
      : p_(p), window_(window), select_(select), in_(in), x_(x), y_(y) {}

  struct Result {
    float disparity = invalid_disparity;
    std::uint8_t validity = 0;
    float confidence = 0;
  };

  Result refine() const {
    if (!in_.mask_reference.empty() && in_.mask_reference(x_, y_) == 0) return {.validity = validity::masked};
    const float above = in_.guess.clamped(x_ / 2, y_ / 2);
    if (std::isnan(above)) return {.validity = validity::no_candidate};
    const int guess = std::clamp(2 * static_cast<int>(above), in_.range.min, in_.range.max());
    const int first = guess - (p_.range - 1) / 2, last = guess + p_.range / 2;

    std::optional<int> best, second;
    for (int d = first; d <= last; ++d)
      if (is_candidate(d) && (!best || sum(d) < sum(*best))) best = d;
    if (!best) return {.validity = validity::no_candidate};
    for (int d = first; d <= last; ++d)
      if (is_candidate(d) && d != *best && (!second || sum(d) < sum(*second))) second = d;
    float confidence = 0;
    if (second) {
      confidence = wta::confidence_of(sum(*best), sum(*second));
      const long long slope = 256ll * (sum(*second) - sum(*best));
      const long long least = static_cast<long long>(p_.keep_256()) * window_.area() * std::abs(*second - *best);
      if (slope < least && is_candidate(guess)) best = guess;
    }
    return {static_cast<float>(*best) + offset(*best), 0, confidence};
  }

 private:
  int sum(int d) const {
    int sum = 0;
    for (int dy = -window_.radius_y(); dy <= window_.radius_y(); ++dy)
      for (int dx = -window_.radius_x(); dx <= window_.radius_x(); ++dx) {
        const int x = std::clamp(x_ + dx, 0, in_.reference.width - 1),
                  y = std::clamp(y_ + dy, 0, in_.reference.height - 1);
        sum += cost::Colours{}(in_.reference(x, y), in_.other.clamped(x + in_.direction * d, y));
      }
    return sum;
  }

  bool is_candidate(int d) const {
    if (d < in_.range.min || d > in_.range.max()) return false;
    const int x = x_ + in_.direction * d;
    if (!select_.border_candidates && (x < 0 || x >= in_.other.width)) return false;
    return in_.mask_other.empty() || in_.mask_other.clamped(x, y_) != 0;
  }

  float offset(int d) const {
    if (!is_candidate(d - 1) || !is_candidate(d + 1)) return 0;
    const int before = sum(d - 1), here = sum(d), behind = sum(d + 1);
    if (here > before || here > behind) return 0;  // a guess that was kept need not be a minimum
    return wta::subpixel_offset(select_.subpixel, before, here, behind);
  }

  const Parameters& p_;
  const window_sad::Window& window_;
  const wta::Parameters& select_;
  const Input<ImageView>& in_;
  const int x_, y_;
};

}  // namespace

void oracle(const Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
            const Input<ImageView>& in, const Output<ImageView>& out) {
  for (int y = 0; y < in.reference.height; ++y)
    for (int x = 0; x < in.reference.width; ++x) {
      const auto result = Pixel(p, window, select, in, x, y).refine();
      out.disparity(x, y) = result.disparity;
      if (!out.validity.empty()) out.validity(x, y) = result.validity;
      if (!out.confidence.empty()) out.confidence(x, y) = result.confidence;
    }
}

}  // namespace stereopsis::pyramid
