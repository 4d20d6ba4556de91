// stereopsis rectify LEFT RIGHT --calib rig.yml -o DIR: converts raw pairs to rectified ones, with their masks and
// their rig.
#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "frames.hpp"
#include "progress.hpp"
#include "resume.hpp"
#include "rig_options.hpp"
#include "stereopsis/io.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path left, right, output;
  RigOptions rig;
  DeviceOptions device;
  bool resume = false;
};

class Job {
 public:
  explicit Job(const Options& options) : options_(options) {
    options.rig.check();
    views_[0].frames = find_frames(options.left, "the left image");
    views_[1].frames = find_frames(options.right, "the right image");
    pair_up(left(), options.left, views_[1].frames, options.right);
    if (options.resume && !left().sequence)
      refuse(fmt::format("--resume applies to sequences, and {} is one file; leave it out", options.left.string()));
    if (!fs::is_directory(options.output))
      refuse(fmt::format("-o {} is not a directory; create it first", options.output.string()));
    CallFiles files;
    options.rig.reads(files);
    for (const View& view : views_) {
      reads(files, view.frames, "the " + view.name + " image");
      for (const fs::path& file : view.frames.files)
        for (const char* extension : {".png", ".tiff"})
          files.writes(rectified_name(file, view, extension), "the rectified image");
      files.writes(mask_name(view), "the mask");
    }
    files.writes(options.output / "rig.yml", "the rectified rig");
    files.writes(sidecar(), "the record for --resume");
  }

  void run() {
    const AnyImage first = read_image(left().file(0));
    size_ = first.size();
    extension_ = first.view().type == PixelType::f32 ? ".tiff" : ".png";
    const CalibrationFile file = options_.rig.raw(size_, first.channels() == 1);
    for (const std::string& warning : file.warnings) warn("warning: {}", warning);
    const StereoCalibration& calibration = *file.cameras;
    options_.rig.check_size(calibration.size, left().file(0), size_);
    const RectificationMaps maps = rectification_maps(calibration);
    for (const View& view : views_) fs::create_directory(options_.output / view.name);
    const std::vector<bool> there = frames_there(maps.size());
    Progress progress(left().size(), "pairs", left().sequence ? "continue with --resume" : "");
    for (std::size_t i = 0; i < left().size(); ++i) {
      if (!there[i]) {
        rectify_one(i, views_[0], maps.left);
        rectify_one(i, views_[1], maps.right);
      }
      progress.update(i + 1);
    }
    write_rig(options_.output / "rig.yml", calibration.rig);
    summarise("{}: {} pairs of {} in left/ and right/, with mask_left.png, mask_right.png and rig.yml\n",
              options_.output.string(), left().size(), size_text(maps.size()));
  }

 private:
  struct View {
    std::string name;
    Frames frames = {};
  };

  const Frames& left() const { return views_[0].frames; }
  fs::path sidecar() const { return options_.output / ".stereopsis.json"; }
  fs::path mask_name(const View& view) const { return options_.output / ("mask_" + view.name + ".png"); }
  fs::path rectified_name(const fs::path& file, const View& view, const char* extension) const {
    return options_.output / view.name / file.filename().replace_extension(extension);
  }

  std::vector<bool> frames_there(Size rectified) const {
    if (!left().sequence) return {false};
    std::vector<FrameFiles> frames(left().size());
    for (std::size_t i = 0; i < frames.size(); ++i)
      for (const View& view : views_) {
        frames[i].inputs.push_back(view.frames.file(i));
        frames[i].outputs.push_back({rectified_name(view.frames.file(i), view, extension_), rectified});
        if (i == 0) frames[i].outputs.push_back({mask_name(view), rectified});
      }
    return command::frames_there(sidecar(),
                                 {{"call",
                                   {{"the version", STEREOPSIS_VERSION},
                                    {"LEFT", options_.left.string()},
                                    {"RIGHT", options_.right.string()},
                                    {"--calib", lines_of(options_.rig.files)},
                                    {"--calib-scale", options_.rig.scale.value_or(1)},
                                    {"--lens", options_.rig.lens}}}},
                                 frames, options_.resume, options_.output);
  }

  void rectify_one(std::size_t i, const View& view, const Image<std::int32_t>& map) const {
    const fs::path& file = view.frames.file(i);
    const AnyImage image = read_image(file);
    if (image.size() != size_)
      refuse(fmt::format("{} is {}, but {} is {}; all images must have the same size", file.string(),
                         size_text(image.size()), left().file(0).string(), size_text(size_)));
    const RectifiedView result = rectified(image, map, {}, options_.device.threads.value_or(0));
    const bool is_float = image.view().type == PixelType::f32;
    write_image(rectified_name(file, view, is_float ? ".tiff" : ".png"), result.image);
    if (i == 0) write_image(mask_name(view), result.usable);
  }

  const Options& options_;
  std::array<View, 2> views_ = {{{"left"}, {"right"}}};
  Size size_;  // size of the raw images
  const char* extension_ = ".png";
};

}  // namespace

void add_rectify(CLI::App& application) {
  Command command(application, "rectify", "Rectify raw pairs with a calibration");
  const auto o = std::make_shared<Options>();
  command.path("LEFT", o->left, "", "Left image; for a sequence a pattern (left%03d.png, 'left*.png') or a directory")
      .required();
  command
      .path("RIGHT", o->right, "",
            "Right image; for a sequence as many images, paired with the left ones by frame number or by name")
      .required();
  o->rig.add_files_to(command, "Calibration of the raw cameras").required();
  command
      .path("-o,--output", o->output, "DIR",
            "Existing directory, into which left/, right/, the masks and the rectified rig are written")
      .required();
  o->device.add_threads_to(command);
  command.flag("--resume", o->resume, "Skip pairs that an earlier run of the same call has completed");
  command.footer("`stereopsis match --calib FILE --raw` rectifies on its device, without intermediate files.");
  command.callback([o] { Job(*o).run(); });
}

}  // namespace stereopsis::command
