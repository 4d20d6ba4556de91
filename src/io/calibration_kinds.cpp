#include "io/calibration_kinds.hpp"

#include <algorithm>
#include <map>

#include "core/text.hpp"
#include "io/calibration_parsers.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::io {
namespace {

using namespace std::string_view_literals;

// A kind of file, which begins with `start`, and contains `part` if that is not empty.
struct Kind {
  std::string_view start, part;
  const char *name, *remedy;
};

constexpr const char* write_yaml_of_numpy =
    "write its matrices as YAML with Python and OpenCV: fs = cv2.FileStorage('stereo.yml', cv2.FILE_STORAGE_WRITE); "
    "[fs.write(name, matrix) for name, matrix in np.load('stereo.npz').items()]; fs.release()";
constexpr const char* write_yaml_of_matlab =
    "write K1, D1, K2, D2, R and T as YAML with Python: scipy.io.loadmat reads the file, and cv2.FileStorage writes "
    "YAML. MATLAB's cameraParameters and stereoParameters store K and R transposed";
constexpr const char* give_calibration = "give the file of the calibration; images are LEFT and RIGHT";
constexpr const char* give_message =
    "write its camera_info messages to files, one for each camera, with `rostopic echo` or `ros2 topic echo`; "
    "`stereopsis bag` reads them from the bag itself";
constexpr const char* export_text = "export the calibration as YAML, XML, JSON or text";

constexpr Kind kinds[] = {
    {"MATLAB ", "", "a MATLAB file (.mat)", write_yaml_of_matlab},
    {"\x89HDF", "", "an HDF5 file, as MATLAB 7.3 (.mat) and h5py write it", write_yaml_of_matlab},
    {"PK\x03\x04", ".npy", "a NumPy archive (.npz)", write_yaml_of_numpy},
    {"PK\x03\x04", "", "a ZIP archive", "unpack it, and give the calibration in it"},
    {"\x1f\x8b", "", "a gzip archive", "unpack it, and give the calibration in it"},
    {"\x93NUMPY", "", "a NumPy array (.npy)",
     "a calibration has several matrices with names; write them as YAML with "
     "cv2.FileStorage"},
    {"\x80\x02", "", "a Python pickle", write_yaml_of_numpy},
    {"\x80\x03", "", "a Python pickle", write_yaml_of_numpy},
    {"\x80\x04", "", "a Python pickle", write_yaml_of_numpy},
    {"\x80\x05", "", "a Python pickle", write_yaml_of_numpy},
    {"\x89PNG", "", "an image (PNG)", give_calibration},
    {"\xff\xd8\xff", "", "an image (JPEG)", give_calibration},
    {"II*\0"sv, "", "an image (TIFF)", give_calibration},
    {"MM\0*"sv, "", "an image (TIFF)", give_calibration},
    {"#ROSBAG", "", "a ROS bag", give_message},
    {"\x89MCAP", "", "a ROS 2 bag (MCAP)", give_message},
    {"SQLite format 3", "", "an SQLite database, such as a ROS 2 bag (.db3)", give_message},
    {"%PDF", "", "a PDF document", export_text},
    {"<!DOCTYPE html", "", "a web page", "download the file itself (\"Raw\" on GitHub)"},
    {"<!doctype html", "", "a web page", "download the file itself (\"Raw\" on GitHub)"},
    {"<html", "", "a web page", "download the file itself (\"Raw\" on GitHub)"},
    {"version https://git-lfs", "", "a pointer of Git LFS, and not the file itself",
     "fetch the file with git lfs pull"},
    {"", "Intrinsic of \"", "the output of rs-enumerate-devices",
     "the infrared images of a RealSense D400 are rectified: give their Fx with --focal, and the distance between "
     "\"Infrared 1\" and \"Infrared 2\" (Translation Vector, in metres) with --baseline, such as --baseline 0.05m"},
};

std::string lower(std::string_view s) {
  std::string lowered(s);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

bool is_number_row(std::string_view line) {
  return parse_number<double>(line.substr(0, line.find_first_of(" \t"))).has_value();
}

// A heading of an oST file, and the name of the same value in a camera_info.
const std::map<std::string_view, const char*> ost_headings = {
    {"width", "image_width"},
    {"height", "image_height"},
    {"camera matrix", "camera_matrix.data"},
    {"distortion", "distortion_coefficients.data"},
    {"rectification", "rectification_matrix.data"},
    {"projection", "projection_matrix.data"},
};

using Values = std::map<std::string, std::string>;

// Returns the values of each camera, which include the values of the section [image] before it.
std::vector<Values> read_ost(std::string_view text) {
  Values image;
  std::vector<Values> cameras;
  bool in_image = true;
  std::string* value = nullptr;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n')), line = trimmed(whole);
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      value = nullptr;
      if (line.starts_with("[externals]")) continue;
      in_image = line.starts_with("[image]");
      in_image ? image.clear() : cameras.push_back(image);
    } else if (is_number_row(line)) {
      if (value != nullptr) value->append(line).append(" ");
    } else {
      const auto heading = ost_headings.find(line);
      value = heading == ost_headings.end() ? nullptr : &(in_image ? image : cameras.back())[heading->second];
    }
  }
  return cameras;
}

}  // namespace

void check_kind(std::string_view contents) {
  constexpr std::size_t most = 4096;
  const std::string_view head = contents.substr(0, most);
  for (const auto& [start, part, name, remedy] : kinds)
    if (head.starts_with(start) && head.find(part) != std::string_view::npos)
      throw Error(ErrorCategory::format, text("this is ", name, ", not a calibration that can be read; ", remedy));
  if (head.find('\0') != std::string_view::npos)
    throw Error(ErrorCategory::format,
                text("the file holds binary data, and a calibration must be text (YAML, XML, JSON, INI or rows of "
                     "numbers); ",
                     export_text));
}

bool is_ost(std::string_view text) {
  const std::string_view content = trimmed(text);
  return lower(content.substr(0, 20)).starts_with("# ost version");
}

std::vector<Document> parse_ost(std::string_view text) {
  std::vector<Document> cameras;
  for (const Values& camera : read_ost(text)) {
    Document& document = cameras.emplace_back();
    for (const auto& [name, value] : camera) document.add(name, value);
  }
  if (cameras.empty()) throw Error(ErrorCategory::format, "the oST file has no camera; the file is cut off");
  return cameras;
}

}  // namespace stereopsis::io
