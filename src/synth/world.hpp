// A scene and two cameras that observe it.
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

// Nearer points are not visible; beyond farthest_depth there is the backdrop. Disparities are thus 5 % to 95 % of the
// largest.
inline constexpr double nearest_depth = 1 / .95;
inline constexpr double farthest_depth = 20;

struct World {
  std::vector<Surface> surfaces;
  Texture backdrop;    // at the farthest depth, everywhere
  double horizon = 0;  // y at which the backdrop's own y is 0
  Vec3 up{0, -1, 0};
  Vec3 sun = normalised({-.35, -.65, -.65});  // direction towards the sun
  double haze = 0;                            // fraction of the light lost per unit of depth
  Colour haze_colour{.85, .88, .9};
  double light_spacing = 6;  // distance in pixels between the points at which the light on panels is computed; 0:
                             // without shadows

  // Computes the light on the panels with these numbers, with soft shadows and darker corners. The resolution follows
  // from `scale` and `light_spacing`. All other surfaces are lit without shadows.
  void bake_light(double scale, const std::vector<std::uint16_t>& numbers);
};

struct Hit {
  const Surface* surface = nullptr;  // null: the backdrop
  bool back = false;                 // seen from inside or from behind
  double depth = farthest_depth;
  Vec3 local;  // the point in the surface's frame
};

// Returns the colour without effects of the camera's position.
Colour colour_of(const World& world, const Hit& hit);
// Returns the colour seen by a camera at (position, 0, 0), with reflections and haze.
Colour seen_colour_of(const World& world, const Hit& hit, double position);

// Numbers of surfaces, in the world's order.
using Candidates = std::vector<std::uint16_t>;

// The world seen by one camera.
class View {
 public:
  // `size` is the size of the whole image; (x0, y0) is the position of the rendered part in it.
  View(const World& world, Size size, double scale, double position, double x0 = 0, double y0 = 0);

  // Returns the surfaces that may be visible in this rectangle of the image.
  Candidates candidates(double x0, double y0, double x1, double y1) const;
  // Returns the first intersection of the ray through a point of the image with the candidates.
  Hit trace(double x, double y, const Candidates& candidates) const;
  double position() const { return position_; }

 private:
  struct Seen {
    Vec3 camera;            // position in the surface's frame
    double x0, y0, x1, y1;  // bounds in the image
  };

  const World* world_;
  double scale_, cx_, cy_, position_;
  std::vector<Seen> seen_;
};

// The virtual rig, which converts depth to disparity.
struct RigGeometry {
  Size size;
  int disparities;
  double scale;  // focal length in pixels: the image's area equals that of 2 × 1.5 at depth 1

  RigGeometry(Size size_, int disparities_);
  double baseline() const { return (disparities - 1) / scale; }
  double half_width() const { return .5 * size.width / scale; }
  double half_height() const { return .5 * size.height / scale; }
  double disparity(double depth) const { return (disparities - 1) / depth; }
};

}  // namespace stereopsis::synth
