#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {
namespace {

// A map whose first coordinate is the index along a line, which is a column or a row.
template <class T>
struct Turned {
  ImageView<T> image;
  bool columns;

  int length() const { return columns ? image.height : image.width; }
  int lines() const { return columns ? image.width : image.height; }
  T& operator()(int i, int line) const { return columns ? image(line, i) : image(i, line); }
};

float whole(float d) { return std::floor(d + 0.5f); }

void change(const MapsOf<ImageView>& maps, bool columns, int i, int line, float d) {
  float& here = Turned<float>{maps.disparity, columns}(i, line);
  std::uint8_t& validity = Turned<std::uint8_t>{maps.validity, columns}(i, line);
  if (here == d || (validity & (validity::masked | validity::outside)) != 0) return;
  here = d;
  validity = static_cast<std::uint8_t>((validity & ~validity::reasons) | validity::repaired);
}

void remove_surrounded(const MapsOf<ImageView>& maps) {
  const auto& d = maps.disparity;
  for (int x = 0; x < d.width; ++x)
    for (int y = 1; y + 1 < d.height; ++y)
      if (whole(d(x, y - 1)) == whole(d(x, y + 1)) && whole(d(x, y)) != whole(d(x, y - 1)))
        change(maps, true, y, x, d(x, y - 1));
}

Image<std::uint8_t> gradients(const Parameters& p, ImageView<const std::uint32_t> image, bool columns) {
  const Turned<const std::uint32_t> colours{image, columns};
  Image<std::uint8_t> varying(image.size(), 1, 0), result(image.size(), 1, 0);
  const Turned<std::uint8_t> flags{varying, columns}, kept{result, columns};
  const cost::Colours difference{};
  for (int line = 0; line < colours.lines(); ++line)
    for (int i = 0; i + 2 < colours.length(); ++i) {
      const auto a = colours(i, line), b = colours(i + 1, line), c = colours(i + 2, line);
      if (std::max({difference(a, b), difference(b, c), difference(a, c)}) >= p.variation)
        flags(i, line) = flags(i + 1, line) = flags(i + 2, line) = 1;
    }
  for (int line = 0; line < flags.lines(); ++line)
    for (int i = 0; i < flags.length(); ++i) {
      int first = line, last = line;
      while (first > 0 && flags(i, first - 1)) --first;
      while (last + 1 < flags.lines() && flags(i, last + 1)) ++last;
      kept(i, line) = flags(i, line) && last - first + 1 >= 3;
    }
  return result;
}

void spread(const Parameters& p, const MapsOf<ImageView>& maps, bool columns) {
  const Turned<float> disparity{maps.disparity, columns};
  const Turned<std::uint8_t> validity{maps.validity, columns};
  Image<std::uint8_t> marks = gradients(p, maps.colours, columns);
  const Turned<std::uint8_t> gradient{marks, columns};
  const int length = disparity.length();
  for (int line = 0; line < disparity.lines(); ++line) {
    const auto equal = [&](int i, int j) { return whole(disparity(i, line)) == whole(disparity(j, line)); };
    std::vector<int> reliability(length, 0);
    for (int i = 0; i < length; ++i) {
      int first = i, last = i;
      while (first > 0 && equal(first - 1, i)) --first;
      while (last + 1 < length && equal(last + 1, i)) ++last;
      if (!std::isnan(disparity(i, line))) reliability[i] = last - first + 1;
    }
    const auto cover = [&](int from, int step) {
      const float d = disparity(from, line);
      for (int i = from + step; i >= 0 && i < length && !gradient(i, line); i += step) {
        if ((validity(i, line) & (validity::masked | validity::outside)) != 0) continue;
        const float other = whole(disparity(i, line));
        if (reliability[i] >= slight(p) && other != whole(d) && other < whole(d) + 2) break;
        if (other != whole(d)) change(maps, columns, i, line, d);
        reliability[i] = moderate(p);
      }
    };
    for (int i = 0; i < length; ++i) {
      if (reliability[i] < moderate(p)) continue;
      int last = i;
      while (last + 1 < length && equal(last + 1, i) && reliability[last + 1] >= moderate(p)) ++last;
      cover(i, -1);
      cover(last, 1);
      i = last;
    }
  }
}

void filter_modes(const MapsOf<ImageView>& maps, bool columns) {
  const Image<float> copy{ImageView<const float>(maps.disparity)};
  const Turned<const float> before{copy, columns};
  for (int line = 0; line < before.lines(); ++line)
    for (int i = 0; i < before.length(); ++i) {
      std::map<float, int> votes;
      for (int j = std::max(0, i - mode_radius); j <= std::min(before.length() - 1, i + mode_radius); ++j)
        if (!std::isnan(before(j, line))) ++votes[whole(before(j, line))];
      if (std::isnan(before(i, line))) continue;
      const float own = whole(before(i, line));
      const auto mode = std::max_element(votes.begin(), votes.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      if (mode->second > votes[own] + votes[own - 1] + votes[own + 1]) change(maps, columns, i, line, mode->first);
    }
}

}  // namespace

void oracle(const Parameters& p, const MapsOf<ImageView>& maps) {
  remove_surrounded(maps);
  for (const bool columns : {true, false}) spread(p, maps, columns);
  for (const bool columns : {true, false}) filter_modes(maps, columns);
}

}  // namespace stereopsis::propagation
