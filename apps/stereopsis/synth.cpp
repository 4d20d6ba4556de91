// stereopsis synth -o DIR: a scene with exact truth, as `evaluate --dataset` reads it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path folder;
  std::string scene = SceneOptions{}.scene;
  std::optional<int> width, height, disparities, seed;
  std::optional<double> gain, gamma, vignetting, noise;

  SceneOptions scene_options() const {
    SceneOptions o;
    o.scene = scene;
    o.size = {width.value_or(o.size.width), height.value_or(o.size.height)};
    o.disparities = disparities.value_or(o.disparities);
    o.seed = static_cast<std::uint64_t>(seed.value_or(static_cast<int>(o.seed)));
    o.gain = gain.value_or(o.gain);
    o.gamma = gamma.value_or(o.gamma);
    o.vignetting = vignetting.value_or(o.vignetting);
    o.noise = noise.value_or(o.noise);
    return o;
  }
};

Json description(const SceneOptions& o, const Scene& scene) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (int y = 0; y < o.size.height; ++y) {
    const auto [a, b] = std::minmax_element(scene.disparity_left.row(y), scene.disparity_left.row(y) + o.size.width);
    low = std::min(low, *a);
    high = std::max(high, *b);
  }
  return {{"name", o.scene},
          {"dataset", "synth"},
          {"left", "left.png"},
          {"right", "right.png"},
          {"width", o.size.width},
          {"height", o.size.height},
          {"channels", 3},
          {"ndisp", o.disparities},
          {"gt", "disp_left.pfm"},
          {"gt_scale", 1},
          {"gt_invalid", "inf"},
          {"gt_view", "left"},
          {"gt_min", low},
          {"gt_max", high},
          {"gt_valid_fraction", 1.0},
          {"gt_right", "disp_right.pfm"},
          {"masks",
           {{"mask_nonocc.png", "255 = visible in both views, counted; 128 = occluded, with known ground truth"},
            {"mask_disc.png",
             "255 = near a depth discontinuity and counted; 128 = non-occluded but not near a discontinuity; 0 = not "
             "counted"}}},
          {"synth",
           {{"seed", o.seed}, {"gain", o.gain}, {"gamma", o.gamma}, {"vignetting", o.vignetting}, {"noise", o.noise}}}};
}

void synth(const Options& options) {
  const SceneOptions scene_options = options.scene_options();
  const fs::path folder = options.folder.has_filename() ? options.folder : options.folder.parent_path();
  std::error_code error;
  if (fs::exists(folder) && !fs::is_directory(folder)) refuse(fmt::format("-o {} is not a directory", folder.string()));
  if (folder.has_parent_path() && !fs::is_directory(folder.parent_path()) && !fs::is_directory(folder))
    refuse(fmt::format("-o {}: the directory {} does not exist; make it first", folder.string(),
                       folder.parent_path().string()));
  const Scene scene = make_scene(scene_options);
  fs::create_directory(folder, error);
  if (error)
    throw Error(ErrorCategory::file,
                fmt::format("the directory {} can't be made: {}", folder.string(), error.message()));
  write_image(folder / "left.png", scene.left);
  write_image(folder / "right.png", scene.right);
  write_disparity(folder / "disp_left.pfm", scene.disparity_left);
  write_disparity(folder / "disp_right.pfm", scene.disparity_right);
  write_image(folder / "mask_nonocc.png", scene.nonocc_left);
  write_image(folder / "mask_disc.png", scene.disc_left);
  write_json(folder / "dataset.json", description(scene_options, scene));
  fmt::print("{}: scene {}, {}, {} disparities, seed {}\n", folder.string(), scene_options.scene,
             size_text(scene_options.size), scene_options.disparities, scene_options.seed);
}

}  // namespace

void add_synth(CLI::App& application) {
  Command command(application, "synth", "Makes a scene whose disparity is known exactly");
  const auto o = std::make_shared<Options>();
  std::string scenes;
  for (const std::string& name : scene_names()) scenes += (scenes.empty() ? "" : ", ") + name;
  constexpr double huge = std::numeric_limits<double>::infinity();
  constexpr int any_int = std::numeric_limits<int>::max();
  command.path("-o,--output", o->folder, "DIR", "Folder to write; made where its parent exists").required();
  command.text("--scene", o->scene, "NAME", scenes + " [" + o->scene + "]");
  command.integer("--width", o->width, 1, any_int, "N", "Pixels [640]");
  command.integer("--height", o->height, 1, any_int, "N", "Pixels [480]");
  command.integer("--disparities", o->disparities, 1, any_int, "N", "All true ones lie in 0 to N − 1 [64]");
  command.integer("--seed", o->seed, 0, any_int, "N", "The same seed gives the same bytes [1]");
  command.number("--gain", o->gain, 0, huge, "G", "Of the right image's intensities [1]");
  command.number("--gamma", o->gamma, 0, huge, "G", "Of the right image [1]");
  command.number("--vignetting", o->vignetting, 0, 1, "V", "Share of light lost in the right image's corners [0]");
  command.number("--noise", o->noise, 0, huge, "SIGMA", "Standard deviation in both images, grey levels [0]");
  command.footer(
      "Writes left.png, right.png, disp_left.pfm, disp_right.pfm, mask_nonocc.png, mask_disc.png and\n"
      "dataset.json, which `stereopsis evaluate --dataset DIR` reads.");
  command.callback([o] { synth(*o); });
}

}  // namespace stereopsis::command
