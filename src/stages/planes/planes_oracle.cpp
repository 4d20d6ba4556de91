#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "stages/planes/planes.hpp"

namespace stereopsis::planes {
namespace {

struct Point {
  int x, y, q;
};

// A segment with its points. `first_x` and `first_y` are the first pixel of its cell.
struct Segment {
  int first_x = 0, first_y = 0;
  std::array<std::int64_t, 3> colour = {};
  std::int64_t pixels = 0;
  std::vector<Point> points;
  std::optional<Plane> plane;
  std::int64_t n = 0, group = 0;  // points that take part in the last fit, and all points of the group
};

class Planes {
 public:
  Planes(const Parameters& p, const Input& in, DisparityRange range)
      : p_(p), cells_(in.segments.size(), p.cell), segments_(static_cast<std::size_t>(cells_.count())) {
    for (int row = 0; row < cells_.rows; ++row)
      for (int column = 0; column < cells_.columns; ++column) {
        at(column, row).first_x = cells_.first_x(column);
        at(column, row).first_y = cells_.first_y(row);
      }
    for (int y = 0; y < in.segments.height; ++y)
      for (int x = 0; x < in.segments.width; ++x) add_pixel(in, range, x, y);
    for (Segment& s : segments_)
      for (std::int64_t& sum : s.colour) sum = s.pixels > 0 ? (sum + s.pixels / 2) / s.pixels : 0;
  }

  void fit_round(int round) {
    std::vector<Segment> fitted = segments_;
    for (int row = 0; row < cells_.rows; ++row)
      for (int column = 0; column < cells_.columns; ++column) {
        Segment& s = fitted[index(column, row)];
        if (s.points.empty()) continue;
        int reach = 0;
        Sums sums = group(column, row, reach, round, s.group);
        while (sums.n < enough && reach < farthest) sums = group(column, row, ++reach, round, s.group);
        s.n = sums.n;
        const bool supported = round + 1 < rounds || 2 * s.n >= s.group;
        s.plane = supported ? fit(sums) : std::nullopt;
      }
    segments_ = std::move(fitted);
  }

  const Segment& of(std::uint32_t word) const {
    for (int row = 0; row < cells_.rows; ++row)
      for (int column = 0; column < cells_.columns; ++column)
        if (cells_.word(column, row) == word) return segments_[index(column, row)];
    std::abort();  // slic makes no other words
  }

 private:
  std::size_t index(int column, int row) const { return static_cast<std::size_t>(row) * cells_.columns + column; }
  Segment& at(int column, int row) { return segments_[index(column, row)]; }
  Segment& of(std::uint32_t word) { return const_cast<Segment&>(std::as_const(*this).of(word)); }

  void add_pixel(const Input& in, DisparityRange range, int x, int y) {
    Segment& s = of(in.segments(x, y));
    for (int i = 0; i < 3; ++i) s.colour[i] += in.rgb(x, y) >> 8 * i & 255;
    ++s.pixels;
    const float confidence = in.confidence.empty() ? 1 : in.confidence(x, y);
    const int q = point(in.disparity(x, y), in.validity(x, y), confidence, static_cast<float>(p_.confidence), range);
    if (q != no_point) s.points.push_back({x, y, q});
  }

  static bool takes_part(const Segment& s, const Point& point, int round) {
    if (round == 0) return true;
    return s.plane && std::abs(s.plane->at(point.x - s.first_x, point.y - s.first_y) - point.q) <= tolerances[round];
  }

  // Returns the sums of a segment in coordinates that count from a pixel.
  static Sums sums_of(const Segment& s, int round, int from_x, int from_y) {
    Sums sums;
    for (const Point& point : s.points) {
      if (!takes_part(s, point, round)) continue;
      const std::int64_t x = point.x - from_x, y = point.y - from_y, q = point.q;
      sums = {sums.n + 1,      sums.x + x,      sums.y + y,      sums.q + q,     sums.xx + x * x,
              sums.xy + x * y, sums.yy + y * y, sums.xq + x * q, sums.yq + y * q};
    }
    return sums;
  }

  bool joins(const Segment& s, const Segment& other, const Sums& sums, int round) const {
    if (other.points.empty()) return false;
    for (int i = 0; i < 3; ++i)
      if (std::abs(s.colour[i] - other.colour[i]) >= p_.similar) return false;
    if (round == 0 || &s == &other || !s.plane) return true;
    return std::abs(s.plane->a * sums.x + s.plane->b * sums.y + sums.n * s.plane->c - one * sums.q) <=
           16 * one * sums.n;
  }

  // Returns the sums of the group of a segment, and sets `points` to the number of its points.
  Sums group(int column, int row, int reach, int round, std::int64_t& points) {
    const Segment& s = at(column, row);
    Sums all;
    points = 0;
    for (int r = std::max(0, row - reach); r <= std::min(cells_.rows - 1, row + reach); ++r)
      for (int c = std::max(0, column - reach); c <= std::min(cells_.columns - 1, column + reach); ++c) {
        const Segment& other = at(c, r);
        const Sums more = sums_of(other, round, s.first_x, s.first_y);
        if (!joins(s, other, more, round)) continue;
        points += static_cast<std::int64_t>(other.points.size());
        all = {all.n + more.n,   all.x + more.x,   all.y + more.y,   all.q + more.q,  all.xx + more.xx,
               all.xy + more.xy, all.yy + more.yy, all.xq + more.xq, all.yq + more.yq};
      }
    return all;
  }

  const Parameters p_;
  const slic::Cells cells_;
  std::vector<Segment> segments_;
};

}  // namespace

void oracle(const Parameters& p, const Input& in, DisparityRange range, ImageView<std::uint32_t> planes) {
  Planes fitted(p, in, range);
  for (int round = 0; round < rounds; ++round) fitted.fit_round(round);
  for (int y = 0; y < planes.height; ++y)
    for (int x = 0; x < planes.width; ++x) {
      planes(x, y) = 0;
      const Segment& s = std::as_const(fitted).of(in.segments(x, y));
      if (!s.plane) continue;
      const int v = s.plane->at(x - s.first_x, y - s.first_y);
      const int w = static_cast<int>((p.weight * (256 * s.n / s.group) + 128) / 256);
      if (v >= 0 && v <= 16 * (range.count - 1) && w > 0) planes(x, y) = 256u * v + w;
    }
}

}  // namespace stereopsis::planes
