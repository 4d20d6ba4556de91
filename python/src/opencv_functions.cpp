#include "opencv_functions.hpp"

#include <nanobind/ndarray.h>

#include <cmath>
#include <memory>
#include <utility>

#include "arrays.hpp"

namespace stereopsis::python {
namespace {

template <class T>
nb::object array_of(Image<T> image) {
  return give(std::move(image));
}

template <class T>
Image<T> copy_of(ImageView<const T> view) {
  Image<T> copy({view.width, view.height}, view.channels);
  copy.copy_from(view);
  return copy;
}

command::OpenCvMatcher made_matcher(nb::handle functions, const std::string& matcher,
                                    const nlohmann::ordered_json& parameters, int threads, Image<std::uint8_t> left,
                                    Image<std::uint8_t> right) {
  const auto made = in_python([&] {
    nb::dict values;
    for (const auto& [name, value] : parameters.items()) values[name.c_str()] = value.get<int>();
    return shared_object(functions.attr("make_matcher")(matcher, values, threads, array_of(std::move(left)),
                                                        array_of(std::move(right))));
  });
  return {[made] { in_python([&] { made->attr("run")(); }); },
          [made] {
            return in_python([&] {
              using Found = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
              const auto found = nb::cast<Found>(made->attr("found"));
              return copy_of(ImageView<const std::int16_t>(found.data(), static_cast<int>(found.shape(1)),
                                                           static_cast<int>(found.shape(0)), 1,
                                                           static_cast<std::ptrdiff_t>(found.shape(1))));
            });
          }};
}

nb::object board_in_python(nb::handle functions, const Board& board) {
  return functions.attr("Board")(board.corners.width, board.corners.height, board.square, board.unit, board.marker,
                                 board.dictionary);
}

// The package has the corners of a view in a dictionary, by their numbers.
BoardView view_of(const nb::dict& corners) {
  BoardView view;
  for (const auto& [number, point] : corners) {
    view.ids.push_back(nb::cast<int>(number));
    view.points.push_back({nb::cast<float>(point[0]), nb::cast<float>(point[1])});
  }
  return view;
}

nb::dict corners_of(const BoardView& view) {
  nb::dict corners;
  for (std::size_t i = 0; i < view.ids.size(); ++i)
    corners[nb::cast(view.ids[i])] = nb::make_tuple(view.points[i][0], view.points[i][1]);
  return corners;
}

CalibrationResult calibrated(nb::handle functions, const std::vector<BoardPair>& pairs, const Board& board, Size size,
                             const CalibrateOptions& options) {
  nb::list given;
  for (const BoardPair& pair : pairs)
    given.append(nb::make_tuple(pair.name, corners_of(pair.left), corners_of(pair.right)));
  const nb::object found =
      functions.attr("calibrate")(given, board_in_python(functions, board), nb::make_tuple(size.width, size.height),
                                  options.zoom, options.keep_outliers);
  const auto number = [](nb::handle of, const char* name) { return nb::cast<double>(of.attr(name)); };
  CalibrationResult result;
  result.calibration = nb::cast<StereoCalibration>(found.attr("calibration"));
  for (const nb::handle view : found.attr("views")) {
    if (std::isnan(number(view, "rms"))) continue;  // too few corners that both cameras see
    const bool used = nb::cast<bool>(view.attr("used"));
    result.views.push_back({nb::cast<std::string>(view.attr("name")), number(view, "rms_left"),
                            number(view, "rms_right"), number(view, "rms"), used ? number(view, "dy") : 0, !used});
  }
  result.rms_left = number(found, "rms_left"), result.rms_right = number(found, "rms_right");
  result.rms = number(found, "rms");
  result.dy_mean = number(found, "dy_mean"), result.dy_p95 = number(found, "dy_p95");
  result.coverage_left = number(found, "coverage_left"), result.coverage_right = number(found, "coverage_right");
  return result;
}

// A video whose exceptions of Python become Errors, also on threads that Python does not know.
class VideoInPython : public Video {
 public:
  explicit VideoInPython(std::shared_ptr<Video> video) : video_(std::move(video)) {}

  std::size_t size() const override { return video_->size(); }
  double rate() const override { return video_->rate(); }
  AnyImage read(std::size_t frame) override {
    return in_python([&] { return video_->read(frame); });
  }

 private:
  const std::shared_ptr<Video> video_;
};

class VideoFileInPython : public jobs::VideoFile {
 public:
  explicit VideoFileInPython(std::shared_ptr<nb::object> file) : file_(std::move(file)) {}

  void append(ImageView<const std::uint8_t> frame) override {
    in_python([&] { file_->attr("append")(array_of(copy_of(frame))); });
  }
  void finish() override {
    in_python([&] { file_->attr("finish")(); });
  }

 private:
  const std::shared_ptr<nb::object> file_;
};

}  // namespace

command::OpenCv opencv_of(nb::handle functions) {
  command::OpenCv opencv;
  opencv.version = [functions] {
    return in_python([&] { return nb::cast<std::string>(functions.attr("matchers_version")()); });
  };
  opencv.make_matcher = [functions](auto&&... arguments) {
    return made_matcher(functions, std::forward<decltype(arguments)>(arguments)...);
  };
  opencv.find_board = [functions](ImageView<const std::uint8_t> grey, const Board& board) {
    return in_python([&] {
      const nb::object layout = board_in_python(functions, board);
      return view_of(nb::cast<nb::dict>(layout.attr("find")(array_of(copy_of(grey)))));
    });
  };
  opencv.calibrate = [functions](const auto&... arguments) {
    return in_python([&] { return calibrated(functions, arguments...); });
  };
  opencv.open_video = [functions](const std::filesystem::path& file) -> std::shared_ptr<Video> {
    return std::make_shared<VideoInPython>(
        in_python([&] { return opener_of(nb::object(functions.attr("open_video")))(file); }));
  };
  opencv.create_video = [functions](const std::filesystem::path& file, const std::filesystem::path& unfinished,
                                    double rate) -> std::shared_ptr<jobs::VideoFile> {
    return std::make_shared<VideoFileInPython>(
        in_python([&] { return shared_object(functions.attr("create_video")(file, unfinished, rate)); }));
  };
  return opencv;
}

}  // namespace stereopsis::python
