// A scene and two cameras that observe it.
//
// The left camera stands at the origin and looks along z. A pixel (x, y) looks along ((x − cx) / scale, (y − cy) /
// scale, 1), so that the parameter of its ray is the depth Z. The right camera stands at (baseline, 0, 0), where
// baseline = (disparities − 1) / scale. Hence x_left − x_right = (disparities − 1) / Z. The geometry is therefore the
// same for every range, and planes in space are planes of disparity.
#pragma once

#include <cstdint>
#include <vector>

#include "stereopsis/image.hpp"
#include "synth/sunlight.hpp"
#include "synth/surface.hpp"

namespace stereopsis::synth {

// Nearer points are not visible. Rays that reach farthest_depth hit the backdrop. Disparities are therefore 5 % to 95 %
// of the largest disparity.
inline constexpr double nearest_depth = 1 / .95;
inline constexpr double farthest_depth = 20;

// A lamp that lights the surfaces around it, without shadows.
struct Lamp {
  Vec3 at;
  double strength;  // light at a distance of 1
};

struct World {
  std::vector<Surface> surfaces;
  std::vector<Lamp> lamps;
  Texture backdrop;    // texture at the farthest depth
  double horizon = 0;  // value of y at which the y coordinate of the backdrop is 0
  Vec3 up{0, -1, 0};
  Vec3 sun = normalised({-.35, -.65, -.65});  // direction towards the sun
  double ambient = .5, direct = .85;          // strength of the light of the sky and of the sun
  bool hard_shadows = false;                  // the sun is a point, and its shadows are computed for each ray
  Sunlight sunlight;                          // used if the shadows are hard
  double haze = 0;                            // fraction of the light lost per unit of depth
  Colour haze_colour{.85, .88, .9};
  // Distance, in pixels, between the points at which the light on panels is computed; 0 means without shadows.
  double light_spacing = 6;

  // Prepares the light with shadows on the panels with these numbers. The distance of the points follows from `scale` and
  // `light_spacing`. All other surfaces have light without shadows. The surfaces must not change or move afterwards.
  void shade_panels(double scale, const std::vector<std::uint16_t>& numbers);
};

struct Hit {
  const Surface* surface = nullptr;  // null if the ray hits the backdrop
  bool back = false;                 // true if the surface is seen from inside or from behind
  double depth = farthest_depth;
  Vec3 local;  // the point in the frame of the surface
};

// Returns the colour without effects that depend on the position of the camera.
Colour colour_of(const World& world, const Hit& hit);
// Returns the colour seen by a camera at (position, 0, 0), with panes, reflections and haze.
Colour seen_colour_of(const World& world, const Hit& hit, double position);

// Numbers of surfaces, in the order of the world.
using Candidates = std::vector<std::uint16_t>;

// The world as one camera sees it.
class View {
 public:
  // `size` is the size of the whole image, and (x0, y0) is the position of the rendered part in it.
  View(const World& world, Size size, double scale, double position, double x0 = 0, double y0 = 0);

  // Returns the surfaces that may be visible in the given rectangle of the image.
  Candidates candidates(double x0, double y0, double x1, double y1) const;
  // Returns the first intersection of the ray through a point of the image with the candidates.
  Hit trace(double x, double y, const Candidates& candidates) const;
  double position() const { return position_; }

 private:
  struct Seen {
    Vec3 camera;            // position of the camera in the frame of the surface
    double x0, y0, x1, y1;  // bounds of the surface in the image
  };

  const World* world_;
  double scale_, cx_, cy_, position_;
  std::vector<Seen> seen_;
};

// The virtual rig, which converts depth to disparity.
struct RigGeometry {
  Size size;
  int disparities;
  double scale;  // focal length in pixels

  // `focal_length` is in image widths; 0 means that the area of the image equals an area of 2 × 1.5 at depth 1.
  RigGeometry(Size size_, int disparities_, double focal_length = 0);
  double baseline() const { return (disparities - 1) / scale; }
  double half_width() const { return .5 * size.width / scale; }
  double half_height() const { return .5 * size.height / scale; }
  double disparity(double depth) const { return (disparities - 1) / depth; }
};

}  // namespace stereopsis::synth
