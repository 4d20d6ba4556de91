#include <cmath>
#include <optional>

#include "stages/propagation/propagation.hpp"

namespace stereopsis::propagation {
namespace {

// One pixel of a line of the map, and the pixels around it.
class Line {
 public:
  Line(const Parameters& p, ImageView<const float> disparity, ImageView<const std::uint32_t> colours, bool columns,
       int line)
      : p_(p), disparity_(disparity), colours_(colours), columns_(columns), line_(line) {}

  int length() const { return columns_ ? disparity_.height : disparity_.width; }
  float disparity(int i) const { return columns_ ? disparity_(line_, i) : disparity_(i, line_); }

  bool is_reliable(int i) const {
    if (std::isnan(disparity(i))) return false;
    const auto whole = [&](int j) { return std::floor(disparity(j) + 0.5f); };
    int first = i, last = i;
    while (first > 0 && whole(first - 1) == whole(i)) --first;
    while (last + 1 < length() && whole(last + 1) == whole(i)) ++last;
    return last - first + 1 >= p_.reliability;
  }

  // What comes from one side to a pixel that is not reliable.
  std::optional<float> arriving(int i, int step) const {
    for (int j = i; j + step >= 0 && j + step < length(); j += step) {
      if (cost::Colours{}(colour(j), colour(j + step)) >= p_.variation) return std::nullopt;
      if (is_reliable(j + step)) return disparity(j + step);
    }
    return std::nullopt;
  }

 private:
  std::uint32_t colour(int i) const { return columns_ ? colours_(line_, i) : colours_(i, line_); }

  const Parameters& p_;
  const ImageView<const float> disparity_;
  const ImageView<const std::uint32_t> colours_;
  const bool columns_;
  const int line_;
};

}  // namespace

void oracle(const Parameters& p, const MapsOf<ImageView>& maps) {
  for (const bool columns : {true, false}) {
    const Image<float> before{ImageView<const float>(maps.disparity)};
    for (int y = 0; y < before.height(); ++y)
      for (int x = 0; x < before.width(); ++x) {
        if ((maps.validity(x, y) & (validity::masked | validity::outside)) != 0) continue;
        const Line line(p, before, maps.colours, columns, columns ? x : y);
        const int i = columns ? y : x;
        if (line.is_reliable(i)) continue;
        const auto a = line.arriving(i, -1), b = line.arriving(i, 1);
        if (!a && !b) continue;
        const float d = a && b ? std::min(*a, *b) : a ? *a : *b;
        if (d != before(x, y))
          maps.validity(x, y) =
              static_cast<std::uint8_t>((maps.validity(x, y) & ~validity::reasons) | validity::repaired);
        maps.disparity(x, y) = d;
      }
  }
}

}  // namespace stereopsis::propagation
