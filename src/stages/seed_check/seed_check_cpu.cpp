#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/seed_check/seed_check.hpp"

namespace stereopsis::seed_check {
namespace {

constexpr int farthest = 8 + 2;  // the largest distance, in columns, of a candidate and of a sample

// A window of the left view. `kInside`: all columns with which it is compared are inside the right view.
template <bool kInside>
struct Window {
  Window(const Input& in, int x, int y) : width(in.right.width) {
    for (int j = 0; j < 3; ++j) {
      const int row = std::clamp(y + samples[j], 0, in.left.height - 1);
      right[j] = in.right.row(row);
      for (int i = 0; i < 3; ++i) left[j][i] = in.left.row(row)[std::clamp(x + samples[i], 0, width - 1)];
    }
  }

  // Returns the cost of the window around the column `u` of the right view, or a part of the cost that is at least
  // `enough`.
  int cost(int u, int enough) const {
    int sum = 0;
    for (int i = 0; i < 3 && sum < enough; ++i) {
      const int column = kInside ? u + samples[i] : std::clamp(u + samples[i], 0, width - 1);
      for (int j = 0; j < 3; ++j) sum += std::popcount(left[j][i] ^ right[j][column]);
    }
    return sum;
  }

  const int width;
  std::array<std::array<std::uint64_t, 3>, 3> left;
  std::array<const std::uint64_t*, 3> right;
};

template <bool kInside>
bool is_found(const Input& in, int x, int y, float disparity, int b) {
  const Window<kInside> window(in, x, y);
  const auto is_inside = [&](int k) { return kInside || (x - b - k >= 0 && x - b - k < window.width); };
  const auto is_near = [&](int k) { return std::abs(static_cast<float>(b + k) - disparity) <= 1; };
  constexpr int most = std::numeric_limits<int>::max() / 16;
  int near = most;
  for (const int k : {0, -1, 1})
    if (is_near(k) && is_inside(k)) near = std::min(near, window.cost(x - b - k, near));
  if (near == most) return false;
  const int enough = (16 * near + 14) / 15;  // the least cost of the others
  const auto is_worse = [&](int k) { return !is_inside(k) || window.cost(x - b - k, enough) >= enough; };
  for (const int k : {-8, -4, -2, 2, 4, 8})
    if (!is_worse(k)) return false;
  return (is_near(-1) || is_worse(-1)) && (is_near(1) || is_worse(1));
}

bool is_found(const Input& in, int x, int y, float disparity) {
  const int b = static_cast<int>(std::floor(disparity + 0.5f)), u = x - b;
  return u >= farthest && u < in.right.width - farthest ? is_found<true>(in, x, y, disparity, b)
                                                        : is_found<false>(in, x, y, disparity, b);
}

}  // namespace

void cpu(const Input& in, ImageView<std::uint8_t> validity, Threads& threads) {
  threads.rows(validity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < validity.width; ++x)
        if (is_checked(in, validity, x, y) && !is_found(in, x, y, in.disparity(x, y)))
          validity(x, y) = validity::filled;
  });
}

}  // namespace stereopsis::seed_check
