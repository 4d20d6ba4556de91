// Puts meshes into generated scenes.
#pragma once

#include "pack.hpp"
#include "synth/builder.hpp"

namespace stereopsis::meshes {

// Adds up to 40 random meshes, each of which stands on a surface that the left camera sees, or on another mesh.
void furnish(const Pack& pack, synth::Builder& builder, const synth::RigGeometry& rig);

}  // namespace stereopsis::meshes
