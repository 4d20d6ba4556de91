// The appearance of a surface: a colour for each point in the coordinates of the surface, so that all cameras see the
// same colour.
#pragma once

#include <cstdint>

#include "synth/vector.hpp"

namespace stereopsis::synth {

using Colour = Vec3;  // red, green and blue, each 0 to 1

enum class Pattern : std::uint8_t {
  plain,     // a
  clouds,    // from a to b
  land,      // map of sea (colour a), land (b) and snow (c)
  wood,      // a, darker rings b
  planks,    // wooden boards along x
  checker,   // a and b
  gingham,   // two crossed sets of stripes in a, b and their mean
  stripes,   // a and b, across x
  dots,      // b on a
  bricks,    // a, joints b
  print,     // lines of printed words in b on a
  art,       // blocks and discs in tints of a, b and c
  facade,    // facade with walls (a), windows (b) and frames (c)
  outdoors,  // sky (a and c) above hills (b); y points down
  rough,     // noise from a to b, with strong fine octaves
  waves,     // waves from a to b and back along x, without edges
  weave,     // woven threads of a across threads of b
  stones,    // cells in tints of a, with joints of b
  foliage,   // leaves from a to b, with dark gaps
  asphalt,   // asphalt (a) with stones in tints of b, worn patches and cracks
};

struct Texture {
  Pattern pattern = Pattern::plain;
  Colour a{.8, .8, .8}, b{.2, .2, .2}, c{1, 1, 1};
  double cell = 1;   // size of a unit of the pattern, in scene units
  double grain = 0;  // amplitude of the overlaid fine texture, as a fraction of the colour
  // Finest wavelength of the grain; computed from the size of a pixel when the surface is placed.
  double grain_cell = 1;
  std::uint32_t seed = 0;
  double turn = 0;  // rotation of the pattern in the plane, as the tangent of half the angle
  // Strength of reflections, which move with the view. A glossy surface mirrors a share of the surroundings, and shows
  // a highlight of the sun. 0: matt.
  double gloss = 0;
  double mirror = 0;  // strength of a sharp reflection of the backdrop, as by glass and paintwork
  double behind = 0;  // the texture is seen through a pane, at this distance behind the surface; 0: on the surface
  double translucency = 0;  // share of the sun's light that shines through, as through leaves and lampshades
  double emission = 0;      // light that the surface emits, relative to full light
};

// Returns value noise in [0, 1]. Computing points with z = 0 takes half of the time.
double noise(const Vec3& p, std::uint32_t seed);

Colour colour_at(const Texture& texture, const Vec3& p);

}  // namespace stereopsis::synth
