#include <set>

#include "arrays.hpp"
#include "bindings.hpp"
#include "jobs/call_files.hpp"
#include "stereopsis/dataset.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/point_cloud_files.hpp"

namespace stereopsis::python {
namespace {

using Path = std::filesystem::path;

template <class F>
auto without_gil(F&& f) {
  const nb::gil_scoped_release release;
  return f();
}

void require_pfm(const Path& file) {
  if (file.extension() != ".pfm")
    throw Error(ErrorCategory::call, "'" + file.string() +
                                         "' does not end in .pfm; use read_disparity or "
                                         "write_disparity for other formats");
}

void write(const Path& file, nb::handle array, double scale) {
  const BorrowedArray disparity = host_array(array, "disparity");
  const ImageView<const float> view = disparity.disparity();
  without_gil([&] { write_disparity(file, view, scale); });
}

using Failure = std::pair<Path, std::string>;

std::pair<std::vector<DatasetScene>, std::vector<Failure>> scenes_and_failures(const Path& folder) {
  std::vector<Failure> failures;
  std::vector<DatasetScene> scenes = without_gil([&] {
    return find_scenes(folder,
                       [&](const Path& file, const Error& error) { failures.emplace_back(file, error.what()); });
  });
  return {std::move(scenes), std::move(failures)};
}

nb::dict load_arrays(const DatasetScene& scene) {
  LoadedScene loaded = without_gil([&] { return load_scene(scene); });
  nb::dict arrays, regions;
  for (LoadedScene::Region& region : loaded.regions) regions[region.name.c_str()] = give(std::move(region.mask));
  arrays["bit_depth"] = loaded.left.bit_depth;
  arrays["left"] = give(std::move(loaded.left));
  arrays["right"] = give(std::move(loaded.right));
  arrays["truth"] = give(std::move(loaded.truth));
  arrays["regions"] = regions;
  return arrays;
}

// Files that this process has read images or maps from, so that results do not overwrite them.
class InputFiles {
 public:
  void add(const Path& file) {
    std::error_code failed;
    if (Path found = std::filesystem::canonical(file, failed); !failed) files_.insert(std::move(found));
  }
  bool has(const Path& file) const {
    std::error_code failed;
    return files_.count(std::filesystem::weakly_canonical(file, failed)) > 0;
  }

