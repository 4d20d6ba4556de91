// stereopsis rectify LEFT RIGHT --calib rig.yml -o DIR: converts raw pairs to rectified ones, with their masks and
// their rig.
#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/front_end.hpp"
#include "command/group_options.hpp"
#include "command/pairs.hpp"
#include "command/progress.hpp"
#include "command/result_files.hpp"
#include "command/terminal.hpp"
#include "jobs/record.hpp"
#include "jobs/rows.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct RectifyOptions {
  fs::path left, right, output;
  PairOptions pairing;
  RigOptions rig;
  DeviceOptions device;
  std::string rows = "off";
  bool resume = false;
};

class Job {
 public:
  explicit Job(const RectifyOptions& options)
      : options_(options), rows_(jobs::row_settings(options.rows, CommandFrontEnd())) {
    options.rig.calibration().check();
    Pairs pairs = find_pairs(options.left, options.right, options.pairing);
    if (!pairs.note.empty()) remark("{}", pairs.note);
    views_[0].frames = std::move(pairs.left);
    views_[1].frames = std::move(pairs.right);
    if (options.resume && !left().sequence)
      refuse(
          fmt::format("--resume applies to sequences, but {} is one file; leave --resume out", options.left.string()));
    if (!is_result_folder(options.output))
      refuse(fmt::format("-o {} is not {}; give the name of a directory", options.output.string(),
                         creates_folders() ? "a directory" : "an existing directory"));
    CallFiles files;
    options.rig.calibration().reads(files);
    files.reads(Pairs{left(), right()});
    for (const View& view : views_) {
      for (std::size_t i = 0; i < left().size(); ++i)
        for (const char* extension : {".png", ".tiff"})
          files.writes(rectified_name(i, view, extension), "the rectified image");
      files.writes(mask_name(view), "the mask");
    }
    files.writes(options.output / "rig.yml", "the rectified rig");
    files.writes(sidecar(), "the record for --resume");
  }

  void run() {
    const AnyImage first = read_pair(left(), right(), 0).left.image;
    size_ = first.size();
    extension_ = first.view().type == PixelType::f32 ? ".tiff" : ".png";
    const CalibrationFile file = options_.rig.calibration().raw(size_, first.channels() == 1);
    for (const std::string& warning : file.warnings) warn("warning: {}", warning);
    const StereoCalibration& calibration = *file.cameras;
    options_.rig.calibration().check_size(calibration.size, left().name(0), size_);
    const RectificationMaps maps = rectification_maps(calibration);
    for (const View& view : views_) fs::create_directories(options_.output / view.name);
    const std::vector<bool> there = frames_there(maps.size());
    Progress progress(left().size(), "pairs", left().sequence ? "continue with --resume" : "");
    const bool needs_all = !rows_.is_off && !rows_.fixed && left().sequence;  // a filter follows the rows
    for (std::size_t i = 0; i < left().size(); ++i) {
      if (!there[i] || needs_all) rectify_pair(i, maps, there[i]);
      progress.update(i + 1);
    }
    write_rig(options_.output / "rig.yml", calibration.rig);
    summarise("{}: {} {} of {}{} in left/ and right/, with mask_left.png, mask_right.png and rig.yml\n",
              options_.output.string(), left().size(), left().size() == 1 ? "pair" : "pairs", size_text(maps.size()),
              aligned_ > 0 ? fmt::format(", of which {} with aligned rows,", aligned_) : "");
  }

 private:
  struct View {
    std::string name;
    Frames frames = {};
  };

  const Frames& left() const { return views_[0].frames; }
  const Frames& right() const { return views_[1].frames; }
  fs::path sidecar() const { return options_.output / ".stereopsis.json"; }
  fs::path mask_name(const View& view) const { return options_.output / ("mask_" + view.name + ".png"); }
  fs::path rectified_name(std::size_t i, const View& view, const char* extension) const {
    return options_.output / view.name / (view.frames.stem(i) + extension);
  }

