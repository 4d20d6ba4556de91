// Decides whether the rows of a stripe contain every valid pixel for which a fill searches.
#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/fill/fill.hpp"

namespace stereopsis::fill {
namespace {

bool is_valid(const StripeMaps& m, int x, int y) { return !std::isnan(m.disparity(x, y)); }

// Returns whether the pixel of the stripe is to be filled.
bool searches(const StripeMaps& m, int x, int y) {
  return !is_valid(m, x, y) && (m.validity(x, y) & (validity::masked | validity::outside)) == 0;
}

bool has_valid(const StripeMaps& m, int y) {
  for (int x = 0; x < m.disparity.width; ++x)
    if (is_valid(m, x, y)) return true;
  return false;
}

bool has_search(const StripeMaps& m, int y) {
  for (int x = 0; x < m.disparity.width; ++x)
    if (searches(m, x, y)) return true;
  return false;
}

// Returns whether rows without a valid pixel find a row with one: the nearest row above, or else the nearest below.
bool rows_end(const StripeMaps& m) {
  const int height = m.disparity.height;
  int first_lost = height, last_lost = -1, first_valid = height, last_valid = -1;
  for (int y = 0; y < height; ++y) {
    if (has_valid(m, y))
      first_valid = std::min(first_valid, y), last_valid = y;
    else if (m.has_row(y) && has_search(m, y))
      first_lost = std::min(first_lost, y), last_lost = y;
  }
  if (last_lost < 0 || first_valid < first_lost) return true;
  return m.at_top && (m.at_bottom || last_valid > last_lost);
}

// Returns the number of columns from each pixel of a row to the nearest valid pixel of the row.
void measure_row(const StripeMaps& m, int y, std::vector<int>& columns) {
  constexpr int none = 1 << 30;
  const int width = m.disparity.width;
  for (int x = 0, last = -none; x < width; ++x) {
    if (is_valid(m, x, y)) last = x;
    columns[static_cast<std::size_t>(x)] = x - last;
  }
  for (int x = width - 1, next = none; x >= 0; --x) {
    if (is_valid(m, x, y)) next = x;
    int& nearest = columns[static_cast<std::size_t>(x)];
    nearest = std::min(nearest, next - x);
  }
}

// Returns whether no valid pixel beyond the first rows, or the last rows, is nearer than one within the rows. In a tie,
// a fill takes the pixel of the row.
bool columns_end(const StripeMaps& m, bool from_top) {
  const int height = m.disparity.height, width = m.disparity.width;
  std::vector<char> has_met(static_cast<std::size_t>(width));
  std::vector<int> along(static_cast<std::size_t>(width));
  for (int i = 0; i < height; ++i) {
    const int y = from_top ? i : height - 1 - i;
    if (m.has_row(y)) measure_row(m, y, along);
    for (int x = 0; x < width; ++x) {
      const auto column = static_cast<std::size_t>(x);
      if (is_valid(m, x, y)) has_met[column] = 1;
      if (m.has_row(y) && searches(m, x, y) && has_met[column] == 0 && along[column] > i + 1) return false;
    }
  }
  return true;
}

}  // namespace

bool rows_suffice(const Parameters& p, const StripeMaps& maps) {
  if (p.mode == Mode::nearest)
    if ((!maps.at_top && !columns_end(maps, true)) || (!maps.at_bottom && !columns_end(maps, false))) return false;
  return rows_end(maps);
}

}  // namespace stereopsis::fill
