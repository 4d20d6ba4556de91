#include <algorithm>
#include <cstdlib>

#include "stages/learned_confidence/learned_confidence.hpp"

namespace stereopsis::learned_confidence {
namespace {

int limited(int v) { return std::clamp(v, 0, 127); }

// The evidence of the pixels of a pair, as learned_confidence.hpp defines it.
class Evidence {
 public:
  explicit Evidence(const Input& in) : in_(in), size_(in.disparity.size()) {}

  void at(int x, int y, std::array<int, evidence_channels>& e) const {
    e.fill(0);
    const int q = q_at(x, y), d = whole(q);
    if (q == nothing) return;
    e[0] = in_.validity(x, y) == 0 ? 127 : 0;
    const auto near = agreement(x, y, 1, 2, 16), far = agreement(x, y, 4, 3, 24);
    e[1] = near[0], e[2] = near[1], e[3] = far[0], e[4] = far[1];
    const int own = difference(x, y, d);
    e[5] = limited(own >> 2);
    e[6] = 5 * differing_order(x, y, d);
    e[7] = limited(64 + ((std::min(difference(x, y, d + 2), difference(x, y, d - 2)) - own) >> 2));
    e[8] = limited(64 + ((std::min(difference(x, y, d + 1), difference(x, y, d - 1)) - own) >> 2));
    e[9] = texture(x, y);
    e[10] = x - d >= 0 && x - d < size_.width ? limited(8 * (largest_at(x - d, y) - d)) : 0;
    e[11] = limited(4 * (x - d));
    constexpr int offsets[8][2] = {{-3, 0}, {3, 0}, {-9, 0}, {9, 0}, {0, -3}, {0, 3}, {0, -9}, {0, 9}};
    for (int i = 0; i < 8; ++i) {
      const int other = q_at(x + offsets[i][0], y + offsets[i][1]);
      e[12 + i] = other == nothing ? 64 : limited(64 + ((other - q) >> 1));
    }
    e[20] = left(x, y) >> 1;
  }

 private:
  int left(int x, int y) const { return in_.left.clamped(x, y); }
  int right(int x, int y) const { return in_.right.clamped(x, y); }
  int q_at(int x, int y) const { return in_16ths(in_.disparity.clamped(x, y)); }

  // Returns the agreement of valid pixels, and that of measured pixels.
  std::array<int, 2> agreement(int x, int y, int step, int reach, int tolerance) const {
    int all = 0, agreeing[2] = {};
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        const int qx = x + step * i, qy = y + step * j;
        const bool inside = qx >= 0 && qx < size_.width && qy >= 0 && qy < size_.height;
        if (!inside || (i == 0 && j == 0)) continue;
        const int w = 64 >> std::min(std::abs(left(qx, qy) - left(x, y)) >> 3, 6);
        const int q = q_at(qx, qy);
        all += w;
        if (q == nothing || std::abs(q - q_at(x, y)) > tolerance) continue;
        agreeing[0] += w;
        if (in_.validity(qx, qy) == 0) agreeing[1] += w;
      }
    if (all == 0) return {};
    return {(127 * agreeing[0] + all / 2) / all, (127 * agreeing[1] + all / 2) / all};
  }

  int difference(int x, int y, int d) const {
    int sum = 0;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) sum += std::abs(left(x + i, y + j) - right(x + i - d, y + j));
    return sum;
  }

  int differing_order(int x, int y, int d) const {
    int count = 0;
    for (int j = -2; j <= 2; ++j)
      for (int i = -2; i <= 2; ++i)
        count += (left(x + i, y + j) < left(x, y)) != (right(x + i - d, y + j) < right(x - d, y));
    return count;
  }

