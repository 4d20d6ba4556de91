// Poses of cameras and sensors.
#pragma once

#include "stereopsis/rectification.hpp"

namespace stereopsis {

// A rigid motion: X ↦ rotation · X + translation.
struct Pose {
  Matrix3 rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // row by row
  Vector3 translation{};                           // in the rig's unit

  Pose inverse() const;  // the motion back
};

// Returns the motion `first` followed by `then`.
Pose after(const Pose& then, const Pose& first);

}  // namespace stereopsis
