// Meshes among the surfaces of generated scenes: read by assimp, intersected by Embree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "stereopsis/image.hpp"
#include "synth/surface.hpp"

struct RTCSceneTy;
struct RTCFilterFunctionNArguments;

namespace stereopsis::meshes {

using synth::Colour;
using synth::Vec3;

// A picture, and the pictures of half the size, of a quarter of the size, and so on.
class Pyramid {
 public:
  Pyramid() = default;
  explicit Pyramid(Image<std::uint8_t> image);

  bool empty() const { return levels_.empty(); }
  bool has_holes() const { return !empty() && levels_[0].channels() == 4; }
  // Returns the colour at texture coordinates, of which a pixel of the camera covers `footprint`.
  Colour colour(double u, double v, double footprint) const;
  double opacity(double u, double v) const;

 private:
  std::vector<Image<std::uint8_t>> levels_;
};

struct Material {
  Colour colour{.7, .7, .7};
  Pyramid picture;
};

// A mesh whose bounding box is 1 wide, 1 high and 1 deep, and stands on the origin with the middle of its bottom.
class Mesh {
 public:
  explicit Mesh(const std::filesystem::path& file);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  // A point on a triangle, by the weights of its corners.
  struct Spot {
    std::uint32_t triangle = 0;
    double weights[3] = {1, 0, 0};
  };

  double hit(const Vec3& o, const Vec3& d, double t_min) const;
  Spot nearest(const Vec3& p) const;
  Vec3 normal(const Spot& spot) const { return mean(normals_, spot); }
  // Returns the share of the surroundings that the mesh does not hide.
  double openness(const Spot& spot) const;
  // `footprint` is the size of a pixel on the mesh.
  Colour colour(const Spot& spot, double footprint) const;

 private:
  struct Corners {
    std::uint32_t at[3];
  };

  static void filter(const RTCFilterFunctionNArguments* arguments);
  void read(const std::filesystem::path& file);
  void fit();
  void build();
  void bake();
  Vec3 mean(const std::vector<Vec3>& values, const Spot& spot) const;
  Spot spot_at(std::uint32_t triangle, const Vec3& p) const;

  std::vector<Vec3> points_, normals_, coordinates_;  // the coordinates are those of the pictures
  std::vector<float> openness_;
  std::vector<Corners> triangles_;
  std::vector<std::uint16_t> material_of_;
  std::vector<Material> materials_;
  RTCSceneTy* scene_ = nullptr;
};

// A mesh of a given size, with dents and dirt of its own.
class Placed : public synth::Solid {
 public:
  // `pixel` is the size of a pixel at the mesh.
  Placed(std::shared_ptr<const Mesh> mesh, const Vec3& size, const Colour& tint, double pixel, std::uint32_t seed);

  double hit(const Vec3& o, const Vec3& d, double t_min) const override;
  Vec3 normal(const Vec3& p) const override;
  Colour colour(const Vec3& p) const override;
  void bounds(Vec3& low, Vec3& high) const override;

 private:
  Vec3 inside(const Vec3& p) const { return {p.x / size_.x, p.y / size_.y, p.z / size_.z}; }
  Mesh::Spot spot_at(const Vec3& p) const;

  std::shared_ptr<const Mesh> mesh_;
  Vec3 size_;
  Colour tint_;
  double pixel_, cell_, depth_, dirt_;  // the cell and the depth are those of the dents
  std::uint32_t seed_;
};

}  // namespace stereopsis::meshes
