// Scenes that are other ones for every seed: not only textures, also what there is and where.
#pragma once

namespace stereopsis::synth {

class Builder;

void room(Builder&);     // plain painted walls and shades, bare wood, little to match
void road(Builder&);     // asphalt, houses, trees, cars, sky; haze over what is far
void garden(Builder&);   // leaves and grass, trunks, wires and fences that repeat
void clutter(Builder&);  // many small things of all kinds, standing or in the air
void leaves(Builder&);   // dead leaves: flat pieces that cover one another

}  // namespace stereopsis::synth
