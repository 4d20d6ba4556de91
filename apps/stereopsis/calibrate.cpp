// stereopsis calibrate --left 'left*.jpg' --right 'right*.jpg' --board chessboard:9x6:25mm -o rig.yml
#include "geometry/calibrate.hpp"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "frames.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "table.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path left, right, output, ros, picture, report;
  std::string board;
  std::optional<double> zoom;
  bool keep_outliers = false;
};

Image<std::uint8_t> grey_of(const AnyImageView& image) {
  const Image<std::uint8_t> pixels = to_8_bits(image);
  if (pixels.channels() == 1) return pixels;
  Image<std::uint8_t> grey(pixels.size());
  for (int y = 0; y < pixels.height(); ++y)
    for (int x = 0; x < pixels.width(); ++x)
      grey(x, y) = static_cast<std::uint8_t>(
          (19595 * pixels(x, y, 0) + 38470 * pixels(x, y, 1) + 7471 * pixels(x, y, 2) + 32768) >> 16);
  return grey;
}

// Both rectified images side by side, with a line every 16 rows: what a point and its match must lie on.
Image<std::uint8_t> epipolar_picture(const AnyImageView& left, const AnyImageView& right,
                                     const StereoCalibration& calibration) {
  const RectificationMaps maps = rectification_maps(calibration);
  const Size size = maps.size();
  Image<std::uint8_t> picture({2 * size.width, size.height}, 3);
  int offset = 0;
  for (const auto& [image, map] : {std::pair{left, &maps.left}, {right, &maps.right}}) {
    const Image<std::uint8_t> pixels = to_8_bits(rectified(image, *map).image);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < 3; ++c) picture(offset + x, y, c) = pixels(x, y, pixels.channels() == 3 ? c : 0);
    offset += size.width;
  }
  constexpr std::array<std::array<int, 3>, 2> colours = {{{0, 255, 0}, {255, 80, 80}}};
  for (int y = 8; y < size.height; y += 16)
    for (int x = 0; x < picture.width(); ++x)
      for (int c = 0; c < 3; ++c)
        picture(x, y, c) = static_cast<std::uint8_t>((picture(x, y, c) + colours[y / 16 % 2][c]) / 2);
  return picture;
}

