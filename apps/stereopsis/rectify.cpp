// stereopsis rectify LEFT RIGHT --calib rig.yml -o DIR: raw pairs become rectified ones, with their masks and their rig.
#include <fmt/core.h>

#include <memory>

#include "commands.hpp"
#include "common.hpp"
#include "frames.hpp"
#include "progress.hpp"
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
};

class Job {
 public:
  explicit Job(const Options& options) : options_(options) {
    options.rig.check();
    left_ = find_frames(options.left, "the left image");
    right_ = find_frames(options.right, "the right image");
    check_paired(left_, options.left, right_, options.right);
    if (!fs::is_directory(options.output))
      refuse(fmt::format("-o {} is not a directory; make it first", options.output.string()));
    CallFiles files;
    reads(files, left_, "the left image");
    reads(files, right_, "the right image");
    options.rig.reads(files);
    for (const auto& [frames, view] : {std::pair{&left_, "left"}, {&right_, "right"}}) {
      for (const fs::path& file : frames->files)
        for (const char* extension : {".png", ".tiff"})
          files.writes(rectified_name(file, view, extension), "the rectified image");
      files.writes(options.output / ("mask_" + std::string(view) + ".png"), "the mask");
    }
    files.writes(options.output / "rig.yml", "the rectified rig");
  }

  void run() {
    const AnyImage first = read_image(left_.file(0));
    const Size size = first.size();
    const StereoCalibration calibration = options_.rig.cameras(size, first.channels() == 1);
    if (calibration.size != size)
      refuse(fmt::format("{} is for images of {}, but {} is {}", options_.rig.source(), size_text(calibration.size),
                         left_.file(0).string(), size_text(size)));
    const RectificationMaps maps = rectification_maps(calibration);
    for (const char* name : {"left", "right"}) fs::create_directory(options_.output / name);
    Progress progress(left_.size(), "pairs");
    for (std::size_t i = 0; i < left_.size(); ++i) {
      rectify_one(left_.file(i), maps.left, size, "left", i == 0);
      rectify_one(right_.file(i), maps.right, size, "right", i == 0);
      progress.update(i + 1);
    }
    write_rig(options_.output / "rig.yml", calibration.rig);
    summarise("{}: {} pairs of {}, left/ and right/, with mask_left.png, mask_right.png and rig.yml\n",
              options_.output.string(), left_.size(), size_text(maps.size()));
  }

 private:
  fs::path rectified_name(const fs::path& file, const std::string& view, const char* extension) const {
    return options_.output / view / file.filename().replace_extension(extension);
  }

  void rectify_one(const fs::path& file, const Image<std::int32_t>& map, Size size, const std::string& view,
                   bool first) const {
    const AnyImage image = read_image(file);
    if (image.size() != size)
      refuse(fmt::format("{} is {}, but {} is {}; all images must have one size", file.string(),
                         size_text(image.size()), left_.file(0).string(), size_text(size)));
    const RectifiedView result = rectified(image, map, {}, options_.device.threads.value_or(0));
    const bool is_float = image.view().type == PixelType::f32;
    write_image(rectified_name(file, view, is_float ? ".tiff" : ".png"), result.image);
    if (first) write_image(options_.output / ("mask_" + view + ".png"), result.usable);
  }

  const Options& options_;
  Frames left_, right_;
};

}  // namespace

void add_rectify(CLI::App& application) {
  Command command(application, "rectify", "Raw pairs to rectified ones, by a calibration");
  const auto o = std::make_shared<Options>();
  command.path("LEFT", o->left, "", "Left image; a sequence as a pattern (left%03d.png, 'left*.png') or a directory")
      .required();
  command.path("RIGHT", o->right, "", "Right image, or as many of them").required();
  o->rig.add_files_to(command, "Calibration: OpenCV, KITTI, or ROS (one per camera)").required();
  command
      .path("-o,--output", o->output, "DIR",
            "Directory that exists: left/, right/, masks and the rectified rig go there")
      .required();
  o->device.add_threads_to(command);
  command.footer("`match --calib FILE --raw` rectifies on its device, without files in between.");
  command.callback([o] { Job(*o).run(); });
}

}  // namespace stereopsis::command
