// Two unrectified cameras, and the maps that rectify their images.
#pragma once

#include <array>
#include <cstdint>

#include "stereopsis/image.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {

using Vector3 = std::array<double, 3>;  // x, y, z
using Matrix3 = std::array<double, 9>;  // row by row

// Lens of a camera: the relation of rays and pixels. A ray (x, y, 1) in the camera's frame (x right, y down, z forward)
// meets the image at (fx·x″ + cx, fy·y″ + cy), where x″ and y″ are the distorted x and y:
//
//   polynomial   r² = x² + y², s = (1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶),
//                x″ = s x + 2 p1 x y + p2 (r² + 2x²) + s1 r² + s2 r⁴,
//                y″ = s y + p1 (r² + 2y²) + 2 p2 x y + s3 r² + s4 r⁴;
//                coefficients k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4, as OpenCV orders them (ROS: plumb_bob,
//                rational_polynomial)
//   fisheye      θ = atan r, x″ = x/r · (θ + k1 θ³ + k2 θ⁵ + k3 θ⁷ + k4 θ⁹), y″ alike; coefficients k1 to k4
//                (ROS: equidistant)
struct Lens {
  // The equation of the distortion.
  enum class Model { polynomial, fisheye };

  double fx = 0, fy = 0, cx = 0, cy = 0;  // focal lengths and principal point, pixels
  Model model = Model::polynomial;        // distortion model
  std::array<double, 12> distortion{};    // coefficients in the order of the model; unused ones are 0

  // Returns the pixel in which the point at (x, y, z), z > 0, is visible.
  std::array<double, 2> project(const Vector3& point) const;
};

// A camera of the pair: its lens, and the rotation that rectifies its images.
struct CalibratedCamera {
  Lens lens;                                            // lens of the raw images
  // Rotation from the camera's frame to the frame of the rectified camera.
  Matrix3 rectification = {1, 0, 0, 0, 1, 0, 0, 0, 1};
};

// The two unrectified cameras, and the rig after rectification.
struct StereoCalibration {
  Size size;                     // size of the raw images
  CalibratedCamera left, right;  // left and right camera
  Matrix3 rotation{};            // X_right = rotation · X_left + translation
  Vector3 translation{};         // translation, in the rig's unit
  Rig rig;                       // rig of the rectified pair
};

// The source position of each pixel of the rectified images, as x and y (2 channels) in 1/256 pixel; see
// src/stages/remap/remap.hpp.
struct RectificationMaps {
  Size input;                       // size of the raw images
  Image<std::int32_t> left, right;  // one position per rectified pixel
  // True if every pixel has a source in the raw image. No mask is then needed, and matching is faster.
  bool left_complete = false, right_complete = false;

  Size size() const { return left.size(); }  // size of the rectified images
};
// Computes the maps. Throws Error(call) for sizes or focal lengths that are not positive.
RectificationMaps rectification_maps(const StereoCalibration& calibration);

// An image rectified on the CPU. A matcher with maps rectifies on its own device instead.
struct RectifiedView {
  AnyImage image;              // rectified image, of the input's type
  Image<std::uint8_t> usable;  // 255, or 0 if the pixel has no source or its source is masked
};
// Rectifies one image. Throws Error(call) if image and map do not match, or if the mask contains a value other than 0
// and 255.
RectifiedView rectified(const AnyImageView& image, const Image<std::int32_t>& map,
                        ImageView<const std::uint8_t> mask = {}, int threads = 0);

}  // namespace stereopsis
