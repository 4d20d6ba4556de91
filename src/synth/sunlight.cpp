#include "synth/sunlight.hpp"

#include <algorithm>

namespace stereopsis::synth {
namespace {

struct Extent {
  double u0 = infinity, u1 = -infinity, v0 = infinity, v1 = -infinity;

  void add(double u, double v) {
    u0 = std::min(u0, u), u1 = std::max(u1, u);
    v0 = std::min(v0, v), v1 = std::max(v1, v);
  }
};

template <class F>
void for_corners(const Vec3& low, const Vec3& high, F&& f) {
  for (int i = 0; i < 8; ++i) f(Vec3{i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z});
}

// Most of the visible points lie in this box. Points outside it belong to the outer cells.
constexpr Vec3 usual_low{-18, -5, .5}, usual_high{18, 2, 20};

}  // namespace

Sunlight::Sunlight(const std::vector<Surface>& surfaces, const Vec3& sun)
    : sun_(sun), u_(normalised(cross({0, 1, 0}, sun))), v_(cross(sun, u_)), cells_(side * side) {
  Extent grid;
  for_corners(usual_low, usual_high, [&](const Vec3& p) { grid.add(dot(p, u_), dot(p, v_)); });
  u0_ = grid.u0, v0_ = grid.v0, across_ = (grid.u1 - grid.u0) / side, along_ = (grid.v1 - grid.v0) / side;
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    const Surface& s = surfaces[i];
    Vec3 from, to;
    s.bounds(from, to);
    Extent e;
    for_corners(from, to, [&](const Vec3& corner) {
      const Vec3 p = s.frame.point(corner);
      e.add(dot(p, u_), dot(p, v_));
    });
    for (int y = row(e.v0); y <= row(e.v1); ++y)
      for (int x = column(e.u0); x <= column(e.u1); ++x) cells_[y * side + x].push_back(static_cast<std::uint16_t>(i));
  }
}

int Sunlight::column(double u) const { return static_cast<int>(std::clamp((u - u0_) / across_, 0.0, side - 1.0)); }
int Sunlight::row(double v) const { return static_cast<int>(std::clamp((v - v0_) / along_, 0.0, side - 1.0)); }

bool Sunlight::reaches(const Vec3& p, const std::vector<Surface>& surfaces) const {
  constexpr double skin = 1e-3;  // a ray does not hit the surface from which it starts
  const auto& cell = cells_[row(dot(p, v_)) * side + column(dot(p, u_))];
  return std::none_of(cell.begin(), cell.end(), [&](std::uint16_t i) {
    const Frame& f = surfaces[i].frame;
    return surfaces[i].hit(f.local_point(p), f.local_direction(sun_), skin) < infinity;
  });
}

}  // namespace stereopsis::synth
