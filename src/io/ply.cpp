// Point clouds and meshes. PLY, binary little-endian: x, y, z, and, if available, nx, ny, nz, red, green, blue and
// confidence; an organised cloud stores its width and height as obj_info num_cols and num_rows. PCD 0.7, binary: the
// same fields, with the colours packed in `rgb` as the Point Cloud Library reads them.
#include <array>
#include <string>

#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/file.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/point_cloud_files.hpp"

namespace stereopsis {
namespace {

template <class T>
void append(std::string& file, T value) {
  io::append(file, value, std::endian::little);
}

void append_floats(std::string& file, const std::array<float, 3>& values) {
  for (const float value : values) append(file, value);
}

std::string ply_vertices(const PointCloud& cloud) {
  std::string vertices;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    append_floats(vertices, cloud.points[i]);
    if (!cloud.normals.empty()) append_floats(vertices, cloud.normals[i]);
    if (!cloud.colors.empty())
      for (const std::uint8_t channel : cloud.colors[i]) append(vertices, channel);
    if (!cloud.confidence.empty()) append(vertices, cloud.confidence[i]);
  }
  return vertices;
}

std::string ply_header(const PointCloud& cloud, Size organised) {
  std::string header = "ply\nformat binary_little_endian 1.0\n";
  if (organised != Size{})
    header += text("obj_info num_cols ", organised.width, "\nobj_info num_rows ", organised.height, "\n");
  header += text("element vertex ", cloud.points.size(), "\nproperty float x\nproperty float y\nproperty float z\n");
  if (!cloud.normals.empty()) header += "property float nx\nproperty float ny\nproperty float nz\n";
  if (!cloud.colors.empty()) header += "property uchar red\nproperty uchar green\nproperty uchar blue\n";
  if (!cloud.confidence.empty()) header += "property float confidence\n";
  return header;
}

std::string pcd(const PointCloud& cloud, Size organised) {
  std::string fields = "x y z", sizes = "4 4 4", types = "F F F", counts = "1 1 1", points;
  const auto add = [&](const char* names, int count, char type) {
    fields += std::string(" ") + names;
    for (int i = 0; i < count; ++i) {
      sizes += " 4";
      types += std::string(" ") + type;
      counts += " 1";
    }
  };
  if (!cloud.normals.empty()) add("normal_x normal_y normal_z", 3, 'F');
  if (!cloud.colors.empty()) add("rgb", 1, 'U');
  if (!cloud.confidence.empty()) add("confidence", 1, 'F');
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    append_floats(points, cloud.points[i]);
    if (!cloud.normals.empty()) append_floats(points, cloud.normals[i]);
    if (!cloud.colors.empty()) {
      const auto [r, g, b] = cloud.colors[i];
      append(points, static_cast<std::uint32_t>(r) << 16 | static_cast<std::uint32_t>(g) << 8 | b);
    }
    if (!cloud.confidence.empty()) append(points, cloud.confidence[i]);
  }
  const std::size_t count = cloud.points.size(),
                    width = organised == Size{} ? count : static_cast<std::size_t>(organised.width),
                    height = organised == Size{} ? 1 : static_cast<std::size_t>(organised.height);
  return text("# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS ", fields, "\nSIZE ", sizes, "\nTYPE ",
              types, "\nCOUNT ", counts, "\nWIDTH ", width, "\nHEIGHT ", height, "\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS ",
              count, "\nDATA binary\n") +
         points;
}

void check_properties(const PointCloud& cloud) {
  const std::size_t count = cloud.points.size();
  for (const std::size_t size : {cloud.normals.size(), cloud.colors.size(), cloud.confidence.size()})
    if (size != 0 && size != count)
      throw Error(ErrorCategory::call, text("a property of the cloud has ", size, " values, but there are ", count,
                                            " points; each property must have one value per point, or none"));
}

void write_ply(const std::filesystem::path& file, const PointCloud& cloud, Size organised) {
  io::write_file(file, ply_header(cloud, organised) + "end_header\n" + ply_vertices(cloud));
}

}  // namespace

void write_point_cloud(const std::filesystem::path& file, const PointCloud& cloud, Size organised) {
  io::naming(file, [&] { check_properties(cloud); });
  if (io::lower_extension(file) == ".pcd") return io::write_file(file, pcd(cloud, organised));
  write_ply(file, cloud, organised);
}

void write_point_cloud(const std::filesystem::path& file, ImageView<const float> points,
                       ImageView<const std::uint8_t> colour, ImageView<const float> confidence, bool organised) {
  const PointCloud cloud = io::naming(file, [&] { return point_cloud(points, colour, confidence, {}, organised); });
  write_ply(file, cloud, organised ? points.size() : Size{});
}

void write_mesh(const std::filesystem::path& file, const Mesh& mesh) {
  io::naming(file, [&] { check_properties(mesh.vertices); });
  std::string faces;
  for (const auto& triangle : mesh.triangles) {
    append(faces, std::uint8_t{3});
    for (const std::uint32_t index : triangle) append(faces, index);
  }
  io::write_file(file, ply_header(mesh.vertices, {}) +
                           text("element face ", mesh.triangles.size(),
                                "\nproperty list uchar uint vertex_indices\nend_header\n") +
                           ply_vertices(mesh.vertices) + faces);
}

}  // namespace stereopsis