class Job {
 public:
  explicit Job(const Options& options) : options_(options), board_(Board::parse(options.board)) {
    left_ = find_frames(options.left, "--left");
    right_ = find_frames(options.right, "--right");
    check_counts(left_, options.left, right_, options.right);
    check_output(options.output, std::array{".yml", ".yaml", ".xml"}, "-o");
    if (!options.ros.empty() && !fs::is_directory(options.ros))
      refuse(fmt::format("--ros {} is not a directory; make it first", options.ros.string()));
    if (!options.ros.empty() && board_.unit.empty())
      refuse(fmt::format("--ros needs lengths: give the unit of the board's squares, such as {}mm", options.board));
    if (!options.picture.empty())
      check_output(options.picture, std::array{".png", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff"}, "--picture");
    if (!options.report.empty()) check_writable(options.report);
  }

  void run() {
    find_boards();
    const CalibrateOptions how{options_.keep_outliers, options_.zoom.value_or(0)};
    result_ = calibrate(pairs_, board_, size_, how);
    write_calibration(options_.output, result_.calibration);
    if (!options_.ros.empty())
      write_camera_info(options_.ros / "left.yaml", options_.ros / "right.yaml", result_.calibration);
    if (!options_.picture.empty())
      write_image(options_.picture,
                  epipolar_picture(read_image(left_.file(0)), read_image(right_.file(0)), result_.calibration));
    if (!options_.report.empty()) write_json(options_.report, report());
    print();
  }

 private:
  void find_boards() {
    Progress progress(left_.size(), "pairs");
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const auto view_of = [&](const fs::path& file) {
        const AnyImage image = read_image(file);
        if (size_ == Size{}) size_ = image.size();
        if (image.size() != size_)
          refuse(fmt::format("{} is {}, but {} is {}; all views must have one size", file.string(),
                             size_text(image.size()), left_.file(0).string(), size_text(size_)));
        return find_board(grey_of(image), board_);
      };
      pairs_.push_back({left_.file(i).filename().string(), view_of(left_.file(i)), view_of(right_.file(i))});
      progress.update(i + 1);
    }
  }

  const CalibrationResult::View* view_named(const std::string& name) const {
    for (const auto& view : result_.views)
      if (view.name == name) return &view;
    return nullptr;
  }

  std::string remark(const BoardPair& pair) const {
    if (pair.left.points.empty() && pair.right.points.empty()) return "no board in either image";
    if (pair.left.points.empty()) return "no board in the left image";
    if (pair.right.points.empty()) return "no board in the right image";
    const auto* view = view_named(pair.name);
    return view == nullptr ? "too few common corners" : view->outlier ? "outlier, left out" : "";
  }

  void print() const {
    Table table({"view", "left px", "right px", "pair px", "|dy| px", ""});
    for (const BoardPair& pair : pairs_) {
      const auto* view = view_named(pair.name);
      if (view == nullptr)
        table.add({pair.name, "–", "–", "–", "–", remark(pair)});
      else
        table.add({pair.name, cell(view->rms_left, 3), cell(view->rms_right, 3), cell(view->rms, 3),
                   view->outlier ? "–" : cell(view->dy, 3), remark(pair)});
    }
    table.print();
    const StereoCalibration& c = result_.calibration;
    const std::string unit = c.rig.unit.empty() ? "squares' unit" : c.rig.unit;
    fmt::print("reprojection, RMS      left {:.3f} px, right {:.3f} px, pair {:.3f} px\n", result_.rms_left,
               result_.rms_right, result_.rms);
    fmt::print("rectified, |dy|        mean {:.3f} px, 95th percentile {:.3f} px\n", result_.dy_mean, result_.dy_p95);
    fmt::print("corner coverage        left {:.0f} %, right {:.0f} % of the image\n", 100 * result_.coverage_left,
               100 * result_.coverage_right);
    fmt::print("focal length           left {:.2f}, right {:.2f}, rectified {:.2f} px\n", c.left.lens.fx,
               c.right.lens.fx, c.rig.focal);
    fmt::print("baseline               {:.4f} {}\n", c.rig.baseline, unit);
    fmt::print("{}: {} of {} views of {}\n", options_.output.string(), used(), pairs_.size(), size_text(size_));
  }

  std::size_t used() const {
    std::size_t count = 0;
    for (const auto& view : result_.views) count += !view.outlier;
    return count;
  }

  Json report() const {
    Json views = Json::array();
    for (const BoardPair& pair : pairs_) {
      const auto* view = view_named(pair.name);
      Json entry = {{"name", pair.name}, {"used", view != nullptr && !view->outlier}, {"remark", remark(pair)}};
      if (view != nullptr)
        entry.update(
            {{"rms_left", view->rms_left}, {"rms_right", view->rms_right}, {"rms", view->rms}, {"dy", view->dy}});
      views.push_back(entry);
    }
    const StereoCalibration& c = result_.calibration;
    return {{"version", STEREOPSIS_VERSION},
            {"board", options_.board},
            {"width", size_.width},
            {"height", size_.height},
            {"rms_left", result_.rms_left},
            {"rms_right", result_.rms_right},
            {"rms", result_.rms},
            {"dy_mean", result_.dy_mean},
            {"dy_p95", result_.dy_p95},
            {"coverage_left", result_.coverage_left},
            {"coverage_right", result_.coverage_right},
            {"focal", c.rig.focal},
            {"baseline", c.rig.baseline},
            {"unit", c.rig.unit},
            {"views", views}};
  }

  const Options& options_;
  Board board_;
  Frames left_, right_;
  std::vector<BoardPair> pairs_;
  Size size_;
  CalibrationResult result_;
};

}  // namespace

void add_calibrate(CLI::App& application) {
  Command command(application, "calibrate", "Two cameras from views of a board");
  const auto o = std::make_shared<Options>();
  command.path("--left", o->left, "FILES", "Left images: 'left*.jpg', left%02d.jpg or a directory").required();
  command.path("--right", o->right, "FILES", "Right images, as many, in the same order").required();
  command
      .text("--board", o->board, "BOARD",
            "chessboard:9x6:25mm (inner corners, square), charuco:8x6:30mm:22mm:DICT_4X4_50 (squares, square, marker)")
      .required();
  command.path("-o,--output", o->output, "FILE", "Calibration as OpenCV's .yml, .yaml or .xml").required();
  command.path("--ros", o->ros, "DIR", "ROS camera_info too: DIR/left.yaml and DIR/right.yaml");
  command.path("--picture", o->picture, "FILE", "The first pair, rectified, with epipolar lines");
  command.path("--report", o->report, "FILE.json", "All figures");
  command.number("--zoom", o->zoom, 0, 1, "Z",
                 "Rectified images: 0 no pixels without a source, 1 all pixels of the cameras [0]");
  command.flag("--keep-outliers", o->keep_outliers, "Use views of large errors too");
  command.callback([o] { Job(*o).run(); });
}

}  // namespace stereopsis::command
