// Points, directions and orthonormal frames in double precision.
#pragma once

#include <cmath>

namespace stereopsis::synth {

struct Vec3 {
  double x = 0, y = 0, z = 0;

  Vec3& operator+=(const Vec3& b) { return *this = {x + b.x, y + b.y, z + b.z}; }
};

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
inline Vec3 operator*(double k, const Vec3& a) { return {k * a.x, k * a.y, k * a.z}; }
inline Vec3 times(const Vec3& a, const Vec3& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double length(const Vec3& a) { return std::sqrt(dot(a, a)); }
inline Vec3 normalised(const Vec3& a) { return (1 / length(a)) * a; }
inline Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3 mix(const Vec3& a, const Vec3& b, double share) { return a + share * (b - a); }

// An orthonormal frame, which maps its own coordinates to outer coordinates.
struct Frame {
  Vec3 origin;
  Vec3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};

  Vec3 direction(const Vec3& local) const { return local.x * x + local.y * y + local.z * z; }
  Vec3 point(const Vec3& local) const { return origin + direction(local); }
  Vec3 local_direction(const Vec3& d) const { return {dot(d, x), dot(d, y), dot(d, z)}; }
  Vec3 local_point(const Vec3& p) const { return local_direction(p - origin); }
  // Returns `inner`, which is given in this frame, in outer coordinates.
  Frame operator*(const Frame& inner) const {
    return {point(inner.origin), direction(inner.x), direction(inner.y), direction(inner.z)};
  }
};

// Returns a frame rotated about y. `tan_half` is the tangent of half the angle, so that no sine is needed.
inline Frame turned(const Vec3& origin, double tan_half) {
  const double n = 1 + tan_half * tan_half, c = (1 - tan_half * tan_half) / n, s = 2 * tan_half / n;
  return {origin, {c, 0, s}, {0, 1, 0}, {-s, 0, c}};
}

}  // namespace stereopsis::synth
