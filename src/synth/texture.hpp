// The appearance of a surface: a colour for each point in the surface's own coordinates, so that all cameras see the
// same.
#pragma once

#include <cstdint>

#include "synth/vector.hpp"

namespace stereopsis::synth {

using Colour = Vec3;  // red, green, blue, 0 to 1

enum class Pattern : std::uint8_t {
  plain,     // a
  clouds,    // from a to b
  land,      // sea a, land b, snow c
  wood,      // a, darker rings b
  planks,    // wood in boards along x
  checker,   // a and b
  gingham,   // a, b and their mean: two crossed sets of stripes
  stripes,   // a and b, across x
  dots,      // b on a
  bricks,    // a, joints b
  print,     // lines of words b on a
  art,       // blocks and discs in tints of a, b and c
  facade,    // wall a, windows b, frames c
  outdoors,  // sky a and c above hills b; y points down
  rough,     // from a to b, with strong fine octaves
  waves,     // from a to b and back along x, without edges
  weave,     // threads a across threads b
  stones,    // cells in tints of a, joints b
  foliage,   // leaves from a to b, with dark gaps
  asphalt,   // a with stones in tints of b, worn patches and cracks
};

struct Texture {
  Pattern pattern = Pattern::plain;
  Colour a{.8, .8, .8}, b{.2, .2, .2}, c{1, 1, 1};
  double cell = 1;        // size of the pattern's unit, in scene units
  double grain = 0;       // amplitude of the overlaid fine texture, as a fraction of the colour
  double grain_cell = 1;  // finest wavelength of the grain; set when the surface is placed, from the size of a pixel
                          // there
  std::uint32_t seed = 0;
  double turn = 0;  // rotation of the pattern in the plane: the tangent of half the angle
  // Strength of reflections, which move with the view: a share of the mirrored surroundings, and a highlight of the
  // sun. 0: matt.
  double gloss = 0;
};

// Returns value noise in [0, 1]. Points with z = 0 take half the time.
double noise(const Vec3& p, std::uint32_t seed);

Colour colour_at(const Texture& texture, const Vec3& p);

}  // namespace stereopsis::synth
