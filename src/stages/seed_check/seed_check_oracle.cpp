#include <algorithm>
#include <bit>
#include <limits>

#include "stages/seed_check/seed_check.hpp"

namespace stereopsis::seed_check {
namespace {

int cost(const Input& in, int x, int y, int d) {
  int sum = 0;
  for (const int j : samples)
    for (const int i : samples)
      sum += std::popcount(in.left.clamped(x + i, y + j) ^ in.right.clamped(x + i - d, y + j));
  return sum;
}

// Returns whether the images find the disparity again.
bool is_found(const Input& in, int x, int y, float disparity) {
  const int b = static_cast<int>(std::floor(disparity + 0.5f));
  int near = std::numeric_limits<int>::max() / 16, far = near;
  for (const int k : candidates) {
    const int d = b + k;
    if (x - d < 0 || x - d >= in.right.width) continue;
    int& least = std::abs(static_cast<float>(d) - disparity) <= 1 ? near : far;
    least = std::min(least, cost(in, x, y, d));
  }
  return 16 * near <= 15 * far;
}

}  // namespace

void oracle(const Input& in, ImageView<std::uint8_t> validity) {
  for (int y = 0; y < validity.height; ++y)
    for (int x = 0; x < validity.width; ++x)
      if (is_checked(in, validity, x, y) && !is_found(in, x, y, in.disparity(x, y))) validity(x, y) = validity::filled;
}

}  // namespace stereopsis::seed_check
