// stereopsis rectify LEFT RIGHT --calib rig.yml -o DIR: raw pairs become rectified ones, with their masks and their rig.
#include <fmt/core.h>

#include <memory>

#include "commands.hpp"
#include "common.hpp"
#include "frames.hpp"
#include "progress.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path left, right, output;
  std::vector<std::string> calibration;
  DeviceOptions device;
};

class Job {
 public:
  explicit Job(const Options& options) : options_(options) {
    if (options.calibration.size() > 2) refuse("--calib is given more than twice; a pair has two cameras");
    left_ = find_frames(options.left, "the left image");
    right_ = find_frames(options.right, "the right image");
    check_counts(left_, options.left, right_, options.right);
    if (!fs::is_directory(options.output))
      refuse(fmt::format("-o {} is not a directory; make it first", options.output.string()));
    for (const char* name : {"left", "right"})
      for (const Frames* frames : {&left_, &right_})
        if (fs::weakly_canonical(options.output / name) ==
            fs::weakly_canonical(fs::absolute(frames->file(0)).parent_path()))
          refuse(fmt::format("-o {} would overwrite the input; name another directory", options.output.string()));
  }

  void run() {
    const AnyImage first = read_image(left_.file(0));
    const Size size = first.size();
    const StereoCalibration calibration = read(first.channels() == 1 ? KittiPair::grey : KittiPair::any, size);
    if (calibration.size != size)
      refuse(fmt::format("{} is for images of {}, but {} is {}", options_.calibration[0], size_text(calibration.size),
                         left_.file(0).string(), size_text(size)));
    const RectificationMaps maps = rectification_maps(calibration);
    for (const char* name : {"left", "right"}) fs::create_directory(options_.output / name);
    Progress progress(left_.size(), "pairs");
    for (std::size_t i = 0; i < left_.size(); ++i) {
      rectify_one(left_.file(i), maps.left, size, "left", i == 0);
      rectify_one(right_.file(i), maps.right, size, "right", i == 0);
      progress.update(i + 1);
    }
    progress.clear();
    write_rig(options_.output / "rig.yml", calibration.rig);
    fmt::print("{}: {} pairs of {}, left/ and right/, with mask_left.png, mask_right.png and rig.yml\n",
               options_.output.string(), left_.size(), size_text(maps.size()));
  }

 private:
  StereoCalibration read(KittiPair pair, Size size) const {
    const auto& files = options_.calibration;
    const std::optional<fs::path> second = files.size() > 1 ? std::optional<fs::path>(files[1]) : std::nullopt;
    if (pair == KittiPair::any) return read_calibration(files[0], second, pair, size);
    try {
      return read_calibration(files[0], second, pair, size);
    } catch (const Error&) {  // of grey cameras there is nothing; of the others there may be
      return read_calibration(files[0], second, KittiPair::any, size);
    }
  }

  void rectify_one(const fs::path& file, const Image<std::int32_t>& map, Size size, const std::string& view,
                   bool first) const {
    const AnyImage image = read_image(file);
    if (image.size() != size)
      refuse(fmt::format("{} is {}, but {} is {}; all images must have one size", file.string(),
                         size_text(image.size()), left_.file(0).string(), size_text(size)));
    const RectifiedView result = rectified(image, map, {}, options_.device.threads.value_or(0));
    const bool is_float = image.view().type == PixelType::f32;
    write_image(options_.output / view / file.filename().replace_extension(is_float ? ".tiff" : ".png"), result.image);
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
  command.list("--calib", o->calibration, "FILE", "Calibration: OpenCV, KITTI, or ROS (one per camera)").required();
  command
      .path("-o,--output", o->output, "DIR",
            "Directory that exists: left/, right/, masks and the rectified rig go there")
      .required();
  o->device.add_threads_to(command);
  command.footer("`match --calib FILE --raw` rectifies on its device, without files in between.");
  command.callback([o] { Job(*o).run(); });
}

}  // namespace stereopsis::command
