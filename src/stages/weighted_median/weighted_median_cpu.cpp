#include <algorithm>
#include <cmath>
#include <utility>

#include "device/cpu/threads.hpp"
#include "stages/weighted_median/weighted_median.hpp"

namespace stereopsis::weighted_median {
namespace {

constexpr int largest_window = (2 * largest_radius + 1) * (2 * largest_radius + 1);

using Entry = std::pair<float, std::uint32_t>;

// The valid pixels of a window with their weights, and the sum of the weights.
struct Window {
  Entry entries[largest_window];
  int count;
  std::uint64_t total;
};

void gather(const Parameters& p, const Weights& table, const Input& in, int x, int y, Window& window) {
  const int channels = in.image.channels, middle = std::min(1, channels - 1), last = channels - 1;
  const std::uint8_t* here = in.image.row(y) + x * channels;
  const int left = std::max(x - p.radius, 0), right = std::min(x + p.radius, in.disparity.width - 1);
  window.count = 0;
  window.total = 0;
  for (int v = std::max(y - p.radius, 0); v <= std::min(y + p.radius, in.disparity.height - 1); ++v) {
    const float* disparity = in.disparity.row(v);
    const std::uint8_t* there = in.image.row(v) + left * channels;
    for (int u = left; u <= right; ++u, there += channels) {
      if (std::isnan(disparity[u])) continue;
      const auto colour = [&](int c) -> std::uint32_t { return table.colour[std::abs(here[c] - there[c])]; };
      const std::uint32_t weight = weight_of(table.distance[std::abs(u - x)], table.distance[std::abs(v - y)],
                                             colour(0), colour(middle), colour(last));
      window.entries[window.count++] = {disparity[u] + 0.0f, weight};
      window.total += weight;
    }
  }
}

// Partitions the entries around a pivot, and continues in the part in which half of the weight is reached.
float median(Window& window) {
  Entry *first = window.entries, *last = window.entries + window.count;
  std::uint64_t before = 0;
  while (true) {
    const float pivot = first[(last - first) / 2].first;
    Entry* const equal = std::partition(first, last, [&](const Entry& e) { return e.first < pivot; });
    Entry* const greater = std::partition(equal, last, [&](const Entry& e) { return e.first == pivot; });
    std::uint64_t lower = before, upto = 0;
    for (const Entry* e = first; e < equal; ++e) lower += e->second;
    for (const Entry* e = equal; e < greater; ++e) upto += e->second;
    if (lower > before && 2 * lower >= window.total) {
      last = equal;
    } else if (2 * (lower + upto) >= window.total) {
      return pivot;
    } else {
      before = lower + upto;
      first = greater;
    }
  }
}

}  // namespace

void cpu(const Parameters& p, const Input& in, ImageView<float> filtered, Threads& threads) {
  check_not_in_place(in.disparity, filtered);
  const Weights table = weights(p);
  threads.rows(filtered.height, [&](int first, int last) {
    Window window;
    for (int y = first; y < last; ++y)
      for (int x = 0; x < filtered.width; ++x) {
        const float here = in.disparity(x, y);
        filtered(x, y) = here;
        if ((in.validity(x, y) & validity::filled) == 0 || std::isnan(here)) continue;
        gather(p, table, in, x, y, window);
        filtered(x, y) = median(window);
      }
  });
}

}  // namespace stereopsis::weighted_median