 private:
  std::set<Path> files_;  // under the GIL
};

InputFiles& input_files() {
  static InputFiles files;
  return files;
}

Image<float> read_map(const Path& file, double scale = 0) {
  input_files().add(file);
  return without_gil([&] { return read_disparity(file, scale); });
}

void write_points(const Path& file, nb::handle points, nb::handle color, nb::handle confidence, bool organised) {
  const auto take = [](nb::handle array, const char* name) {
    return array.is_none() ? BorrowedArray() : host_array(array, name);
  };
  const BorrowedArray given = take(points, "points"), picture = take(color, "color"),
                      sure = take(confidence, "confidence");
  const ImageView<const float> pixels = given.points();
  ImageView<const std::uint8_t> colors;
  ImageView<const float> confidences;
  if (picture.given()) colors = picture.image_8();
  if (sure.given()) confidences = sure.disparity();
  without_gil([&] {
    write_point_cloud(file, point_cloud(pixels, colors, confidences, {}, organised),
                      organised ? pixels.size() : Size{});
  });
}

void write_pixels(const Path& file, nb::handle array) {
  const BorrowedArray image = host_array(array, "image");
  const AnyImageView view = image.image();
  without_gil([&] { write_image(file, view); });
}

}  // namespace

void bind_files(nb::module_& m) {
  nb::class_<DatasetScene>(m, "DatasetScene", "A scene of a dataset: a pair with its ground truth, in files.")
      .def_ro("name", &DatasetScene::name, "Name of the scene.")
      .def_ro("dataset", &DatasetScene::dataset, "Name of the dataset; scenes of one dataset are averaged.")
      .def_ro("folder", &DatasetScene::folder, "Folder with the dataset.json.")
      .def_ro("left", &DatasetScene::left, "File of the left image.")
      .def_ro("right", &DatasetScene::right, "File of the right image.")
      .def_ro("disparities", &DatasetScene::disparities, "Number of disparities of the search range, from 0 upwards.")
      .def("load", &load_arrays, nb::sig("def load(self) -> dict[str, Any]"),
           "Reads the files. Returns `left`, `right`, `bit_depth`, `truth` (NaN where unknown), and `regions`: masks "
           "of\n"
           "counted pixels by name (nonocc, all, disc). Raises FileError and FormatError.");
  nb::class_<jobs::CallFiles>(m, "CallFiles",
                              "All files that a call reads and writes. No result may replace an input or another "
                              "result, whatever names and links are used.")
      .def(nb::init<>())
      .def(
          "reads", [](jobs::CallFiles& files, const Path& file, const std::string& what) { files.reads(file, what); },
          "file"_a, "what"_a, nb::sig("def reads(self, file: str | os.PathLike[str], what: str) -> None"),
          "Adds an input; `what` is its name in errors. Raises CallError.")
      .def("writes", &jobs::CallFiles::writes, "file"_a, "what"_a,
           nb::sig("def writes(self, file: str | os.PathLike[str], what: str) -> None"),
           "Adds a result; `what` is its name in errors. Raises CallError.");
  m.def("find_scenes", &scenes_and_failures, "folder"_a,
        nb::sig("def find_scenes(folder: str | os.PathLike[str]) -> tuple[list[DatasetScene], list[tuple[pathlib.Path, "
                "str]]]"),
        "Returns the scenes in a folder, at any depth, and the files that describe no scene with the error of each.");
  m.def(
      "read_masked_image",
      [](const Path& file) {
        input_files().add(file);
        MaskedImage read = without_gil([&] { return read_masked_image(file); });
        const int bit_depth = read.image.bit_depth;
        const nb::object mask = read.no_data == 0 ? nb::object(nb::none()) : give(std::move(read.mask));
        return nb::make_tuple(give(std::move(read.image)), mask, bit_depth);
      },
      "file"_a,
      nb::sig("def read_masked_image(file: str | os.PathLike[str]) -> tuple[numpy.typing.NDArray[typing.Any], "
              "numpy.typing.NDArray[numpy.uint8] | None, int]"));
  m.def(
      "read_disparity", [](const Path& file, double scale) { return give(read_map(file, scale)); }, "file"_a,
      "scale"_a = 0.0,
      nb::sig("def read_disparity(file: str | os.PathLike[str], scale: float = 0.0) -> "
              "numpy.typing.NDArray[numpy.float32]"),
      "Reads a disparity map, (height, width) float32 in pixels, NaN where invalid, from PFM, NPY, TIFF, PNG or "
      "PGM.\n\n"
      "Integer files store disparity × scale. The scale 0 means 256 for files of 16 bits; files of 8 bits require a\n"
      "scale. Raises FileError and FormatError, and CallError if the scale is missing.");
  m.def(
      "add_input_file", [](const Path& file) { input_files().add(file); }, "file"_a);
  m.def(
      "is_input_file", [](const Path& file) { return input_files().has(file); }, "file"_a,
      "Returns whether this process has read an image or a map from the file.");
  m.def(
      "write_point_cloud", &write_points, "file"_a, "points"_a, "color"_a.none() = nb::none(),
      "confidence"_a.none() = nb::none(), "organised"_a = false,
      nb::sig("def write_point_cloud(file: str | os.PathLike[str], points: object, color: object | None = None, "
              "confidence: object | None = None, organised: bool = False) -> None"),
      "Writes a point cloud as binary .pcd or, with another extension, as binary PLY.\n\n"
      "`points` is (height, width, 3) float32 in the unit of the rig, NaN where invalid, as Result.points. The points\n"
      "get the colours of `color`, the rectified left image, (height, width) or (height, width, 3) RGB of uint8, and "
      "the\n"
      "`confidence`, (height, width) float32. `organised` keeps the invalid pixels. The bytes are those of the "
      "command's\n"
      "`cloud`. An existing file is replaced only when the new one is complete. Raises FileError and CallError.");
  m.def(
      "write_bytes",
      [](const Path& file, const nb::bytes& contents) {
        const std::string_view bytes(contents.c_str(), contents.size());
        without_gil([&] { write_text(file, bytes); });
      },
      "file"_a, "contents"_a, nb::sig("def write_bytes(file: str | os.PathLike[str], contents: bytes) -> None"));
  m.def("name_beside", &name_beside, "file"_a, "ending"_a,
        nb::sig("def name_beside(file: str | os.PathLike[str], ending: str) -> pathlib.Path"));
  m.def("unfinished_file", &unfinished_file, "file"_a,
        nb::sig("def unfinished_file(file: str | os.PathLike[str]) -> pathlib.Path"));
  m.def("finish_file", &finish_file, "unfinished"_a, "file"_a,
        nb::sig("def finish_file(unfinished: str | os.PathLike[str], file: str | os.PathLike[str]) -> None"));
  m.def("write_image", &write_pixels, "file"_a, "image"_a.none(),
        nb::sig("def write_image(file: str | os.PathLike[str], image: object) -> None"));
  m.def(
      "write_disparity", &write, "file"_a, "disparity"_a.none(), "scale"_a = 0.0,
      nb::sig("def write_disparity(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32], "
              "scale: float = 0.0) -> None"),
      "Writes a disparity map, (height, width) float32 in pixels, NaN where invalid.\n\n"
      "The formats are .pfm (invalid = +inf), .npy, .tif, .tiff, 16-bit .png (×256), and 8-bit .png or .pgm with a\n"
      "scale. The float formats can also store depth and other float maps. An existing file is replaced only when the\n"
      "new one is complete. Raises FileError and CallError.");
  m.def(
      "read_pfm",
      [](const Path& file) {
        require_pfm(file);
        return give(read_map(file));
      },
      "file"_a, nb::sig("def read_pfm(file: str | os.PathLike[str]) -> numpy.typing.NDArray[numpy.float32]"),
      "Reads a disparity map, (height, width) float32 in pixels, from a .pfm file; +inf becomes NaN.");
  m.def(
      "write_pfm",
      [](const Path& file, nb::handle array) {
        require_pfm(file);
        write(file, array, 0);
      },
      "file"_a, "disparity"_a.none(),
      nb::sig("def write_pfm(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32]) -> None"),
      "Writes a disparity map, or another float map, (height, width) float32, to a .pfm file; NaN becomes +inf.");
}

}  // namespace stereopsis::python