  std::vector<bool> frames_there(Size rectified) const {
    if (!left().sequence) return {false};
    std::vector<jobs::FrameFiles> frames(left().size());
    for (std::size_t i = 0; i < frames.size(); ++i)
      for (const View& view : views_) {
        frames[i].inputs.push_back(view.frames.file(i));
        frames[i].outputs.push_back({rectified_name(i, view, extension_), rectified});
        if (i == 0) frames[i].outputs.push_back({mask_name(view), rectified});
      }
    CommandFrontEnd front_end;
    return jobs::Record(sidecar(), front_end)
        .frames_there({{"call",
                        {{"the version", STEREOPSIS_VERSION},
                         {"LEFT", options_.left.string()},
                         {"RIGHT", options_.right.string()},
                         {"--pair", options_.pairing.pair},
                         {"--slop", options_.pairing.slop},
                         {"--side-by-side", options_.pairing.side_by_side},
                         {"--top-bottom", options_.pairing.top_bottom},
                         {"--right-first", options_.pairing.right_first},
                         {"--calib", jobs::lines_of(options_.rig.files)},
                         {"--calib-scale", options_.rig.scale.value_or(1)},
                         {"--align-rows", options_.rows},
                         {"--lens", options_.rig.lens}}}},
                      frames, options_.resume, options_.output);
  }

  // Rectifies a pair, and writes it unless it is there. The rows are measured in the rectified pair, and the right image
  // is then rectified again, so that its pixels are interpolated once.
  void rectify_pair(std::size_t i, const RectificationMaps& maps, bool is_there) {
    const auto [of_left, of_right] = read_pair(left(), right(), i);
    const RectifiedView of_left_view = rectified_view(i, views_[0], of_left.image, maps.left);
    RectifiedView of_right_view = rectified_view(i, views_[1], of_right.image, maps.right);
    if (const auto alignment = alignment_of(of_left_view.image, of_right_view.image)) {
      of_right_view = rectified_view(i, views_[1], of_right.image, aligned_maps(maps, *alignment).right);
      ++aligned_;
    }
    if (is_there) return;
    write(i, views_[0], of_left_view);
    write(i, views_[1], of_right_view);
  }

  std::optional<RowAlignment> alignment_of(const AnyImage& of_left, const AnyImage& of_right) {
    if (rows_.is_off || rows_.fixed) return rows_.fixed;
    if (!left().sequence) return estimate_row_alignment(of_left, of_right).alignment;
    return filter_.next(measure_rows(of_left, of_right)).alignment;
  }

  RectifiedView rectified_view(std::size_t i, const View& view, const AnyImage& image,
                               const Image<std::int32_t>& map) const {
    if (image.size() != size_)
      refuse(fmt::format("{} is {}, but {} is {}; all images must have the same size", view.frames.name(i),
                         size_text(image.size()), left().name(0), size_text(size_)));
    return rectified(image, map, {}, options_.device.threads.value_or(0));
  }

  void write(std::size_t i, const View& view, const RectifiedView& result) const {
    const bool is_float = result.image.view().type == PixelType::f32;
    write_image(rectified_name(i, view, is_float ? ".tiff" : ".png"), result.image);
    if (i == 0) write_image(mask_name(view), result.usable);
  }

  const RectifyOptions& options_;
  const jobs::RowSettings rows_;
  RowFilter filter_;
  std::size_t aligned_ = 0;  // pairs
  std::array<View, 2> views_ = {{{"left"}, {"right"}}};
  Size size_;  // size of the raw images
  const char* extension_ = ".png";
};

}  // namespace

void add_rectify(CLI::App& application) {
  Command command(application, "rectify", "Rectify raw pairs with a calibration");
  const auto o = std::make_shared<RectifyOptions>();
  add_views(command, o->left, o->right);
  o->pairing.add_to(command);
  o->rig.add_files_to(command, "Calibration of the raw cameras").required();
  command
      .path("-o,--output", o->output, "DIR",
            "Directory, into which left/, right/, the masks and the rectified rig are written")
      .required();
  command.creates_folders();
  command.text("--align-rows", o->rows, "HOW",
               "Align the rows of the right image: auto (estimated for each pair), off, "
               "OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels, or a file with such numbers; mask_right.png is that of the "
               "first pair [off]");
  o->device.add_threads_to(command);
  command.flag("--resume", o->resume, "Skip pairs that an earlier run of the same call has completed");
  command.footer("`stereopsis match --calib FILE --raw` rectifies on its device, without intermediate files.");
  command.callback([o] { Job(*o).run(); });
}

}  // namespace stereopsis::command
