// The named scenes, and the class that builds their surfaces.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "synth/random.hpp"
#include "synth/world.hpp"

namespace stereopsis::synth {

class Builder;

struct NamedScene {
  const char* name;
  void (*build)(Builder&);
  double focal_length = 0;  // in image widths; with 0, it follows from the area of the image
};

const std::vector<NamedScene>& named_scenes();

// Adds things to every world after its layout, and before its light is computed. It is empty, except in the program of
// training/scenes, which sets it once, before any scene is made.
using Furnish = std::function<void(Builder&, const RigGeometry&)>;
Furnish& furnish();

// Builds the world. The light is computed for surfaces seen in a window of the image, or for all surfaces if the window
// is empty.
World build_world(const NamedScene& scene, const RigGeometry& rig, std::uint64_t seed, const Rect& window = {});

}  // namespace stereopsis::synth
