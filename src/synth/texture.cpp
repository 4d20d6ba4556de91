#include "synth/texture.hpp"

#include <algorithm>
#include <cmath>

#include "synth/random.hpp"

namespace stereopsis::synth {
namespace {

double smooth(double t) { return t * t * (3 - 2 * t); }
double ramp(double low, double high, double v) { return smooth(std::clamp((v - low) / (high - low), 0.0, 1.0)); }
double fraction(double v) { return v - std::floor(v); }
// Returns 0 at integers and 1 halfway between them.
double triangle(double v) { return 1 - std::abs(2 * fraction(v) - 1); }
// Returns the number of the lattice cell that contains v. Cells are numbered modulo 2³², so that no coordinate is out
// of range.
std::uint32_t cell_of(double v) { return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::floor(v))); }

Vec3 turned_in_plane(const Vec3& p, double tan_half) {
  const double n = 1 + tan_half * tan_half, c = (1 - tan_half * tan_half) / n, s = 2 * tan_half / n;
  return {c * p.x - s * p.y, s * p.x + c * p.y, p.z};
}

double plane_noise(double fx, double fy, std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t seed) {
  const double top = unit(hash(x, y, z, seed)) * (1 - fx) + unit(hash(x + 1, y, z, seed)) * fx;
  const double bottom = unit(hash(x, y + 1, z, seed)) * (1 - fx) + unit(hash(x + 1, y + 1, z, seed)) * fx;
  return top + (bottom - top) * fy;
}

// Returns octaves of noise. Each octave is twice as fine as the previous one, and its amplitude is multiplied by
// `decay`.
double cloud(const Vec3& p, int octaves, std::uint32_t seed, double decay = .5) {
  double sum = 0, amplitude = .5, total = 0, scale = 1;
  for (int i = 0; i < octaves; ++i) {
    sum += amplitude * noise(scale * p, seed + i);
    total += amplitude;
    amplitude *= decay;
    scale *= 2.03;
  }
  return sum / total;
}

// Returns noise from −1 to 1, with three wavelengths of equal amplitude from the finest up, so that windows of every
// size contain texture.
double grain(const Vec3& p, double finest, std::uint32_t seed) {
  const Vec3 q = (1 / finest) * p;
  return (2.0 / 3) * (noise(q, seed) + noise(.43 * q, seed + 1) + noise(.19 * q, seed + 2)) - 1;
}

Colour wood(const Texture& t, const Vec3& p) {
  const Vec3 along{.12 * p.x, p.y, p.z};
  const double ring = triangle(1.7 * (p.y + p.z) + 2.2 * noise(along, t.seed));
  const double fibre = noise({1.5 * p.x, 24 * p.y, 24 * p.z}, t.seed + 1);
  return mix(t.a, t.b, std::clamp(.75 * ring * ring + .5 * (fibre - .5), 0.0, 1.0));
}

Colour planks(const Texture& t, const Vec3& p) {
  const std::uint32_t row = cell_of(p.y);
  const double shift = 7 * unit(hash(row, 0, 0, t.seed));
  const std::uint32_t board = cell_of(p.x / 6 + shift);
  const double tint = .82 + .3 * unit(hash(row, board, 1, t.seed));
  const double gap = triangle(p.y) < .04 || fraction(p.x / 6 + shift) < .006 ? .45 : 1;
  return (tint * gap) * wood(t, {p.x + 31 * unit(hash(row, board, 2, t.seed)), 1.3 * p.y + 5 * row, p.z});
}

Colour dots(const Texture& t, const Vec3& p) {
  const Vec3 q{fraction(p.x) - .5, fraction(p.y) - .5, p.z == 0 ? 0 : fraction(p.z) - .5};
  return dot(q, q) < .09 ? t.b : t.a;
}

Colour bricks(const Texture& t, const Vec3& p) {
  const std::uint32_t row = cell_of(2 * p.y);
  const double x = p.x + (row % 2 == 0 ? 0 : .5);
  if (fraction(2 * p.y) < .12 || fraction(x) < .05) return t.b;
  return (.75 + .5 * unit(hash(cell_of(x), row, 0, t.seed))) * t.a;
}

