#include "stages/remap/remap.hpp"

#include <cmath>

namespace stereopsis::remap {
namespace {

constexpr int one = 1 << fraction_bits;

// Interpolates between two values. The weight is in units of 1/256.
std::uint32_t between(std::uint32_t first, std::uint32_t second, int weight) {
  return static_cast<std::uint32_t>(one - weight) * first + static_cast<std::uint32_t>(weight) * second;
}
float between(float first, float second, int weight) {
  const float share = static_cast<float>(weight) / one;
  return (1.0f - share) * first + share * second;
}

template <class T>
T rounded(std::uint32_t sum) {
  return static_cast<T>((sum + (1u << 15)) >> 16);
}

// The output pixel for one position.
template <class T>
class Sample {
 public:
  Sample(const InputOf<T, ImageView>& in, std::int32_t x, std::int32_t y)
      : in_(in),
        x_(x >> fraction_bits),
        y_(y >> fraction_bits),
        a_(x & (one - 1)),
        b_(y & (one - 1)),
        x_next_(x_ + (a_ > 0)),
        y_next_(y_ + (b_ > 0)) {}

  bool has_source() const {
    if (x_ < 0 || y_ < 0 || x_next_ >= in_.image.width || y_next_ >= in_.image.height) return false;
    if (in_.mask.empty()) return true;
    return in_.mask(x_, y_) && in_.mask(x_next_, y_) && in_.mask(x_, y_next_) && in_.mask(x_next_, y_next_);
  }
  T value(int c) const {
    using Number = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
    const auto at = [&](int x, int y) { return static_cast<Number>(in_.image(x, y, c)); };
    const Number upper = between(at(x_, y_), at(x_next_, y_), a_);
    const Number lower = between(at(x_, y_next_), at(x_next_, y_next_), a_);
    if constexpr (std::is_same_v<T, float>)
      return between(upper, lower, b_);
    else
      return rounded<T>(between(upper, lower, b_));
  }

 private:
  const InputOf<T, ImageView>& in_;
  int x_, y_, a_, b_, x_next_, y_next_;
};

}  // namespace

template <class T>
void oracle(const InputOf<T, ImageView>& in, const OutputOf<T, ImageView>& out) {
  check(in, out);
  for (int y = 0; y < out.image.height; ++y)
    for (int x = 0; x < out.image.width; ++x) {
      const Sample<T> sample(in, in.map(x, y, 0), in.map(x, y, 1));
      bool usable = sample.has_source();
      for (int c = 0; c < in.image.channels && usable; ++c) {
        out.image(x, y, c) = sample.value(c);
        if constexpr (std::is_same_v<T, float>) usable = std::isfinite(out.image(x, y, c));
      }
      for (int c = 0; c < in.image.channels && !usable; ++c) out.image(x, y, c) = 0;
      if (!out.usable.empty()) out.usable(x, y) = usable ? 255 : 0;
    }
}

template void oracle(const InputOf<std::uint8_t, ImageView>&, const OutputOf<std::uint8_t, ImageView>&);
template void oracle(const InputOf<std::uint16_t, ImageView>&, const OutputOf<std::uint16_t, ImageView>&);
template void oracle(const InputOf<float, ImageView>&, const OutputOf<float, ImageView>&);

}  // namespace stereopsis::remap
