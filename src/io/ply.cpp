// PLY, binary little-endian: x, y, z, and, if available, red, green, blue and confidence. An organised cloud stores its
// width and height as obj_info num_cols and num_rows.
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "io/codecs.hpp"
#include "io/file.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {
namespace {

struct Cloud {
  ImageView<const float> points;
  ImageView<const std::uint8_t> colour;
  ImageView<const float> confidence;

  bool valid(int x, int y) const {
    return std::isfinite(points(x, y, 0)) && std::isfinite(points(x, y, 1)) && std::isfinite(points(x, y, 2));
  }
};

void check_cloud(const Cloud& cloud) {
  if (cloud.points.empty() || cloud.points.channels != 3)
    throw Error(ErrorCategory::call,
                text("the points of a cloud must have 3 channels and at least one pixel; these have ",
                     cloud.points.channels, " and ", cloud.points.width, "×", cloud.points.height));
  const auto check_size = [&](const char* what, const auto& image, bool channels_fit) {
    if (!image.empty() && (image.size() != cloud.points.size() || !channels_fit))
      throw Error(ErrorCategory::call, text("the ", what, " of the cloud is ", image.width, "×", image.height, " with ",
                                            image.channels, " channels, which does not match the size of the points, ",
                                            cloud.points.width, "×", cloud.points.height));
  };
  check_size("colour", cloud.colour, cloud.colour.channels == 1 || cloud.colour.channels == 3);
  check_size("confidence", cloud.confidence, cloud.confidence.channels == 1);
}

void append_vertex(std::string& file, const Cloud& cloud, int x, int y) {
  const bool valid = cloud.valid(x, y);
  for (int c = 0; c < 3; ++c)
    io::append(file, valid ? cloud.points(x, y, c) : std::numeric_limits<float>::quiet_NaN(), std::endian::little);
  if (!cloud.colour.empty())
    for (int c = 0; c < 3; ++c)
      io::append(file, cloud.colour(x, y, cloud.colour.channels == 3 ? c : 0), std::endian::little);
  if (!cloud.confidence.empty()) io::append(file, cloud.confidence(x, y), std::endian::little);
}

}  // namespace

void write_point_cloud(const std::filesystem::path& file, ImageView<const float> points,
                       ImageView<const std::uint8_t> colour, ImageView<const float> confidence, bool organised) {
  const Cloud cloud{points, colour, confidence};
  io::naming(file, [&] { check_cloud(cloud); });
  std::string vertices;
  std::size_t count = 0;
  for (int y = 0; y < points.height; ++y)
    for (int x = 0; x < points.width; ++x) {
      if (!organised && !cloud.valid(x, y)) continue;
      append_vertex(vertices, cloud, x, y);
      ++count;
    }
  std::string header = "ply\nformat binary_little_endian 1.0\n";
  if (organised) header += text("obj_info num_cols ", points.width, "\nobj_info num_rows ", points.height, "\n");
  header += text("element vertex ", count, "\nproperty float x\nproperty float y\nproperty float z\n");
  if (!colour.empty()) header += "property uchar red\nproperty uchar green\nproperty uchar blue\n";
  if (!confidence.empty()) header += "property float confidence\n";
  io::write_file(file, header + "end_header\n" + vertices);
}

}  // namespace stereopsis