// Words are runs of cells in a line. The surface provides the margin at its edges.
Colour print(const Texture& t, const Vec3& p) {
  const std::uint32_t line = cell_of(p.y);
  const double height = fraction(p.y);
  const double x = 2.2 * p.x;
  const bool space = hash(cell_of(x / 1.5), line, 1, t.seed) % 4 == 0;
  const bool stroke = hash(cell_of(4 * x), line, cell_of(6 * height), t.seed) % 8 < 5;
  return !space && height > .3 && height < .8 && stroke ? t.b : t.a;
}

Colour art(const Texture& t, const Vec3& p) {
  std::uint32_t x = cell_of(p.x), y = cell_of(p.y), depth = 0;
  double fx = fraction(p.x), fy = fraction(p.y);
  std::uint32_t h = hash(x, y, depth, t.seed);
  for (; depth < 3 && h % 3 != 0; h = hash(x, y, ++depth, t.seed)) {
    x = 2 * x + (fx >= .5), y = 2 * y + (fy >= .5);
    fx = fraction(2 * fx), fy = fraction(2 * fy);
  }
  const Colour* const palette[] = {&t.a, &t.b, &t.c};
  const double dx = fx - .5, dy = fy - .5;
  const std::uint32_t inner = (h >> 8) % 4 == 0 && dx * dx + dy * dy < .12 ? 1 : 0;
  return (.7 + .4 * unit(hash(x, y, 9, t.seed))) * *palette[((h >> 16) + inner) % 3];
}

Colour facade(const Texture& t, const Vec3& p) {
  const double x = fraction(p.x), y = fraction(p.y);
  if (x < .2 || x > .8 || y < .15 || y > .8) return t.a;
  if (x < .25 || x > .75 || y < .2 || y > .75 || std::abs(x - .5) < .02) return t.c;
  return (.5 + unit(hash(cell_of(p.x), cell_of(p.y), 0, t.seed))) * t.b;
}

Colour outdoors(const Texture& t, const Vec3& p) {
  const double ridge = .5 * noise({.5 * p.x, 7.5, 0}, t.seed) + .12 * noise({2.5 * p.x, 3.5, 0}, t.seed + 1);
  const double far_ridge =
      .5 + .7 * noise({.31 * p.x, 1.5, 0}, t.seed + 2) + .1 * noise({1.9 * p.x, 5.5, 0}, t.seed + 3);
  const double leaves = .6 + .8 * cloud(6.0 * p, 3, t.seed + 4);
  if (-p.y < ridge) return leaves * t.b;
  const double high = ramp(0, 3, -p.y);
  const Colour sky = mix(mix(t.c, t.a, high), t.c, ramp(.5, .75, cloud({.7 * p.x, 1.6 * p.y, 0}, 4, t.seed + 5)));
  return -p.y < far_ridge ? mix(leaves * t.b, sky, .55) : sky;
}

Colour weave(const Texture& t, const Vec3& p) {
  const bool over = (cell_of(p.x) + cell_of(p.y)) % 2 == 0;
  const double across = triangle(over ? p.y : p.x), along = triangle(over ? p.x : p.y);
  const double tint = .85 + .3 * unit(hash(over ? cell_of(p.y) : cell_of(p.x), over, 0, t.seed));
  return (tint * (.55 + .3 * smooth(across) + .15 * along)) * (over ? t.a : t.b);
}

// A Voronoi pattern with one point per lattice cell: the identifier of the nearest point, and the squared distances to
// the two nearest points.
struct Nearest {
  std::uint32_t id = 0;
  double first = 9, second = 9;
};

Nearest nearest_point(const Vec3& p, std::uint32_t seed) {
  const std::uint32_t x = cell_of(p.x), y = cell_of(p.y), z = cell_of(p.z);
  const double fx = fraction(p.x), fy = fraction(p.y);
  Nearest found;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) {
      const std::uint32_t id = hash(x + i, y + j, z, seed);
      const double dx = i + (id & 0xffff) / 65536.0 - fx, dy = j + (id >> 16) / 65536.0 - fy;
      const double distance = dx * dx + dy * dy;
      if (distance < found.first) {
        found = {id, distance, found.first};
      } else {
        found.second = std::min(found.second, distance);
      }
    }
  return found;
}

Colour stones(const Texture& t, const Vec3& p) {
  const Nearest n = nearest_point(p, t.seed);
  const double joint = ramp(.02, .1, n.second - n.first);
  return mix(t.b, ((.7 + .5 * unit(mix32(n.id))) * (1 - .25 * n.first)) * t.a, joint);
}

