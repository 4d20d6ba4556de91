// Scenes that differ for every seed, in their objects and arrangement as well as in their textures.
#pragma once

namespace stereopsis::synth {

class Builder;

void room(Builder&);     // plain painted walls and shades, bare wood, little to match
void road(Builder&);     // asphalt, houses, trees, cars, sky; haze over distant things
void garden(Builder&);   // leaves and grass, trunks, wires and fences with repeating patterns
void clutter(Builder&);  // many small things of all kinds, standing or in the air
void leaves(Builder&);   // dead leaves: flat pieces that cover one another

}  // namespace stereopsis::synth
