// Readers of the factory calibrations of stereo cameras: ZED's SN….conf, RealSense's parameters as JSON, and depthai's
// EEPROM as JSON.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/text.hpp"
#include "io/calibration_parts.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

// The sections of ZED's file, in lower case, and the sizes of their images.
struct ZedSize {
  const char* name;
  Size size;
};
constexpr ZedSize zed_sizes[] = {{"4k", {3840, 2160}},      {"qhdplus", {3200, 1800}}, {"2k", {2208, 1242}},
                                 {"fhd1200", {1920, 1200}}, {"fhd", {1920, 1080}},     {"hd1200", {1920, 1200}},
                                 {"hd", {1280, 720}},       {"svga", {960, 600}},      {"vga", {672, 376}}};

std::string zed_section(const char* side, const std::string& resolution) { return text(side, "_cam_", resolution); }

// Returns whether the principal point of a section is near the middle of images of this size.
bool is_centred(const Document& file, const std::string& resolution, Size size) {
  const std::string section = zed_section("left", resolution);
  return std::abs(file.number(section + ".cx") / size.width - 0.5) < 0.15 &&
         std::abs(file.number(section + ".cy") / size.height - 0.5) < 0.15;
}

// Selects the section for the size of the images.
ZedSize zed_resolution(const Document& file, const Inputs& inputs) {
  std::vector<ZedSize> there;
  std::string list;
  for (const ZedSize& known : zed_sizes)
    if (file.has(zed_section("left", known.name) + ".fx")) {
      there.push_back(known);
      list += text(list.empty() ? "" : ", ", known.size.width, "×", known.size.height);
    }
  if (there.empty()) refuse("there is no section such as LEFT_CAM_HD with fx in the file; the file is cut off");
  if (inputs.options.size == Size{}) {
    if (there.size() == 1) return there[0];
    throw Error(ErrorCategory::call,
                text("the file describes cameras with images of ", list, "; give the size of the images"));
  }
  const Size size = size_of_images(inputs);
  for (const ZedSize& one : there)
    if (one.size == size) return one;
  if (there.size() == 1 && is_centred(file, there[0].name, size)) return {there[0].name, size};
  refuse(text("the file describes cameras with images of ", list, ", but the given images are ", size.width, "×",
              size.height, "; give images of a listed size, or the scale of the images with --calib-scale"));
}

// The coefficients are in the section of the resolution or, for all resolutions, in a section such as LEFT_DISTO.
Lens zed_lens(const Document& file, const char* side, const std::string& resolution,
              const CalibrationOptions& options) {
  const std::string section = zed_section(side, resolution), common = text(side, "_disto.");
  const auto number = [&](const char* name) { return file.number(text(section, '.', name)); };
  const auto or_zero = [&](const char* name) {
    return file.number_or(text(section, '.', name), file.number_or(common + name, 0));
  };
  const std::vector<double> coefficients = {or_zero("k1"), or_zero("k2"), or_zero("p1"), or_zero("p2"),
                                            or_zero("k3"), or_zero("k4"), or_zero("k5"), or_zero("k6")};
  return lens_of({number("fx"), number("fy"), number("cx"), number("cy")},
                 model_of({"ZED's lens", "radtan"}, coefficients, section, options), coefficients, section);
}

// Returns the paths of the objects in a JSON file that have all `fields`.
std::vector<std::string> objects_with(const Document& file, std::initializer_list<const char*> fields,
                                      const std::string& path = "", int depth = 0) {
  std::vector<std::string> found;
  const std::string start = path.empty() ? "" : path + '.';
  if (std::all_of(fields.begin(), fields.end(), [&](const char* field) { return file.has(start + field); }))
    found.push_back(path);
  if (depth == 4) return found;
  for (const std::string& name : file.names_below(path))
    for (std::string& below : objects_with(file, fields, start + name, depth + 1)) found.push_back(std::move(below));
  return found;
}

// Returns the paths of the cameras in a file with one group of numbers per camera: RealSense's ppx and ppy, or cx and
// cy.
std::vector<std::string> named_cameras(const Document& file) {
  auto cameras = objects_with(file, {"fx", "fy", "ppx", "ppy"});
  return cameras.empty() ? objects_with(file, {"fx", "fy", "cx", "cy"}) : cameras;
}

bool names_one_of(std::string path, std::initializer_list<const char*> words) {
  for (char& c : path) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return path.find(word) != std::string::npos; });
}

// Returns the path of the left or right imager from its name, or an empty string.
std::string named_camera(const Document& file, bool left) {
  for (const std::string& path : named_cameras(file))
    if (left ? names_one_of(path, {"left", "infrared1", "infrared_1", "infrared 1", "infra1", "ir1", "ir_1"})
             : names_one_of(path, {"right", "infrared2", "infrared_2", "infrared 2", "infra2", "ir2", "ir_2"}))
      return path + '.';
  return {};
}

