// A scene, and two cameras that look at it.
//
// Units: the left camera stands at the origin and looks along z; a pixel (x, y) looks along
// ((x − cx) / scale, (y − cy) / scale, 1), so that the ray's parameter is the depth Z. The right camera stands at
// (baseline, 0, 0) with baseline = (disparities − 1) / scale. Hence x_left − x_right = (disparities − 1) / Z:
// the geometry is the same for every range, and planes in space are planes of disparity.
#pragma once

#include <cstdint>
#include <vector>

#include "stereopsis/image.hpp"
#include "synth/surface.hpp"

namespace stereopsis::synth {

// What is nearer is not seen; what is farther is the backdrop. Disparities are thus from 5 % to 95 % of the largest.
inline constexpr double nearest_depth = 1 / .95;
inline constexpr double farthest_depth = 20;

struct World {
  std::vector<Surface> surfaces;
  Texture backdrop;    // at the farthest depth, everywhere
  double horizon = 0;  // y where the backdrop's own y is 0
  Vec3 up{0, -1, 0};
  Vec3 sun = normalised({-.35, -.65, -.65});  // towards it
  double haze = 0;                            // share of the light that is lost in it over a unit of depth
  Colour haze_colour{.85, .88, .9};
  double light_spacing = 6;  // pixels between the points at which the light on panels is known; 0: as if nothing else
                             // were there

  // Computes the light on panels, with soft shadows and less light in corners, at the resolution that `scale` and
  // `light_spacing` ask for: on those of these numbers. Everything else is lit as if nothing else were there.
  void bake_light(double scale, const std::vector<std::uint16_t>& numbers);
};

struct Hit {
  const Surface* surface = nullptr;  // null: the backdrop
  bool back = false;                 // seen from inside, or from behind
  double depth = farthest_depth;
  Vec3 local;  // the point in the surface's frame
};

// Independent of the camera.
Colour colour_of(const World& world, const Hit& hit);
// What a camera at (position, 0, 0) sees: reflections and haze as well.
Colour seen_colour_of(const World& world, const Hit& hit, double position);

// Surfaces by number, in the world's order.
using Candidates = std::vector<std::uint16_t>;

// The world from one camera.
class View {
 public:
  // `size` is that of the whole picture, and (x0, y0) the place in it where the part begins that is looked at.
  View(const World& world, Size size, double scale, double position, double x0 = 0, double y0 = 0);

  // The surfaces that may be seen in this rectangle of the picture.
  Candidates candidates(double x0, double y0, double x1, double y1) const;
  // What the ray through a point of the picture meets first, among the candidates.
  Hit trace(double x, double y, const Candidates& candidates) const;
  double position() const { return position_; }

 private:
  struct Seen {
    Vec3 camera;            // in the surface's frame
    double x0, y0, x1, y1;  // bounds in the picture
  };

  const World* world_;
  double scale_, cx_, cy_, position_;
  std::vector<Seen> seen_;
};

// The virtual rig: what turns depth into disparity.
struct RigGeometry {
  Size size;
  int disparities;
  double scale;  // focal length, pixels: the picture's area is that of 2 × 1.5 at depth 1

  RigGeometry(Size size_, int disparities_);
  double baseline() const { return (disparities - 1) / scale; }
  double half_width() const { return .5 * size.width / scale; }
  double half_height() const { return .5 * size.height / scale; }
  double disparity(double depth) const { return (disparities - 1) / depth; }
};

}  // namespace stereopsis::synth