  int gradient(int x, int y) const {
    const int in_x = std::clamp(x, 0, size_.width - 1);
    return std::abs(left(in_x + 1, y) - left(in_x - 1, y));
  }
  int texture(int x, int y) const {
    int sum = 0;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) sum += gradient(x + i, y + j);
    return std::min(sum >> 2, 127);
  }

  int largest_at(int u, int y) const {
    int largest = nothing;
    for (int x = 0; x < size_.width; ++x) {
      const int q = q_at(x, y);
      if (q != nothing && x - whole(q) == u) largest = std::max(largest, whole(q));
    }
    return largest;
  }

  const Input& in_;
  const Size size_;
};

using Plane = Image<std::int16_t>;

// Returns the values of layer 0 for 2×2 pixels as the channels of one pixel.
Plane layer_0(const Network& n, const Input& in) {
  const Evidence evidence(in);
  const Size size = in.disparity.size(), half = half_of(size);
  Plane made(half, channels);
  std::array<int, evidence_channels> e;
  for (int y = 0; y < 2 * half.height; ++y)
    for (int x = 0; x < 2 * half.width; ++x) {
      evidence.at(std::min(x, size.width - 1), std::min(y, size.height - 1), e);
      for (int o = 0; o < first_channels; ++o) {
        int sum = n.first_biases[o];
        for (int i = 0; i < evidence_channels; ++i) sum += n.first_weights[o * evidence_channels + i] * e[i];
        made(x / 2, y / 2, 4 * o + 2 * (y % 2) + x % 2) = static_cast<std::int16_t>(limited((sum + 64) >> shift));
      }
    }
  return made;
}

Plane convolved(const Network& n, int layer, const Plane& before) {
  const Convolution& c = n.convolutions[layer - 1];
  const ImageView<const std::int16_t> view = before.view();
  Plane after(view.size(), c.out);
  for (int y = 0; y < after.height(); ++y)
    for (int x = 0; x < after.width(); ++x)
      for (int o = 0; o < c.out; ++o) {
        int sum = c.biases[o];
        for (int i = 0; i < c.in; ++i)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) sum += c.weight(o, i, dy, dx) * view.clamped(x + dx, y + dy, i);
        after(x, y, o) = static_cast<std::int16_t>(std::clamp((sum + (1 << (c.shift - 1))) >> c.shift, c.low, 127));
      }
  return after;
}

Plane halved(const Plane& a) {
  const ImageView<const std::int16_t> view = a.view();
  Plane made(half_of(view.size()), channels);
  for (int y = 0; y < made.height(); ++y)
    for (int x = 0; x < made.width(); ++x)
      for (int c = 0; c < channels; ++c) {
        const auto at = [&](int i, int j) { return view.clamped(2 * x + i, 2 * y + j, c); };
        made(x, y, c) = static_cast<std::int16_t>((at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) >> 2);
      }
  return made;
}

Plane doubled_plus(const Plane& a, const Plane& b) {
  Plane made(b.view().size(), channels);
  for (int y = 0; y < made.height(); ++y)
    for (int x = 0; x < made.width(); ++x)
      for (int c = 0; c < channels; ++c)
        made(x, y, c) = static_cast<std::int16_t>((a(x / 2, y / 2, c) + b(x, y, c) + 1) >> 1);
  return made;
}

}  // namespace

void oracle(const Input& in, ImageView<float> confidence) {
  const Network& n = network();
  const Plane s0 = convolved(n, 1, layer_0(n, in));
  const Plane s1 = convolved(n, 3, convolved(n, 2, halved(s0)));
  const Plane e = convolved(n, 5, convolved(n, 4, halved(s1)));
  const Plane logit = convolved(n, 8, convolved(n, 7, doubled_plus(convolved(n, 6, doubled_plus(e, s1)), s0)));
  for (int y = 0; y < confidence.height; ++y)
    for (int x = 0; x < confidence.width; ++x)
      confidence(x, y) = in_16ths(in.disparity(x, y)) == nothing
                             ? 0.0f
                             : n.probability[logit(x / 2, y / 2, 2 * (y % 2) + x % 2) + most_logit];
}

}  // namespace stereopsis::learned_confidence