// Two layers of leaves. Through the gaps of the near layer, the far layer is visible in the dark.
Colour foliage(const Texture& t, const Vec3& p) {
  const double clump = cloud(.3 * p, 2, t.seed + 2);
  const Nearest near = nearest_point({p.x, 1.4 * p.y, p.z}, t.seed);
  const bool gap = near.first > .12 + .5 * clump;
  const Nearest n = gap ? nearest_point({1.7 * p.x + 5, 2.1 * p.y, p.z}, t.seed + 1) : near;
  const double light = (gap ? .3 : .7) + .6 * unit(mix32(n.id)) * (gap ? .5 : 1) - .5 * n.first;
  return (std::max(light, .1) * (.6 + .8 * clump)) * mix(t.a, t.b, unit(mix32(n.id + 1)));
}

Colour asphalt(const Texture& t, const Vec3& p) {
  const double worn = cloud({.11 * p.x, .03 * p.y, p.z}, 3, t.seed);
  const std::uint32_t stone = hash(cell_of(4 * p.x), cell_of(4 * p.y), cell_of(4 * p.z), t.seed + 7);
  const double crack = std::abs(cloud(.07 * p, 3, t.seed + 11) - .5);
  const Colour tar = (.82 + .36 * worn) * mix(t.a, t.b, stone % 8 == 0 ? .6 * unit(mix32(stone)) : 0);
  return crack < .0035 ? .6 * tar : tar;
}

Colour pattern_at(const Texture& t, const Vec3& p) {
  switch (t.pattern) {
    case Pattern::plain: return t.a;
    case Pattern::clouds: return mix(t.a, t.b, ramp(.25, .75, cloud(p, 4, t.seed)));
    case Pattern::land: {
      const double height = cloud(p, 5, t.seed);
      return mix(mix(t.a, (.7 + .6 * height) * t.b, ramp(.47, .49, height)), t.c, ramp(.66, .7, height));
    }
    case Pattern::wood: return wood(t, p);
    case Pattern::planks: return planks(t, p);
    case Pattern::checker: return (cell_of(p.x) + cell_of(p.y) + cell_of(p.z)) % 2 == 0 ? t.a : t.b;
    case Pattern::gingham: {
      const int crossing = (cell_of(p.x) % 2 != 0) + (cell_of(p.y) % 2 != 0);
      return mix(t.a, t.b, .5 * crossing);
    }
    case Pattern::stripes: return cell_of(p.x) % 2 == 0 ? t.a : t.b;
    case Pattern::dots: return dots(t, p);
    case Pattern::bricks: return bricks(t, p);
    case Pattern::print: return print(t, p);
    case Pattern::art: return art(t, p);
    case Pattern::facade: return facade(t, p);
    case Pattern::outdoors: return outdoors(t, p);
    case Pattern::rough: return mix(t.a, t.b, ramp(.3, .7, cloud(p, 5, t.seed, .8)));
    case Pattern::waves: return mix(t.a, t.b, smooth(triangle(p.x)));
    case Pattern::weave: return weave(t, p);
    case Pattern::stones: return stones(t, p);
    case Pattern::foliage: return foliage(t, p);
    case Pattern::asphalt: return asphalt(t, p);
  }
  return t.a;
}

}  // namespace

double noise(const Vec3& p, std::uint32_t seed) {
  const std::uint32_t ix = cell_of(p.x), iy = cell_of(p.y), iz = cell_of(p.z);
  const double fx = smooth(fraction(p.x)), fy = smooth(fraction(p.y)), fz = smooth(fraction(p.z));
  const double front = plane_noise(fx, fy, ix, iy, iz, seed);
  return fz == 0 ? front : front + (plane_noise(fx, fy, ix, iy, iz + 1, seed) - front) * fz;
}

Colour colour_at(const Texture& texture, const Vec3& p) {
  const Vec3 q = texture.turn == 0 ? p : turned_in_plane(p, texture.turn);
  const Colour colour = pattern_at(texture, (1 / texture.cell) * q);
  if (texture.grain == 0) return colour;
  return (1 + texture.grain * grain(p, texture.grain_cell, texture.seed + 0x51ed27u)) * colour;
}

}  // namespace stereopsis::synth
