// Scenes that differ for every seed, in objects, arrangement and textures.
#pragma once

namespace stereopsis::synth {

class Builder;

void room(Builder&);     // plain painted walls and shades, bare wood, and few textures
void road(Builder&);     // asphalt, houses, trees, cars and sky, with haze over distant things
void garden(Builder&);   // leaves and grass, trunks, wires and fences with repeating patterns
void clutter(Builder&);  // many small objects of all kinds, standing or in the air
void leaves(Builder&);   // dead leaves: flat surfaces that cover one another

// Scenes that look like photographs: hard shadows of a low sun, panes, reflections, lamps and bright skies.
void traffic(Builder&);   // a street seen from a car
void hills(Builder&);     // rolling country with trees, hedges and fences
void thicket(Builder&);   // plants with translucent leaves, near the cameras
void interior(Builder&);  // plain walls with a window, lamps, screens, glass and a few pieces of furniture

}  // namespace stereopsis::synth
