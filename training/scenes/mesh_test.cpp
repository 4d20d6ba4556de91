// Scenes of meshes have exact truth: a few meshes are written, placed and rendered.
#include "mesh.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "furnish.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/synth.hpp"
#include "synth/paint.hpp"
#include "synth/scenes.hpp"

namespace stereopsis::mesh_test {
namespace {

namespace fs = std::filesystem;
using meshes::Mesh;
using meshes::Placed;
using synth::Builder;
using synth::RigGeometry;
using synth::Vec3;

// A folder with a pack of a cube, a ball and a table, which is removed in the end.
class Folder {
 public:
  Folder() : path(fs::temp_directory_path() / ("mesh_test" + std::to_string(::getpid()))) {
    fs::create_directories(path);
    write("cube.obj", cube(0, 0, 0, 1, 1, 1));
    write("ball.obj", ball(24));
    write("table.obj", cube(0, .9, 0, 1, 1, 1) + cube(.4, 0, .4, .6, .9, .6));
    write("objects.tsv",
          "cube.obj\tsmall\t0.3 0.3 0.3\nball.obj\tsmall\t0.25 0.25 0.25\ntable.obj\tfurniture\t1.2 0.7 0.8\n");
  }
  ~Folder() { fs::remove_all(path); }

  void write(const std::string& name, const std::string& contents) const { std::ofstream(path / name) << contents; }

  const fs::path path;

 private:
  // Returns a box; indices count from its first corner.
  static std::string cube(double x0, double y0, double z0, double x1, double y1, double z1) {
    std::string s;
    for (int i = 0; i < 8; ++i)
      s += "v " + std::to_string(i & 1 ? x1 : x0) + " " + std::to_string(i & 2 ? y1 : y0) + " " +
           std::to_string(i & 4 ? z1 : z0) + "\n";
    return s + "f -8 -7 -5 -6\nf -4 -2 -1 -3\nf -8 -6 -2 -4\nf -7 -3 -1 -5\nf -8 -4 -3 -7\nf -6 -5 -1 -2\n";
  }

  static std::string ball(int n) {
    std::string s, faces;
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i < n; ++i) {
        const double t = 2 * M_PI * i / n, p = M_PI * j / n;
        s += "v " + std::to_string(std::sin(p) * std::cos(t)) + " " + std::to_string(std::cos(p)) + " " +
             std::to_string(std::sin(p) * std::sin(t)) + "\n";
        const auto at = [&](int a, int b) { return std::to_string(1 + b * n + a % n) + " "; };
        if (j < n) faces += "f " + at(i, j) + at(i + 1, j) + at(i + 1, j + 1) + at(i, j + 1) + "\n";
      }
    return s + faces;
  }
};

// Sets what scenes are furnished with, while it exists.
class Furnished {
 public:
  explicit Furnished(synth::Furnish function) { synth::furnish() = std::move(function); }
  ~Furnished() { synth::furnish() = {}; }
};

std::shared_ptr<const Placed> placed(const fs::path& file, const Vec3& size) {
  return std::make_shared<Placed>(std::make_shared<Mesh>(file), size, synth::Colour{1, 1, 1}, .01, 7);
}

TEST(Mesh, ACubeOfTrianglesIsABoxOfPanels) {
  const Folder folder;
  const Size size{160, 120};
  const RigGeometry rig(size, 40);
  const Vec3 base{.2, -.6, 2.5}, extent{.7, .9, .5};
  synth::World panels, triangles;
  Builder(panels, rig, 1).box(base, .3, extent, synth::plain(synth::red));
  Builder(triangles, rig, 1).solid(base, .3, placed(folder.path / "cube.obj", extent));
  const synth::View a(panels, size, rig.scale, 0), b(triangles, size, rig.scale, 0);
  int seen = 0, differ = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const synth::Hit wanted = a.trace(x, y, a.candidates(x, y, x, y)), got = b.trace(x, y, b.candidates(x, y, x, y));
      seen += wanted.surface != nullptr;
      if ((wanted.surface == nullptr) != (got.surface == nullptr) || std::abs(wanted.depth - got.depth) > 1e-6)
        ++differ;
    }
  EXPECT_GT(seen, 500);
  EXPECT_EQ(differ, 0);
}

TEST(Mesh, HolesOfAPictureAreHolesOfTheMesh) {
  const Folder folder;
  folder.write("leaf.obj",
               "mtllib leaf.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl leaf\nf "
               "1/1 2/2 3/3 4/4\n");
  folder.write("leaf.mtl", "newmtl leaf\nKd 1 1 1\nmap_Kd leaf.png\n");
  static constexpr unsigned char png[] = {
      // 8×8 pixels; the left half is transparent
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
      0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x08, 0x08, 0x06, 0x00, 0x00, 0x00, 0xc4, 0x0f, 0xbe, 0x8b, 0x00,
      0x00, 0x00, 0x18, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x3c, 0x71, 0xe2, 0x04, 0x03, 0x1a, 0xf8,
      0x8f, 0xcc, 0x61, 0x62, 0x20, 0x00, 0x86, 0x87, 0x02, 0x00, 0x62, 0x91, 0x03, 0x67, 0x5a, 0xae, 0xad,
      0xf5, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  std::ofstream(folder.path / "leaf.png", std::ios::binary)
      .write(reinterpret_cast<const char*>(png), static_cast<std::streamsize>(sizeof png));
  const auto leaf = placed(folder.path / "leaf.obj", {1, 1, 1});
  EXPECT_EQ(leaf->hit({-.3, .5, -2}, {0, 0, 1}, 0), synth::infinity);
  EXPECT_NEAR(leaf->hit({.3, .5, -2}, {0, 0, 1}, 0), 2, 1e-6);
}

class MeshScenes : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Mesh, MeshScenes, testing::Values("room", "interior", "traffic", "thicket"),
                         [](const auto& tested) { return std::string(tested.param); });