// Returns the first of these names that exists in the file after `start`.
std::string name_in(const Document& file, const std::string& start, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (file.has(start + name)) return start + name;
  return start + *names.begin();
}

Lens named_lens(const Document& file, const std::string& start, const CalibrationOptions& options) {
  const auto number = [&](std::initializer_list<const char*> names) {
    return file.number(name_in(file, start, names));
  };
  const std::string d = name_in(file, start, {"coeffs", "distortion_coeffs", "distortion", "dist_coeffs", "D"});
  const std::vector<double> coefficients = file.has(d) ? file.numbers_up_to(d, 14) : std::vector<double>();
  NamedModel named = model_in(file, {(start + "model").c_str(), (start + "distortion_model").c_str()});
  // Without distortion, the models are equivalent: D400 cameras name inverse_brown_conrady for their rectified images.
  if (std::all_of(coefficients.begin(), coefficients.end(), [](double k) { return k == 0; }) &&
      named.model.find("rown") != std::string::npos)
    named.model = "brown_conrady";
  return lens_of({number({"fx"}), number({"fy"}), number({"ppx", "cx"}), number({"ppy", "cy"})},
                 model_of(named, coefficients, d, options), coefficients, start);
}

// Returns the pose between the imagers: rotation and translation, or only the baseline for rectified imagers. Rotations
// of librealsense are stored column by column, and lengths are in metres. The sign determines the direction of the
// pose.
Pose named_pose(const Document& file, bool column_by_column) {
  for (const std::string& path : objects_with(file, {"rotation", "translation"})) {
    if (names_one_of(path, {"color", "colour", "rgb", "depth", "gyro", "accel", "imu"})) continue;
    const std::string start = path.empty() ? "" : path + '.';
    const Matrix3 rotation = rotation_of(file, start + "rotation");
    const Pose pose{column_by_column ? transposed(rotation) : rotation, vector_of(file, start + "translation")};
    return pose.translation[0] > 0 ? pose.inverse() : pose;
  }
  if (file.has("baseline")) return {no_rotation, {-std::abs(file.number("baseline")), 0, 0}};
  if (file.has("baseline_mm")) return {no_rotation, {-std::abs(file.number("baseline_mm")) / 1000, 0, 0}};
  refuse(
      "there is neither rotation and translation between the imagers nor a baseline in the file; export the "
      "extrinsics, "
      "too");
}

constexpr std::initializer_list<const char*> colour_names = {"color", "colour", "rgb"};
constexpr std::initializer_list<const char*> origin_names = {"left",   "infrared1", "infrared_1", "infrared 1",
                                                             "infra1", "ir1",       "ir_1",       "depth"};

std::string colour_camera(const Document& file) {
  for (const std::string& path : named_cameras(file))
    if (names_one_of(path, colour_names)) return path + '.';
  return {};
}

// Returns the pose of the colour camera relative to the left imager, whose frame is that of the depth. The name of the
// extrinsics determines the direction.
Pose colour_pose(const Document& file, bool column_by_column) {
  for (const std::string& path : objects_with(file, {"rotation", "translation"})) {
    const std::size_t to = path.find("_to_");
    if (to == std::string::npos) continue;
    const std::string from_name = path.substr(0, to), to_name = path.substr(to);
    const bool forward = names_one_of(from_name, origin_names) && names_one_of(to_name, colour_names);
    if (!forward && !(names_one_of(from_name, colour_names) && names_one_of(to_name, origin_names))) continue;
    const Matrix3 rotation = rotation_of(file, path + ".rotation");
    const Pose pose{column_by_column ? transposed(rotation) : rotation, vector_of(file, path + ".translation")};
    return forward ? pose : pose.inverse();
  }
  refuse(
      "there are no extrinsics from the left imager to the colour camera; export them with rotation and translation "
      "under the name infrared1_to_color or depth_to_color");
}

// The entries of depthai's cameraData, [socket, {…}], by socket.
class Depthai {
 public:
  explicit Depthai(const Document& file) : file_(file) {}

  int socket(const char* name) const { return static_cast<int>(file_.number(text("stereoRectificationData.", name))); }

  // Returns the common beginning of the names of a camera.
  std::string camera(int socket) const {
    const auto entries = file_.names_below("cameraData");
    const auto sockets = file_.numbers_up_to("cameraData", 64);
    for (std::size_t i = 0; i < std::min(entries.size(), sockets.size()); ++i)
      if (sockets[i] == socket) return text("cameraData.", i, ".1.");
    refuse(text("there is no camera of socket ", socket, " in cameraData; give the calibration of a stereo device"));
  }

  Size size(int socket) const { return size_under(file_, camera(socket) + "width", camera(socket) + "height"); }

