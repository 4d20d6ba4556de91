// Reads poses and optical flow: stereopsis/seed_files.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/text.hpp"
#include "geometry/rotations.hpp"
#include "io/codecs.hpp"
#include "io/file.hpp"
#include "io/tokens.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/seed_files.hpp"

namespace stereopsis {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::format, sentence); }

// The numbers of a line, after its name, such as "Tr:".
struct Line {
  std::string name;
  std::vector<double> numbers;
};

std::vector<Line> lines_of(std::string_view contents) {
  std::vector<Line> lines;
  for (std::string line : split(contents, '\n')) {
    std::ranges::replace_if(
        line, [](char c) { return c == '\r' || c == '\t' || c == ','; }, ' ');
    Line read;
    for (const std::string& word : split(line, ' ')) {
      if (word.empty()) continue;
      if (const auto number = parse_number<double>(word))
        read.numbers.push_back(*number);
      else if (read.name.empty() && read.numbers.empty())
        read.name = word.ends_with(':') ? word.substr(0, word.size() - 1) : word;
      else
        refuse(text("'", io::Tokens::printable(word), "' is no number; a pose has 12 or 16 numbers"));
    }
    if (!read.name.empty() || !read.numbers.empty()) lines.push_back(std::move(read));
  }
  return lines;
}

Pose pose_of(const std::vector<double>& m) {
  if (m.size() == 16 && (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1))
    refuse("the last row of a 4×4 pose must be 0 0 0 1");
  if (m.size() != 12 && m.size() != 16)
    refuse(text("a pose has 12 or 16 numbers, the rows of a 3×4 or 4×4 matrix, and there are ", m.size()));
  const Pose pose{{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}, {m[3], m[7], m[11]}};
  if (!is_rotation(pose.rotation, rotation_tolerance))
    refuse("the 3×3 part of the pose is no rotation; its rows must be orthonormal and right-handed");
  return pose;
}

// KITTI's Tr leads to the first grey camera, and the projection of another camera, P, has the way from there.
Pose pose_of_kitti(const std::map<std::string, std::vector<double>>& lines, KittiPair pair) {
  Pose pose = pose_of(lines.at("Tr"));
  const bool has_grey = lines.contains("P0") && lines.contains("P1"), has_colour = lines.contains("P2");
  const bool in_colour = pair == KittiPair::colour || (pair == KittiPair::any ? has_colour : !has_grey);
  const auto camera = lines.find(in_colour ? "P2" : "P0");
  if (camera == lines.end()) return pose;
  const std::vector<double>& p = camera->second;
  if (p.size() != 12 || !(p[0] > 0)) refuse(text(camera->first, " must have 12 numbers, and a focal length above 0"));
  pose.translation[0] += (p[3] - p[2] * p[11]) / p[0];
  pose.translation[1] += (p[7] - p[6] * p[11]) / p[5];
  pose.translation[2] += p[11];
  return pose;
}

Pose decode_pose(std::string_view contents, KittiPair pair) {
  std::vector<double> numbers;
  std::map<std::string, std::vector<double>> named;
  for (Line& line : lines_of(contents))
    if (line.name.empty())
      numbers.insert(numbers.end(), line.numbers.begin(), line.numbers.end());
    else
      named[line.name] = std::move(line.numbers);
  if (named.contains("Tr")) return pose_of_kitti(named, pair);
  if (!named.empty())
    refuse(text("the file has a line '", io::Tokens::printable(named.begin()->first),
                "'; a pose is a 3×4 or 4×4 matrix, or a calib.txt of KITTI odometry with a line 'Tr:'"));
  return pose_of(numbers);
}

// Middlebury's .flo: the mark PIEH, width, height, and two floats a pixel; above 10⁹ where unknown.
Image<float> decode_flo(std::string_view file) {
  constexpr std::size_t header = 12;
  if (!file.starts_with("PIEH") || file.size() < header) refuse("the file does not begin with PIEH, the mark of .flo");
  const auto number = [&]<class T>(std::size_t at, T) {
    std::array<char, sizeof(T)> bytes;
    std::copy_n(file.data() + at, sizeof(T), bytes.begin());
    return std::bit_cast<T>(bytes);  // little-endian, as all machines that are supported
  };
  const auto width = number(4, std::int32_t{}), height = number(8, std::int32_t{});
  if (width < 1 || height < 1 || width > 65536 || height > 65536 ||
      file.size() - header != std::size_t{8} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height))
    refuse(text("the header says ", width, "×", height, " pixels, and the file has ", file.size(), " bytes"));
  Image<float> flow(width, height, 2);
  std::size_t at = header;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < 2 * width; ++x, at += 4) {
      const float value = number(at, float{});
      flow.row(y)[x] = std::abs(value) < 1e9F ? value : std::numeric_limits<float>::quiet_NaN();
    }
  return flow;
}

// KITTI's flow: 64 (u + 512), 64 (v + 512), and 0 where unknown.
Image<float> flow_of_kitti(const AnyImageView& image) {
  if (image.type != PixelType::u16 || image.channels != 3) refuse("a flow as .png must be 16-bit RGB, as KITTI has it");
  const auto values = image.as<std::uint16_t>();
  Image<float> flow(values.size(), 2, std::numeric_limits<float>::quiet_NaN());
  for (int y = 0; y < values.height; ++y)
    for (int x = 0; x < values.width; ++x)
      if (values(x, y, 2) != 0)
        for (int c = 0; c < 2; ++c) flow(x, y, c) = (static_cast<float>(values(x, y, c)) - 32768) / 64;
  return flow;
}

Image<float> flow_of_array(const AnyImageView& array) {
  if (array.type != PixelType::f32 || array.channels != 2)
    refuse("a flow as .npy must have the shape (height, width, 2) and the type float32 or float64");
  return Image<float>(array.as<float>());
}

}  // namespace

Pose read_pose(const fs::path& file, KittiPair pair) {
  const std::string contents = read_text(file);
  return io::naming(file, [&] { return decode_pose(contents, pair); });
}

std::vector<Pose> read_poses(const fs::path& file) {
  const std::string contents = read_text(file);
  return io::naming(file, [&] {
    std::vector<Pose> poses;
    for (const Line& line : lines_of(contents)) poses.push_back(pose_of(line.numbers));
    if (poses.empty()) refuse("the file has no pose; each line must have the 12 numbers of one frame");
    return poses;
  });
}

Image<float> read_flow(const fs::path& file) {
  const std::string extension = io::lower_extension(file);
  if (extension == ".npy") {
    const AnyImage array = read_volume(file);
    return io::naming(file, [&] { return flow_of_array(array); });
  }
  if (extension == ".png") {
    const AnyImage image = read_image(file);
    return io::naming(file, [&] { return flow_of_kitti(image); });
  }
  const std::string contents = io::read_file(file);
  return io::naming(file, [&] { return decode_flo(contents); });
}

}  // namespace stereopsis
