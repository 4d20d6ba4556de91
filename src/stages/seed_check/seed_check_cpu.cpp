#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "device/cpu/threads.hpp"
#include "stages/seed_check/seed_check.hpp"

namespace stereopsis::seed_check {
namespace {

// The rows and the columns of a window in the left view.
struct Window {
  Window(const Input& in, int x, int y) : width(in.right.width) {
    for (int j = 0; j < 3; ++j) {
      const int row = std::clamp(y + samples[j], 0, in.left.height - 1);
      right[j] = in.right.row(row);
      for (int i = 0; i < 3; ++i) left[j][i] = in.left.row(row)[std::clamp(x + samples[i], 0, width - 1)];
    }
  }

  // Returns the cost of the window around the column `u` of the right view.
  int cost(int u) const {
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
      const int column = std::clamp(u + samples[i], 0, width - 1);
      for (int j = 0; j < 3; ++j) sum += std::popcount(left[j][i] ^ right[j][column]);
    }
    return sum;
  }

  const int width;
  std::array<std::array<std::uint64_t, 3>, 3> left;
  std::array<const std::uint64_t*, 3> right;
};

bool is_found(const Input& in, int x, int y, float disparity) {
  const int b = static_cast<int>(std::floor(disparity + 0.5f));
  const Window window(in, x, y);
  int near = std::numeric_limits<int>::max() / 16, far = near;
  for (const int k : candidates) {
    const int d = b + k;
    if (x - d < 0 || x - d >= window.width) continue;
    int& least = std::abs(static_cast<float>(d) - disparity) <= 1 ? near : far;
    least = std::min(least, window.cost(x - d));
  }
  return 16 * near <= 15 * far;
}

}  // namespace

void cpu(const Input& in, ImageView<std::uint8_t> validity, Threads& threads) {
  threads.rows(validity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < validity.width; ++x)
        if (is_checked(in.prior(x, y), validity(x, y), in.disparity(x, y)) && !is_found(in, x, y, in.disparity(x, y)))
          validity(x, y) = validity::filled;
  });
}

}  // namespace stereopsis::seed_check