  Lens lens(int socket, const CalibrationOptions& options) const {
    const std::string start = camera(socket);
    const double type = file_.number_or(start + "cameraType", 0);
    auto coefficients = file_.numbers_up_to(start + "distortionCoeff", 14);
    const bool fisheye = type == 1;
    if (fisheye) coefficients.resize(std::min<std::size_t>(4, coefficients.size()));  // 14 are stored
    const char* const model = fisheye ? "fisheye" : type == 0 ? "radtan" : "neither perspective nor fisheye";
    return lens_of(numbers_of_matrix(file_, start + "intrinsicMatrix"),
                   model_of({start + "cameraType", model}, coefficients, start, options), coefficients, start);
  }

  // Composes the poses from one socket to another. Translations are in centimetres.
  std::optional<Pose> pose(int from, int to) const {
    Pose pose;
    for (std::set<int> visited; from != to;) {
      const std::string start = camera(from) + "extrinsics.";
      const int next = static_cast<int>(file_.number(start + "toCameraSocket"));
      if (next < 0 || !visited.insert(from).second) return std::nullopt;
      const auto metres = [&](const char* axis) { return file_.number(text(start, "translation.", axis)) / 100; };
      pose = after({rotation_of(file_, start + "rotationMatrix"), {metres("x"), metres("y"), metres("z")}}, pose);
      from = next;
    }
    return pose;
  }

 private:
  const Document& file_;
};

}  // namespace

bool is_zed(const Inputs& inputs) {
  return inputs.first().has_below("stereo") && inputs.first().has("stereo.baseline");
}

// X_right = R·X_left − (Baseline, TY, TZ), in millimetres. R is the rotation by the vector (RX, CV, RZ).
CalibrationFile read_zed(const Inputs& inputs) {
  const Document& file = inputs.first();
  const ZedSize resolution = zed_resolution(file, inputs);
  const auto stereo = [&](const char* name) {
    const std::string of_size = text("stereo.", name, '_', resolution.name);
    return file.has(of_size) ? file.number(of_size) : file.number_or(text("stereo.", name), 0);
  };
  RawPair pair;
  pair.left = zed_lens(file, "left", resolution.name, inputs.options);
  pair.right = zed_lens(file, "right", resolution.name, inputs.options);
  pair.size = resolution.size;
  pair.right_from_left = {rotation_by({stereo("rx"), stereo("cv"), stereo("rz")}),
                          {-file.number("stereo.baseline"), -stereo("ty"), -stereo("tz")}};
  pair.unit = "mm";
  return computed(pair);
}

bool is_realsense(const Inputs& inputs) {
  return !named_camera(inputs.first(), true).empty() || !named_camera(inputs.first(), false).empty();
}

CalibrationFile read_realsense(const Inputs& inputs) {
  const Document& file = inputs.first();
  const std::string left = named_camera(file, true), right = named_camera(file, false);
  if (left.empty() || right.empty())
    refuse(text("there is no camera named ", (left.empty() ? "left or infrared1" : "right or infrared2"),
                " with fx, fy, ppx and ppy in the file; export both imagers"));
  RawPair pair;
  pair.left = named_lens(file, left, inputs.options);
  pair.right = named_lens(file, right, inputs.options);
  pair.size = size_under(file, left + "width", left + "height");
  if (pair.size == Size{}) pair.size = size_of_images(inputs);
  pair.right_from_left = named_pose(file, file.has(left + "ppx"));
  pair.unit = "m";
  return computed(pair);
}

bool has_realsense_third(const Document& file) { return !colour_camera(file).empty(); }

PosedCamera realsense_third(const Document& file) {
  const std::string colour = colour_camera(file);
  const Pose pose = colour_pose(file, file.has(colour + "ppx"));
  const Size size = size_under(file, colour + "width", colour + "height");
  if (size == Size{}) refuse(text("there is no ", colour, "width in the file; add width and height of the camera"));
  return {named_lens(file, colour, {}), size, pose.rotation, pose.translation};
}

bool is_depthai(const Inputs& inputs) {
  return inputs.first().has("cameraData") && inputs.first().has("stereoRectificationData.leftCameraSocket");
}

CalibrationFile read_depthai(const Inputs& inputs) {
  const Depthai device(inputs.first());
  const int left = device.socket("leftCameraSocket"), right = device.socket("rightCameraSocket");
  RawPair pair;
  pair.left = device.lens(left, inputs.options);
  pair.right = device.lens(right, inputs.options);
  pair.size = device.size(left);
  if (pair.size != device.size(right))
    refuse("the images of the left and the right camera differ in size; both must have the same size");
  if (const auto pose = device.pose(left, right))
    pair.right_from_left = *pose;
  else if (const auto back = device.pose(right, left))
    pair.right_from_left = back->inverse();
  else
    refuse("the extrinsics of cameraData do not lead from the left to the right camera; calibrate the device again");
  pair.unit = "m";
  return computed(pair);
}

}  // namespace stereopsis::io
