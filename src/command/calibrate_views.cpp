// The work of `calibrate`: from the files of views to the calibration, its report and pictures.
#include "geometry/calibrate.hpp"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>

#include "command/calibrate.hpp"
#include "command/common.hpp"
#include "command/frames.hpp"
#include "command/opencv.hpp"
#include "command/progress.hpp"
#include "command/result_files.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "jobs/pixels.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command::calibrating {
namespace {

namespace fs = std::filesystem;

// Returns both rectified images side by side, with a line every 16 rows: a point and its match must lie on the same
// line.
Image<std::uint8_t> epipolar_picture(const AnyImageView& left, const AnyImageView& right,
                                     const StereoCalibration& calibration) {
  const RectificationMaps maps = rectification_maps(calibration);
  const Size size = maps.size();
  Image<std::uint8_t> picture({2 * size.width, size.height}, 3);
  int offset = 0;
  for (const auto& [image, map] : {std::pair{left, &maps.left}, {right, &maps.right}}) {
    const Image<std::uint8_t> pixels = jobs::to_8_bits(rectified(image, *map).image);
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
  explicit Job(const Call& call)
      : options_(call.options), left_(call.left), right_(call.right), board_(Board::parse(options_.board)) {
    if (!options_.ros.empty() && board_.unit.empty())
      refuse(fmt::format(
          "--ros requires lengths with a unit, and --board {} has none; write the unit of the squares, such as {}mm",
          options_.board, options_.board));
  }

  void run() {
    find_boards();
    const CalibrateOptions how{options_.keep_outliers, options_.zoom.value_or(0)};
    result_ = opencv_.calibrate(pairs_, board_, size_, how);
    check_errors(result_.rms, result_.dy_mean);
    for (const fs::path& file : {options_.output, options_.picture, options_.report}) create_folder_of(file);
    if (!options_.ros.empty()) create_folder_of(options_.ros / "left.yaml");
    write_calibration(options_.output, result_.calibration);
    if (!options_.ros.empty())
      write_camera_info(options_.ros / "left.yaml", options_.ros / "right.yaml", result_.calibration);
    if (!options_.picture.empty())
      write_image(options_.picture,
                  epipolar_picture(read_image(left_.file(0)), read_image(right_.file(0)), result_.calibration));
    if (!options_.report.empty()) write_json(options_.report, report());
    print_result();
  }

 private:
  void find_boards() {
    Progress progress(left_.size(), "pairs");
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const auto view_of = [&](const fs::path& file) {
        const AnyImage image = read_image(file);
        if (size_ == Size{}) size_ = image.size();
        if (image.size() != size_)
          refuse(fmt::format("{} is {}, but {} is {}; all views must have the same size", file.string(),
                             size_text(image.size()), left_.file(0).string(), size_text(size_)));
        return opencv_.find_board(std::get<Image<std::uint8_t>>(jobs::grey_of(jobs::to_8_bits(image)).pixels), board_);
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

  std::string remark_on(const BoardPair& pair) const {
    if (pair.left.points.empty() && pair.right.points.empty()) return "no board in either image";
    if (pair.left.points.empty()) return "no board in the left image";
    if (pair.right.points.empty()) return "no board in the right image";
    const auto* view = view_named(pair.name);
    return view == nullptr ? "too few common corners" : view->outlier ? "outlier, left out" : "";
  }

  void print_result() const {
    Table table({"view", "left px", "right px", "pair px", "|dy| px", ""});
    for (const BoardPair& pair : pairs_) {
      const auto* view = view_named(pair.name);
      if (view == nullptr)
        table.add({pair.name, "–", "–", "–", "–", remark_on(pair)});
      else
        table.add({pair.name, cell(view->rms_left, 3), cell(view->rms_right, 3), cell(view->rms, 3),
                   view->outlier ? "–" : cell(view->dy, 3), remark_on(pair)});
    }
    table.print();
    const StereoCalibration& c = result_.calibration;
    const std::string unit = c.rig.unit.empty() ? "squares' unit" : c.rig.unit;
    say("reprojection, RMS      left {:.3f} px, right {:.3f} px, pair {:.3f} px\n", result_.rms_left, result_.rms_right,
        result_.rms);
    say("rectified, |dy|        mean {:.3f} px, 95th percentile {:.3f} px\n", result_.dy_mean, result_.dy_p95);
    say("corner coverage        left {:.0f} %, right {:.0f} % of the image\n", 100 * result_.coverage_left,
        100 * result_.coverage_right);
    say("focal length           left {:.2f}, right {:.2f}, rectified {:.2f} px\n", c.left.lens.fx, c.right.lens.fx,
        c.rig.focal);
    say("baseline               {:.4f} {}\n", c.rig.baseline, unit);
    say("{}: {} of {} views of {}\n", options_.output.string(), used(), pairs_.size(), size_text(size_));
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
      Json entry = {{"name", pair.name}, {"used", view != nullptr && !view->outlier}, {"remark", remark_on(pair)}};
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
  const OpenCv& opencv_ = opencv("calibrate");
  const Frames &left_, &right_;
  Board board_;
  std::vector<BoardPair> pairs_;
  Size size_;
  CalibrationResult result_;
};

}  // namespace

void calibrate(const Call& call) { Job(call).run(); }

}  // namespace stereopsis::command::calibrating
