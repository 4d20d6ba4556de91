#include "stereopsis/pose.hpp"

#include "geometry/rotations.hpp"

namespace stereopsis {

Pose Pose::inverse() const {
  const Matrix3 back = transposed(rotation);
  const Vector3 t = turned(back, translation);
  return {back, {-t[0], -t[1], -t[2]}};
}

Pose after(const Pose& then, const Pose& first) {
  const Vector3 t = turned(then.rotation, first.translation);
  return {product(then.rotation, first.rotation),
          {t[0] + then.translation[0], t[1] + then.translation[1], t[2] + then.translation[2]}};
}

}  // namespace stereopsis