Scene furnished_scene(const fs::path& folder, const std::string& name, int* count = nullptr) {
  const meshes::Pack pack(folder);
  const Furnished set([&](Builder& b, const RigGeometry& rig) {
    const std::size_t before = b.world.surfaces.size();
    meshes::furnish(pack, b, rig);
    if (count) *count = static_cast<int>(b.world.surfaces.size() - before);
  });
  return make_scene({.scene = name, .size = {240, 180}, .disparities = 40, .seed = 3});
}

// The visible pixels agree with the truth of the right image, and the other ones are hidden by something nearer.
TEST_P(MeshScenes, VisiblePixelsAreThoseThatNothingHides) {
  const Folder folder;
  int count = 0, visible = 0, hidden = 0, unlike = 0, not_hidden = 0;
  const Scene s = furnished_scene(folder.path, GetParam(), &count);
  EXPECT_GE(count, 3);
  for (int y = 0; y < 180; ++y)
    for (int x = 0; x < 240; ++x) {
      const double d = s.disparity_left(x, y), at = x - d;
      if (at < 1 || at > 238) continue;
      const int i = static_cast<int>(at);
      const double least = std::min(s.disparity_right(i, y), s.disparity_right(i + 1, y)),
                   most = std::max(s.disparity_right(i, y), s.disparity_right(i + 1, y));
      if (s.nonocc_left(x, y) == 255)
        ++visible, unlike += d < least - .3 || d > most + .3;
      else
        ++hidden, not_hidden += most < d + .01;
    }
  EXPECT_GT(visible, 20000);
  EXPECT_LT(unlike, visible / 100);
  EXPECT_GT(hidden, 100);
  EXPECT_LT(not_hidden, hidden / 10);
}

// The right image, moved by the truth, is the left one, and is not if it is moved by a quarter of a pixel more or less.
TEST_P(MeshScenes, ImagesAgreeAtTheTruthAndNotBesideIt) {
  const Folder folder;
  const Scene s = furnished_scene(folder.path, GetParam());
  const auto error = [&](double offset) {
    std::vector<double> errors;
    for (int y = 0; y < 180; ++y)
      for (int x = 0; x < 240; ++x) {
        const double at = x - s.disparity_left(x, y) - offset;
        const int i = static_cast<int>(std::floor(at));
        if (s.nonocc_left(x, y) != 255 || i < 0 || i > 238 || s.left(x, y, 1) > 250) continue;
        if (std::abs(s.left(x, y, 1) - s.left(std::min(x + 1, 239), y, 1)) < 6)
          continue;  // there is nothing to compare
        errors.push_back(
            std::abs((1 - (at - i)) * s.right(i, y, 1) + (at - i) * s.right(i + 1, y, 1) - s.left(x, y, 1)));
      }
    std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
    return errors[errors.size() / 2];
  };
  const double right = error(0);
  EXPECT_LT(right, error(.25));
  EXPECT_LT(right, error(-.25));
  EXPECT_LT(1.5 * right, std::min(error(1), error(-1)));
}

TEST_P(MeshScenes, MeshesTouchWhatTheyStandOn) {
  const Folder folder;
  const meshes::Pack pack(folder.path);
  int count = 0;
  const Furnished set([&](Builder& b, const RigGeometry& rig) {
    const std::size_t before = b.world.surfaces.size();
    meshes::furnish(pack, b, rig);
    for (std::size_t i = before; i < b.world.surfaces.size(); ++i, ++count) {
      const synth::Surface& mesh = b.world.surfaces[i];
      Vec3 low, high;
      mesh.bounds(low, high);
      double gap = synth::infinity;
      for (int k = 0; k < 25; ++k) {
        const Vec3 start = mesh.frame.point({low.x * (1 - (k % 5) / 2.0), .5 * high.y, low.z * (1 - (k / 5) / 2.0)});
        for (std::size_t j = 0; j < i; ++j) {
          const synth::Surface& below = b.world.surfaces[j];
          const Vec3 o = below.frame.local_point(start), d = below.frame.local_direction(-1.0 * b.world.up);
          gap = std::min(gap, std::abs(below.hit(o, d, 0) - .5 * high.y));
        }
      }
      EXPECT_LT(gap, 1e-4 * high.y) << i;
    }
  });
  make_scene({.scene = GetParam(), .size = {240, 180}, .disparities = 40, .seed = 3});
  EXPECT_GE(count, 3);
}

TEST(Mesh, APackWithoutMeshesIsAnError) {
  try {
    const meshes::Pack pack("no-such-folder");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-folder has no objects.tsv"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace stereopsis::mesh_test
