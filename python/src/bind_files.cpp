#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "stereopsis/io.hpp"

using namespace nanobind::literals;

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
  const BorrowedArray disparity(array, "disparity");
  if (!disparity.device().empty()) refuse("disparity is on a GPU; copy it to the host first, as a NumPy array");
  const ImageView<const float> view = disparity.disparity();
  without_gil([&] { write_disparity(file, view, scale); });
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def(
      "read_image_and_depth",
      [](const Path& file) {
        AnyImage image = without_gil([&] { return read_image(file); });
        const int bit_depth = image.bit_depth;
        return nb::make_tuple(give(std::move(image)), bit_depth);
      },
      "file"_a,
      nb::sig(
          "def read_image_and_depth(file: str | os.PathLike[str]) -> tuple[numpy.typing.NDArray[typing.Any], int]"));
  m.def(
      "read_disparity",
      [](const Path& file, double scale) { return give(without_gil([&] { return read_disparity(file, scale); })); },
      "file"_a, "scale"_a = 0.0,
      nb::sig("def read_disparity(file: str | os.PathLike[str], scale: float = 0.0) -> "
              "numpy.typing.NDArray[numpy.float32]"),
      "Reads a disparity map, (height, width) float32 in pixels, NaN where invalid, from PFM, NPY, TIFF, PNG or "
      "PGM.\n\n"
      "Integer files store disparity × scale; 0 means 256 for 16 bits, and 8 bits require a scale. Raises FileError "
      "and\n"
      "FormatError, and CallError if the scale is missing.");
  m.def(
      "write_disparity", &write, "file"_a, "disparity"_a, "scale"_a = 0.0,
      nb::sig("def write_disparity(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32], "
              "scale: float = 0.0) -> None"),
      "Writes a disparity map, (height, width) float32 in pixels, NaN where invalid.\n\n"
      "The formats are .pfm (invalid = +inf), .npy, .tif, .tiff, 16-bit .png (×256), and 8-bit .png or .pgm with a\n"
      "scale. The float formats suit depth and other float maps, too. An existing file is replaced only when the new\n"
      "one is complete. Raises FileError and CallError.");
  m.def(
      "read_pfm",
      [](const Path& file) {
        require_pfm(file);
        return give(without_gil([&] { return read_disparity(file); }));
      },
      "file"_a, nb::sig("def read_pfm(file: str | os.PathLike[str]) -> numpy.typing.NDArray[numpy.float32]"),
      "Reads a disparity map, (height, width) float32 in pixels, from a .pfm file; +inf becomes NaN.");
  m.def(
      "write_pfm",
      [](const Path& file, nb::handle array) {
        require_pfm(file);
        write(file, array, 0);
      },
      "file"_a, "disparity"_a,
      nb::sig("def write_pfm(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32]) -> None"),
      "Writes a disparity map, or another float map, (height, width) float32, to a .pfm file; NaN becomes +inf.");
}

}  // namespace stereopsis::python
