// Readers of camera files of photogrammetry programs: COLMAP's cameras.txt with rigs.txt or images.txt, and Agisoft's
// XML.
#include <algorithm>
#include <array>
#include <sstream>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "io/tokens.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

using Words = std::vector<std::string>;

Words words_of_row(const Document& file, int row) {
  std::istringstream stream(file.word(text("row ", row)));
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

double number_at(const Words& words, std::size_t i, const char* what) {
  if (i >= words.size()) refuse(text("a row of ", what, " ends after ", words.size(), " values; the file is cut off"));
  const auto number = parse_number<double>(words[i]);
  if (!number) refuse(text("a row of ", what, " holds '", Tokens::printable(words[i]), "', which is not a number"));
  return *number;
}

// A camera model of COLMAP: the indices of the parameters that are fx, fy, cx, cy and OpenCV's coefficients.
struct ColmapModel {
  const char* name;
  int focals;  // 1 if both directions have the same focal length, else 2
  Lens::Model model;
  // Indices of the parameters after the principal point, in the order of OpenCV's coefficients.
  std::vector<std::size_t> coefficients;
};

const std::vector<ColmapModel>& colmap_models() {
  static const std::vector<ColmapModel> models = {
      {"SIMPLE_PINHOLE", 1, Lens::Model::polynomial, {}},
      {"PINHOLE", 2, Lens::Model::polynomial, {}},
      {"SIMPLE_RADIAL", 1, Lens::Model::polynomial, {0}},
      {"RADIAL", 1, Lens::Model::polynomial, {0, 1}},
      {"OPENCV", 2, Lens::Model::polynomial, {0, 1, 2, 3}},
      {"FULL_OPENCV", 2, Lens::Model::polynomial, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"SIMPLE_RADIAL_FISHEYE", 1, Lens::Model::fisheye, {0}},
      {"RADIAL_FISHEYE", 1, Lens::Model::fisheye, {0, 1}},
      {"OPENCV_FISHEYE", 2, Lens::Model::fisheye, {0, 1, 2, 3}},
  };
  return models;
}

bool is_colmap_camera(const Words& words) {
  return words.size() >= 7 && !words[1].empty() && words[1][0] >= 'A' && words[1][0] <= 'Z' &&
         words[1].find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos &&
         parse_number<double>(words[2]) && parse_number<double>(words[3]);
}

struct ColmapCamera {
  std::string id;
  Size size;
  Lens lens;
};

// Reads a row CAMERA_ID MODEL WIDTH HEIGHT PARAMETERS…; the centre of the first pixel is at (0.5, 0.5).
ColmapCamera colmap_camera(const Words& words) {
  const auto& models = colmap_models();
  const auto model =
      std::find_if(models.begin(), models.end(), [&](const ColmapModel& m) { return m.name == words[1]; });
  if (model == models.end()) {
    std::vector<std::string> names;
    for (const ColmapModel& known : models) names.push_back(known.name);
    refuse(text("camera ", words[0], " has the model ", Tokens::printable(words[1], 40),
                ", which is not supported; supported are ", join(names, ", ")));
  }
  const auto number = [&](std::size_t i) { return number_at(words, i, "cameras.txt"); };
  const std::size_t centre = model->focals == 1 ? 5 : 6;
  std::vector<double> coefficients(8);
  for (const std::size_t i : model->coefficients) coefficients[i] = number(centre + 2 + i);
  if (model->model == Lens::Model::fisheye) coefficients.resize(4);
  return {words[0], size_of(number(2), number(3)),
          lens_of({number(4), number(centre - 1), number(centre) - 0.5, number(centre + 1) - 0.5}, model->model,
                  coefficients, text("camera ", words[0]))};
}

Pose colmap_pose(const Words& words, std::size_t first, const char* what) {
  std::array<double, 7> q{};
  for (std::size_t i = 0; i < 7; ++i) q[i] = number_at(words, first + i, what);
  if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0))
    refuse("a quaternion is 0, which is not a rotation; correct the file");
  return {rotation_of_quaternion(q[0], q[1], q[2], q[3]), {q[4], q[5], q[6]}};
}

// A camera and its pose, relative to the rig or the world.
struct Placed {
  std::string camera;
  Pose pose;
};

// Reads a row RIG_ID NUM_SENSORS CAMERA REFERENCE (CAMERA ID 1 QW QX QY QZ TX TY TZ)…
std::vector<Placed> placed_in_rig(const Words& words) {
  std::vector<Placed> placed = {{words[3], {}}};
  for (std::size_t i = 4; i + 2 < words.size(); i += words[i + 2] == "1" ? 10 : 3)
    if (words[i] == "CAMERA" && words[i + 2] == "1")
      placed.push_back({words[i + 1], colmap_pose(words, i + 3, "rigs.txt")});
  return placed;
}

// Reads rows IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME. Each is followed by a row of points, which may be empty.
std::vector<Placed> placed_in_images(const Document& file) {
  std::vector<Placed> placed;
  for (int row = 1; row <= file.rows(); ++row) {
    const Words words = words_of_row(file, row);
    if (words.size() == 10 && !parse_number<double>(words[9]))
      placed.push_back({words[8], colmap_pose(words, 1, "images.txt")});
  }
  return placed;
}

