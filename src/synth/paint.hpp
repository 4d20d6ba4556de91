// Colours and textures that scenes share.
#pragma once

#include "synth/random.hpp"
#include "synth/texture.hpp"

namespace stereopsis::synth {

inline constexpr Colour white{.93, .92, .89}, cream{.93, .88, .76}, black{.09, .09, .1}, red{.72, .16, .13},
    orange{.88, .5, .14}, yellow{.9, .74, .24}, green{.24, .46, .22}, teal{.13, .45, .45}, blue{.16, .29, .55},
    sky{.42, .62, .85}, brown{.42, .26, .15}, pine{.8, .6, .38}, grey{.55, .55, .54}, stone{.66, .61, .55};
inline constexpr Colour palette[] = {red, orange, yellow, green, teal, blue, brown, cream};
inline constexpr int palette_size = sizeof palette / sizeof palette[0];

inline Texture make(Pattern pattern, const Colour& a, const Colour& b, double cell, double grain) {
  return {.pattern = pattern, .a = a, .b = b, .cell = cell, .grain = grain};
}
inline Texture plain(const Colour& a, double grain = 0) { return make(Pattern::plain, a, a, 1, grain); }

inline Texture outdoors() {
  Texture t = make(Pattern::outdoors, sky, {.2, .34, .14}, 4, .12);
  t.c = {.9, .94, .97};
  return t;
}

}  // namespace stereopsis::synth
