#include <cmath>

#include "device/cpu/threads.hpp"
#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {
namespace {

// One line of all maps; i-th pixels.
struct Line {
  const MapsOf<ImageView>& maps;
  ImageView<const float> from;
  ImageView<float> to;
  bool columns;
  int line;

  int length() const { return columns ? from.height : from.width; }
  template <class T>
  T& at(ImageView<T> image, int i) const {
    return columns ? image(line, i) : image(i, line);
  }
  int difference(int i, int j) const { return cost::Colours{}(at(maps.colours, i), at(maps.colours, j)); }
};

// Calls spread(i, disparity) in the direction of `step` for what arrives at each pixel: NaN where nothing does, and on reliable
// pixels.
template <class F>
void sweep(const Parameters& p, const Line& line, int step, F&& spread) {
  const int first = step > 0 ? 0 : line.length() - 1, end = step > 0 ? line.length() : -1;
  float carried = invalid_disparity;
  for (int i = first; i != end;) {
    const float whole = std::floor(line.at(line.from, i) + 0.5f);
    int run = 1;
    while (i + run * step != end && std::floor(line.at(line.from, i + run * step) + 0.5f) == whole) ++run;
    const bool reliable = whole == whole && run >= p.reliability;
    for (int j = 0; j < run; ++j, i += step) {
      if (!reliable && i != first && line.difference(i, i - step) >= p.variation) carried = invalid_disparity;
      spread(i, reliable ? invalid_disparity : carried);
    }
    if (reliable) carried = line.at(line.from, i - step);
  }
}

void propagate(const Parameters& p, const Line& line) {
  sweep(p, line, 1, [&](int i, float arriving) { line.at(line.maps.scratch, i) = arriving; });
  sweep(p, line, -1, [&](int i, float arriving) {
    const float other = line.at(line.maps.scratch, i), here = line.at(line.from, i);
    std::uint8_t& validity = line.at(line.maps.validity, i);
    const float d = other == other && !(arriving < other) ? other : arriving;
    const bool spreads = d == d && (validity & (validity::masked | validity::outside)) == 0;
    line.at(line.to, i) = spreads ? d : here;
    if (spreads && d != here)
      validity = static_cast<std::uint8_t>((validity & ~validity::reasons) | validity::repaired);
  });
}

}  // namespace

void cpu(const Parameters& p, const MapsOf<ImageView>& maps, Threads& threads) {
  threads.rows(maps.disparity.width, [&](int first, int last) {
    for (int x = first; x < last; ++x) propagate(p, {maps, maps.disparity, maps.between, true, x});
  });
  threads.rows(maps.disparity.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) propagate(p, {maps, maps.between, maps.disparity, false, y});
  });
}

}  // namespace stereopsis::propagation