// Returns both cameras of the pair with their poses.
std::vector<Placed> colmap_poses(const Inputs& inputs) {
  for (const Document& file : inputs.files) {
    const Words words = words_of_row(file, 1);
    if (is_colmap_camera(words)) continue;
    auto placed = words.size() > 4 && words[2] == "CAMERA" ? placed_in_rig(words) : placed_in_images(file);
    if (placed.size() != 2)
      refuse(text("there are ", placed.size(),
                  " cameras with poses; a stereo calibration must have two, in the first rig of rigs.txt or as the two "
                  "images of images.txt; keep the rows of the left and the right image of one moment in images.txt"));
    return placed;
  }
  throw Error(ErrorCategory::call,
              "COLMAP's cameras.txt has no poses; give rigs.txt or images.txt, too, or the folder with both");
}

// A document of Agisoft with one chunk: sensors, and cameras with their poses.
class Agisoft {
 public:
  explicit Agisoft(const Document& file) : file_(file), chunk_(file.has_below("chunk.0") ? "chunk.0." : "chunk.") {
    for (const std::string& id : file.names_below(chunk_ + "cameras.camera"))
      if (file.has(camera(id) + "transform")) cameras_.push_back(id);
    if (cameras_.size() != 2)
      refuse(text("there are ", cameras_.size(), " aligned cameras; a stereo calibration must have two"));
  }

  RawPair pair() const {
    RawPair pair;
    std::tie(pair.left, pair.size) = lens(cameras_[0]);
    Size right_size;
    std::tie(pair.right, right_size) = lens(cameras_[1]);
    if (right_size != pair.size) refuse("the images of both cameras differ in size; both must have the same size");
    pair.right_from_left = after(pose(cameras_[1]).inverse(), pose(cameras_[0]));
    // A chunk with a scale is in metres. A chunk without a scale is in an arbitrary unit.
    const std::string scale = chunk_ + "transform.scale";
    for (double& t : pair.right_from_left.translation) t *= file_.number_or(scale, 1);
    if (file_.has(scale)) pair.unit = "m";
    return pair;
  }

 private:
  std::string camera(const std::string& id) const { return text(chunk_, "cameras.camera.", id, '.'); }
  Pose pose(const std::string& id) const { return pose_of(file_, camera(id) + "transform"); }

  // cx and cy are relative to the middle of the image; p1 and p2 are exchanged relative to OpenCV's order.
  std::pair<Lens, Size> lens(const std::string& id) const {
    const std::string sensor = Tokens::printable(file_.word(camera(id) + "sensor_id"));
    const std::string start = text(chunk_, "sensors.sensor.", sensor, ".calibration.");
    const auto number = [&](const char* name) { return file_.number_or(start + name, 0); };
    const Size size = size_under(file_, start + "resolution.width", start + "resolution.height");
    if (size == Size{}) refuse(text("there is no ", start, "resolution in the file; the file is cut off"));
    for (const char* name : {"b2", "p3", "p4"})
      if (number(name) != 0)
        refuse(text(start, name, " is ", number_text(number(name)), ", which is not supported; fix it to 0"));
    const std::string type = file_.word(start + "type");
    const bool fisheye = type == "fisheye" || type == "equidistant_fisheye";
    if (!fisheye && !type.empty() && type != "frame")
      refuse(text(start, "type is '", Tokens::printable(type, 40),
                  "', which is not supported; calibrate with frame or equidistant_fisheye"));
    const char* const unsupported = fisheye ? "p1" : "k4";
    if (number(unsupported) != 0)
      refuse(
          text(start, unsupported, " is ", number_text(number(unsupported)), ", which is not supported; fix it to 0"));
    const double f = file_.number(start + "f");
    const std::vector<double> d =
        fisheye ? std::vector{number("k1"), number("k2"), number("k3"), number("k4")}
                : std::vector{number("k1"), number("k2"), number("p2"), number("p1"), number("k3")};
    return {
        lens_of({f + number("b1"), f, (size.width - 1) / 2.0 + number("cx"), (size.height - 1) / 2.0 + number("cy")},
                fisheye ? Lens::Model::fisheye : Lens::Model::polynomial, d, start),
        size};
  }

  const Document& file_;
  std::string chunk_;
  std::vector<std::string> cameras_;
};

}  // namespace

bool is_colmap(const Inputs& inputs) {
  return std::any_of(inputs.files.begin(), inputs.files.end(),
                     [](const Document& file) { return file.rows() > 0 && is_colmap_camera(words_of_row(file, 1)); });
}

CalibrationFile read_colmap(const Inputs& inputs) {
  const std::vector<Placed> placed = colmap_poses(inputs);
  const auto camera = [&](const std::string& id) {
    for (const Document& file : inputs.files)
      for (int row = 1; row <= file.rows(); ++row)
        if (const Words words = words_of_row(file, row); is_colmap_camera(words) && words[0] == id)
          return colmap_camera(words);
    refuse(text("there is no camera ", Tokens::printable(id), " in cameras.txt, which a pose names"));
  };
  const ColmapCamera left = camera(placed[0].camera), right = camera(placed[1].camera);
  if (left.size != right.size) refuse("the images of both cameras differ in size; both must have the same size");
  return computed_left_first({left.size, left.lens, right.lens, after(placed[1].pose, placed[0].pose.inverse()), ""});
}

bool is_agisoft(const Inputs& inputs) {
  return inputs.first().has_below("chunk.sensors") || inputs.first().has_below("chunk.0.sensors");
}

CalibrationFile read_agisoft(const Inputs& inputs) { return computed_left_first(Agisoft(inputs.first()).pair()); }

}  // namespace stereopsis::io
