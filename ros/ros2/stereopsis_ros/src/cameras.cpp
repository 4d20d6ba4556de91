#include "cameras.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis_ros {
namespace {

using namespace stereopsis;
using sensor_msgs::msg::CameraInfo;

constexpr std::array<double, 9> identity = {1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr std::size_t most_known = 8;

// A folder that is removed with the object.
struct TemporaryFolder {
  std::filesystem::path path;

  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "stereopsis-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(ErrorCategory::file, "the folder " + name + " cannot be made; set TMPDIR");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// ROS defines that the matrices of cameras that are not calibrated are 0.
bool is_calibrated(const CameraInfo& info) { return info.k[0] != 0 || info.p[0] != 0; }

bool is_rectified(const CameraInfo& info) {
  const std::array<double, 9> square = {info.p[0], info.p[1], info.p[2], info.p[4], info.p[5],
                                        info.p[6], info.p[8], info.p[9], info.p[10]};
  return std::none_of(info.d.begin(), info.d.end(), [](double d) { return d != 0; }) && info.r == identity &&
         info.k == square;
}

bool is_finite(const CameraInfo& info) {
  const auto all = [](const auto& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double one) { return std::isfinite(one); });
  };
  return all(info.d) && all(info.k) && all(info.r) && all(info.p);
}

// Returns the contents of the message that describe the camera.
CameraInfo camera_of(const CameraInfo& message) {
  CameraInfo info = message;
  info.header = std_msgs::msg::Header();
  if (info.r == std::array<double, 9>{}) info.r = identity;
  if (info.d.empty()) info.d = {0};
  return info;
}

std::string text_of(const CameraInfo& info) {
  std::ostringstream out;
  out.precision(17);
  to_block_style_yaml(info, out, 0);
  return out.str();
}

// Reads the cameras from two files, as `ros2 topic echo` writes them. Returns `read(left, right)`.
template <class Read>
auto from_files(const std::array<std::string, 2>& texts, Read read) {
  const TemporaryFolder folder;
  const auto left = folder.path / "left camera_info", right = folder.path / "right camera_info";
  write_text(left, texts[0]), write_text(right, texts[1]);
  try {
    return read(left, right);
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string name = folder.path.string() + "/";
    for (std::size_t at; (at = text.find(name)) != std::string::npos;) text.erase(at, name.size());
    throw Error(error.category(), text);
  }
}

Cameras cameras_of(const std::array<std::string, 2>& texts, bool is_raw) {
  if (!is_raw) {
    const Rig rig = from_files(texts, [](const auto& left, const auto& right) { return read_rig(left, right); });
    return {.size = rig.size, .rig = rig, .calibration = {}, .maps = {}};
  }
  const auto raw = from_files(texts, [](const auto& left, const auto& right) { return read_calibration(left, right); });
  return {raw.size, raw.rig, raw, std::make_shared<const RectificationMaps>(rectification_maps(raw))};
}

std::string number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

std::shared_ptr<const Cameras> CameraReader::read(const CameraInfo& left_message, const CameraInfo& right_message) {
  const CameraInfo left = camera_of(left_message), right = camera_of(right_message);
  if (!is_calibrated(left) && !is_calibrated(right)) return nullptr;
  const std::array<std::string, 2> texts = {text_of(left), text_of(right)};
  if (const auto found = known_.find(texts); found != known_.end()) return found->second;
  for (const CameraInfo* info : {&left, &right})
    if (!is_finite(*info))
      throw Error(ErrorCategory::format,
                  std::string("the ") + (info == &left ? "left" : "right") +
                      " camera_info has a number that is not finite; calibrate the camera again");
  const bool is_raw = is_raw_ && !(is_rectified(left) && is_rectified(right));
  auto made = std::make_shared<const Cameras>(cameras_of(texts, is_raw));
  if (known_.size() == most_known) known_.clear();
  return known_[texts] = std::move(made);
}

std::string fault_of_projections(const CameraInfo& left, const CameraInfo& right) {
  const std::string remedy = "; set it to −f · baseline";
  if (!is_calibrated(left) || !is_calibrated(right)) return "";
  if (left.p[0] == 0 || right.p[0] == 0)
    return "P of a camera_info is all zeros, but K has the focal length " + number(left.k[0]) +
           "; calibrate both cameras together";
  if (left.p[3] == right.p[3])
    return "P[3] of both camera_info is " + number(right.p[3]) + ", so the baseline is not known" + remedy +
           " for the right camera";
  if (right.p[3] > left.p[3])
    return "P[3] of the right camera_info is " + number(right.p[3]) +
           ", as if the right camera were to the left of the left one" + remedy;
  return "";
}

PosedCamera rectified_camera(const Rig& rig, Size size) {
  PosedCamera camera;
  camera.lens.fx = camera.lens.fy = rig.focal, camera.lens.cx = rig.cx_left, camera.lens.cy = rig.cy;
  camera.size = size;
  return camera;
}

CameraInfo info_of(const PosedCamera& camera) {
  const Lens& lens = camera.lens;
  const auto last = std::find_if(lens.distortion.rbegin(), lens.distortion.rend(), [](double d) { return d != 0; });
  const auto used = lens.distortion.rend() - last;
  const bool is_fisheye = lens.model == Lens::Model::fisheye;
  CameraInfo info;
  info.width = static_cast<std::uint32_t>(camera.size.width),
  info.height = static_cast<std::uint32_t>(camera.size.height);
  info.distortion_model = is_fisheye ? "equidistant" : used > 5 ? "rational_polynomial" : "plumb_bob";
  info.d.assign(lens.distortion.begin(), lens.distortion.begin() + (is_fisheye ? 4 : used > 8 ? 12 : used > 5 ? 8 : 5));
  info.k = {lens.fx, 0, lens.cx, 0, lens.fy, lens.cy, 0, 0, 1};
  info.r = identity;
  info.p = {lens.fx, 0, lens.cx, 0, 0, lens.fy, lens.cy, 0, 0, 0, 1, 0};
  return info;
}

}  // namespace stereopsis_ros
