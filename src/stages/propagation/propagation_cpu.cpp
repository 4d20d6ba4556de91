#include <algorithm>
#include <cmath>

#include "device/cpu/threads.hpp"
#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {
namespace {

float whole(float d) { return std::floor(d + 0.5f); }

// One line of all maps. The step `i` leads along the line, and `aside` leads to the neighbouring lines.
struct Line {
  const MapsOf<ImageView>& maps;
  bool columns;
  int line;

  int length() const { return columns ? maps.disparity.height : maps.disparity.width; }
  int lines() const { return columns ? maps.disparity.width : maps.disparity.height; }
  template <class T>
  T& at(ImageView<T> image, int i, int aside = 0) const {
    return columns ? image(line + aside, i) : image(i, line + aside);
  }
  float disparity(int i) const { return at(maps.disparity, i); }
  bool stays(int i) const { return (at(maps.validity, i) & (validity::masked | validity::outside)) != 0; }

  // Writes a disparity to `to`, which may be the disparity map itself.
  void change(ImageView<float> to, int i, float d) const {
    if (disparity(i) == d || stays(i)) return;
    std::uint8_t& validity = at(maps.validity, i);
    at(to, i) = d;
    validity = static_cast<std::uint8_t>((validity & ~validity::reasons) | validity::repaired);
  }
};

template <class F>
void for_each_line(const MapsOf<ImageView>& maps, bool columns, Threads& threads, F&& work) {
  threads.rows(columns ? maps.disparity.width : maps.disparity.height, [&](int first, int last) {
    for (int line = first; line < last; ++line) work(Line{maps, columns, line});
  });
}

void remove_surrounded(const Line& column) {
  for (int i = 1; i + 1 < column.length(); ++i) {
    const float above = whole(column.disparity(i - 1));
    if (above == whole(column.disparity(i + 1)) && above != whole(column.disparity(i)))
      column.change(column.maps.disparity, i, column.disparity(i - 1));
  }
}

// Writes 1 to `scratch` at pixels where three pixels of the line vary.
void find_variations(const Parameters& p, const Line& line) {
  const auto& [colours, unused, between, flags, validity] = line.maps;
  const cost::Colours difference{};
  for (int i = 0; i < line.length(); ++i) line.at(flags, i) = 0;
  for (int i = 0; i + 2 < line.length(); ++i) {
    const auto a = line.at(colours, i), b = line.at(colours, i + 1), c = line.at(colours, i + 2);
    if (std::max({difference(a, b), difference(b, c), difference(a, c)}) >= p.variation)
      for (int j = i; j < i + 3; ++j) line.at(flags, j) = 1;
  }
}

// Writes to `between` only variations of which at least three are adjacent across the lines.
void keep_gradients(const Line& line) {
  for (int i = 0; i < line.length(); ++i) {
    const auto flag = [&](int aside) {
      const int other = line.line + aside;
      return other >= 0 && other < line.lines() && line.at(line.maps.scratch, i, aside) != 0;
    };
    line.at(line.maps.between, i) =
        flag(0) && ((flag(-1) && (flag(-2) || flag(1))) || (flag(1) && flag(2))) ? 1.0f : 0.0f;
  }
}

void find_reliability(const Line& line) {
  for (int i = 0, end = 0; i < line.length(); i = end) {
    const float value = whole(line.disparity(i));
    for (end = i + 1; end < line.length() && whole(line.disparity(end)) == value; ++end) {
    }
    const float length = value == value ? static_cast<float>(end - i) : 0.0f;
    for (int j = i; j < end; ++j) line.at(line.maps.scratch, j) = length;
  }
}

void cover(const Parameters& p, const Line& line, int from, int step) {
  const float d = line.disparity(from), value = whole(d);
  for (int i = from + step; i >= 0 && i < line.length() && line.at(line.maps.between, i) == 0; i += step) {
    if (line.stays(i)) continue;
    const float other = whole(line.disparity(i));
    float& reliability = line.at(line.maps.scratch, i);
    if (reliability >= static_cast<float>(slight(p)) && other != value && other < value + 2) return;
    if (other != value) line.change(line.maps.disparity, i, d);
    reliability = static_cast<float>(moderate(p));
  }
}

void spread(const Parameters& p, const Line& line) {
  find_reliability(line);
  const auto reliable = [&](int i) { return line.at(line.maps.scratch, i) >= static_cast<float>(moderate(p)); };
  for (int i = 0; i < line.length(); ++i) {
    if (!reliable(i)) continue;
    const float value = whole(line.disparity(i));
    int last = i;
    while (last + 1 < line.length() && whole(line.disparity(last + 1)) == value && reliable(last + 1)) ++last;
    cover(p, line, i, -1);
    cover(p, line, last, 1);
    i = last;
  }
}

// Writes the result to `to`.
void filter_modes(const Line& line, ImageView<float> to) {
  constexpr int window = 2 * mode_radius + 1;
  for (int i = 0; i < line.length(); ++i) {
    const float here = line.disparity(i), own = whole(here);
    line.at(to, i) = here;
    if (own != own) continue;
    float values[window];
    int around = 0, others = 0;
    for (int j = 0; j < window; ++j) {
      const int at = i + j - mode_radius;
      values[j] = at >= 0 && at < line.length() ? whole(line.disparity(at)) : invalid_disparity;
      around += std::fabs(values[j] - own) <= 1;
      others += std::fabs(values[j] - own) > 1;
    }
    if (others <= around) continue;  // no other value can win
    int most = 0;
    float mode = own;
    for (const float value : values) {
      const auto votes = static_cast<int>(std::count(values, values + window, value));
      if (votes > most || (votes == most && value < mode)) most = votes, mode = value;
    }
    if (most > around) line.change(to, i, mode);
  }
}

}  // namespace

void cpu(const Parameters& p, const MapsOf<ImageView>& maps, Threads& threads) {
  for_each_line(maps, true, threads, remove_surrounded);
  for (const bool columns : {true, false}) {
    for_each_line(maps, columns, threads, [&](const Line& line) { find_variations(p, line); });
    for_each_line(maps, columns, threads, keep_gradients);
    for_each_line(maps, columns, threads, [&](const Line& line) { spread(p, line); });
  }
  for_each_line(maps, true, threads, [&](const Line& line) { filter_modes(line, maps.between); });
  MapsOf<ImageView> between = maps;
  between.disparity = maps.between;
  for_each_line(between, false, threads, [&](const Line& line) { filter_modes(line, maps.disparity); });
}

}  // namespace stereopsis::propagation
