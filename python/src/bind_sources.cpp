#include "arrays.hpp"
#include "bindings.hpp"
#include "opencv_functions.hpp"
#include "stereopsis/pair_source.hpp"

namespace stereopsis::python {
namespace {

using Path = std::filesystem::path;

// A video that an object of Python decodes: it has size, rate and read(frame).
class PythonVideo : public Video {
 public:
  explicit PythonVideo(nb::object video)
      : video_(std::move(video)),
        size_(nb::cast<std::size_t>(video_.attr("size"))),
        rate_(nb::cast<double>(video_.attr("rate"))) {}
  ~PythonVideo() override {
    const nb::gil_scoped_acquire gil;
    video_.reset();
  }

  std::size_t size() const override { return size_; }
  double rate() const override { return rate_; }
  AnyImage read(std::size_t frame) override {
    const nb::gil_scoped_acquire gil;
    const BorrowedArray pixels(video_.attr("read")(frame), "the frame");
    return with_pixels(pixels.image(), [](auto view) -> AnyImage {
      return Image<std::remove_const_t<std::remove_pointer_t<decltype(view.data)>>>(view);
    });
  }

 private:
  nb::object video_;
  std::size_t size_;
  double rate_;
};

// `open_video` is called during construction only.
void construct(PairSource* self, const Path& left, const Path& right, std::string pair, std::string slop,
               bool side_by_side, bool top_bottom, bool right_first, bool keep_going, nb::handle open_video) {
  const PairSourceOptions options{std::move(pair), std::move(slop), side_by_side,         top_bottom,
                                  right_first,     keep_going,      opener_of(open_video)};
  const nb::gil_scoped_release release;
  new (self) PairSource(left, right, options);
}

// Returns (image, mask or None, bit depth) of both views.
nb::tuple read(const PairSource& source, std::size_t i) {
  PairOfImages pair;
  {
    const nb::gil_scoped_release release;
    pair = source.read(i);
  }
  const auto view = [](MaskedImage& read) {
    const int bit_depth = read.image.bit_depth;
    const nb::object mask = read.no_data == 0 ? nb::object(nb::none()) : give(std::move(read.mask));
    return nb::make_tuple(give(std::move(read.image)), mask, bit_depth);
  };
  return nb::make_tuple(view(pair.left), view(pair.right));
}

}  // namespace

OpenVideo opener_of(nb::handle open) {
  return [open](const Path& file) -> std::shared_ptr<Video> {
    const nb::gil_scoped_acquire gil;
    return std::make_shared<PythonVideo>(open(file.string()));
  };
}

void bind_sources(nb::module_& m) {
  nb::class_<PairSource>(m, "PairSource")
      .def("__init__", &construct, "left"_a, "right"_a, "pair"_a, "slop"_a, "side_by_side"_a, "top_bottom"_a,
           "right_first"_a, "keep_going"_a, "open_video"_a)
      .def("__len__", &PairSource::size)
      .def_prop_ro("is_sequence", &PairSource::is_sequence)
      .def_prop_ro("rate", &PairSource::rate)
      .def_prop_ro("dropped", &PairSource::dropped)
      .def("left_file", &PairSource::left_file, "index"_a)
      .def("right_file", &PairSource::right_file, "index"_a)
      .def("name", &PairSource::name, "index"_a)
      .def("result_name", &PairSource::result_name, "index"_a)
      .def("seconds_apart", &PairSource::seconds_apart, "index"_a)
      .def("read", &read, "index"_a,
           nb::sig("def read(self, index: int) -> tuple[tuple[numpy.typing.NDArray[typing.Any], "
                   "numpy.typing.NDArray[numpy.uint8] | None, int], tuple[numpy.typing.NDArray[typing.Any], "
                   "numpy.typing.NDArray[numpy.uint8] | None, int]]"))
      .def("files_beside", &PairSource::files_beside, "given"_a);
  m.def("has_both_views", &has_both_views, "folder"_a);
  m.def("find_images", &find_images, "given"_a);
  m.def("is_video", &is_video, "file"_a);
}

}  // namespace stereopsis::python
