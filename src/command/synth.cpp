// stereopsis synth -o DIR: writes a scene with exact truth, as `evaluate --dataset` reads it.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "command/commands.hpp"
#include "command/common.hpp"
#include "command/result_files.hpp"
#include "command/terminal.hpp"
#include "core/text.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/synth.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

// The numbers of SceneOptions that have their own option.
struct Number {
  const char* option;
  double SceneOptions::*member;
  double low, high;
  const char* placeholder;
  const char* help;
};
constexpr double huge = std::numeric_limits<double>::infinity();
constexpr Number numbers[] = {
    {"--focal-length", &SceneOptions::focal_length, 0, 5, "WIDTHS",
     "Focal length, in image widths; 0: that of the scene, such as 0.58 for traffic and hills [0]"},
    {"--gain", &SceneOptions::gain, 0, huge, "G", "Gain of the right image: factor of its intensities, 0 to 100 [1]"},
    {"--gamma", &SceneOptions::gamma, 0, huge, "G",
     "Gamma of the right image: exponent of its intensities, 0.1 to 10 [1]"},
    {"--vignetting", &SceneOptions::vignetting, 0, 1, "V",
     "Share of light lost in the corners of the right image, 0 to 1 [0]"},
    {"--light", &SceneOptions::light, 0, 1, "L",
     "Strength of a smooth change of light across the right image, 0 to 1 [0]"},
    {"--blur-right", &SceneOptions::blur_right, 0, 10, "SIGMA", "Standard deviation, pixels [0]"},
    {"--vertical-offset", &SceneOptions::vertical_offset, -20, 20, "ROWS",
     "Vertical offset of the right image, in rows: its row y shows row y + ROWS [0]"},
    {"--vertical-slope", &SceneOptions::vertical_slope, -20, 20, "ROWS",
     "Difference of the vertical offset between the right image's left and right border, in rows [0]"},
    {"--vertical-wave", &SceneOptions::vertical_wave, -20, 20, "ROWS",
     "Amplitude of a wave of the right image's rows along the columns, in rows [0]"},
    {"--vertical-period", &SceneOptions::vertical_period, 10, 1e5, "PIXELS", "Period of that wave, in pixels [160]"},
    {"--vertical-period-x", &SceneOptions::vertical_period_x, 0, 1e5, "PIXELS",
     "Period along the rows with which the wave's amplitude changes, in pixels; 0: it does not change [0]"},
    {"--vertical-jitter", &SceneOptions::vertical_jitter, 0, 20, "ROWS",
     "Largest random displacement of each row of the right image, in rows [0]"},
    {"--noise", &SceneOptions::noise, 0, huge, "SIGMA",
     "Standard deviation of the noise in both images, in grey levels [0]"},
    {"--shot-noise", &SceneOptions::shot_noise, 0, 255, "SIGMA",
     "Standard deviation of the shot noise at full intensity, in grey levels; it falls with the root of the intensity "
     "[0]"},
    {"--blur-left", &SceneOptions::blur_left, 0, 10, "SIGMA",
     "Standard deviation of the left image's blur, in pixels [0]"},
    {"--defocus", &SceneOptions::defocus, 0, 6, "RADIUS",
     "Radius of the blur at the far end of the disparity range if the near end is in focus, in pixels [0]"},
    {"--focus", &SceneOptions::focus, 0, 1, "SHARE",
     "Disparity in focus, as a share of the disparity range, 0 to 1 [0.5]"},
    {"--motion", &SceneOptions::motion, 0, 50, "LENGTH", "Length of a horizontal motion blur, in pixels [0]"},
    {"--sharpening", &SceneOptions::sharpening, 0, 4, "SHARE",
     "Strength of sharpening, as cameras apply it: share of the difference from a blurred image that is added [0]"},
    {"--exposure", &SceneOptions::exposure, 0, 20, "FACTOR",
     "Factor of the light in both images; with more than 1, bright surfaces and the sky saturate [1]"},
    {"--tone", &SceneOptions::tone, .1, 10, "EXPONENT",
     "Exponent of the intensities of both images; with more than 1, shadows become dark [1]"},
    {"--flare", &SceneOptions::flare, 0, 1, "STRENGTH", "Strength of lens flare, 0 to 1 [0]"},
    {"--demosaicing", &SceneOptions::demosaicing, 0, 1, "SHARE",
     "Share of both images that is interpolated from a Bayer mosaic, 0 to 1 [0]"},
    {"--jpeg", &SceneOptions::jpeg, 0, 100, "QUALITY", "Quality of JPEG compression, 1 to 100; 0: none [0]"},
    {"--resampling", &SceneOptions::resampling, 0, 4, "PIXELS",
     "Displacement of the raw images' corners, which bilinear interpolation rectifies [0]"}};

struct SynthOptions {
  fs::path folder;
  std::string scene = SceneOptions{}.scene, like = mixture_names().front();
  bool random = false, stacked = false;
  std::optional<int> width, height, disparities, seed, count, picture_width, picture_height;
  std::array<std::optional<double>, std::size(numbers)> values;

  std::uint64_t first_seed() const { return static_cast<std::uint64_t>(seed.value_or(1)); }
  Size size() const { return {width.value_or(SceneOptions{}.size.width), height.value_or(SceneOptions{}.size.height)}; }

  SceneOptions scene_options() const {
    SceneOptions o;
    o.scene = scene;
    o.size = size();
    o.disparities = disparities.value_or(o.disparities);
    o.seed = first_seed();
    for (std::size_t i = 0; i < values.size(); ++i) o.*numbers[i].member = values[i].value_or(o.*numbers[i].member);
    return o;
  }

  std::vector<SceneOptions> random_scenes() const {
    const Size picture{picture_width.value_or(size().width), picture_height.value_or(size().height)};
    std::vector<SceneOptions> list;
    for (int i = 0; i < count.value_or(1); ++i)
      list.push_back(
          random_scene(size(), picture, disparities.value_or(SceneOptions{}.disparities), first_seed() + i, like));
    return list;
  }
};

// Returns everything that is needed to generate the scene again.
Json parameters(const SceneOptions& o) {
  Json json{{"seed", o.seed}};
  for (const Number& number : numbers) {
    std::string name = number.option + 2;
    std::replace(name.begin(), name.end(), '-', '_');
    json[name] = o.*number.member;
  }
  if (o.window.width > 0) {
    json["picture"] = {o.size.width, o.size.height};
    json["window"] = {o.window.x, o.window.y};
  }
  return json;
}

Json description(const SceneOptions& o, const Scene& scene) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  const Size size = scene.left.size();
  for (int y = 0; y < size.height; ++y) {
    const auto [a, b] = std::minmax_element(scene.disparity_left.row(y), scene.disparity_left.row(y) + size.width);
    low = std::min(low, *a);
    high = std::max(high, *b);
  }
  return {{"name", o.scene},
          {"dataset", "synth"},
          {"left", "left.png"},
          {"right", "right.png"},
          {"width", size.width},
          {"height", size.height},
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
          {"synth", parameters(o)}};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorCategory::file,
                fmt::format("the directory {} cannot be created: {}", folder.string(), error.message()));
}

void write_scene(const fs::path& folder, const SceneOptions& options, const Scene& scene) {
  make_folder(folder);
  write_image(folder / "left.png", scene.left);
  write_image(folder / "right.png", scene.right);
  write_disparity(folder / "disp_left.pfm", scene.disparity_left);
  write_disparity(folder / "disp_right.pfm", scene.disparity_right);
  write_image(folder / "mask_nonocc.png", scene.nonocc_left);
  write_image(folder / "mask_disc.png", scene.disc_left);
  write_json(folder / "dataset.json", description(options, scene));
}

// Scenes stacked vertically, in one array of each kind.
class Stack {
 public:
  Stack(Size size, int count)
      : height_(size.height),
        left_(Size{size.width, count * size.height}, 3),
        right_(Size{size.width, count * size.height}, 3),
        nonocc_(Size{size.width, count * size.height}),
        disparity_(Size{size.width, count * size.height}) {}

  void put(int i, const Scene& scene) {
    const auto place = [&](const auto& from, auto& to) {
      for (int y = 0; y < height_; ++y)
        std::copy_n(from.row(y), static_cast<std::ptrdiff_t>(from.width()) * from.channels(), to.row(i * height_ + y));
    };
    place(scene.left, left_);
    place(scene.right, right_);
    place(scene.nonocc_left, nonocc_);
    place(scene.disparity_left, disparity_);
  }

  void write(const fs::path& folder) const {
    write_image(folder / "left.npy", left_);
    write_image(folder / "right.npy", right_);
    write_image(folder / "mask_nonocc.npy", nonocc_);
    write_disparity(folder / "disp_left.npy", disparity_);
  }

 private:
  int height_;
  Image<std::uint8_t> left_, right_, nonocc_;
  Image<float> disparity_;
};

void check_stack(Size size, int count) {
  if (static_cast<long long>(size.height) * count > std::numeric_limits<int>::max() / 16)
    refuse(
        fmt::format("--count {} scenes of {} rows are too many for one array; generate them in several calls, each "
                    "with its own --seed",
                    count, size.height));
}

void synth_random(const SynthOptions& options, const fs::path& folder) {
  const std::vector<SceneOptions> scenes = options.random_scenes();
  const int count = static_cast<int>(scenes.size());
  if (options.stacked) {
    check_stack(options.size(), count);
    Stack stack(options.size(), count);
    make_scenes(scenes, [&](int i, const Scene& scene) { stack.put(i, scene); });
    Json list = Json::array();
    for (const SceneOptions& o : scenes)
      list.push_back({{"scene", o.scene}, {"ndisp", o.disparities}, {"synth", parameters(o)}});
    make_folder(folder);
    stack.write(folder);
    write_json(folder / "scenes.json",
               {{"width", options.size().width}, {"height", options.size().height}, {"scenes", list}});
  } else {
    make_folder(folder);
    make_scenes(scenes,
                [&](int i, const Scene& scene) { write_scene(folder / fmt::format("{:06}", i), scenes[i], scene); });
  }
  summarise("{}: {} random scenes, {}, at most {} disparities, seeds from {} upwards\n", folder.string(), count,
            size_text(options.size()), options.disparities.value_or(SceneOptions{}.disparities), options.first_seed());
}

// The memory holds two RGB images, two maps and three masks per scene, and as much again while they are generated.
// Scenes that are not stacked are generated one by one.
void check_memory(const SynthOptions& options) {
  const Size size = options.size();
  const double scenes = options.stacked ? options.count.value_or(1) : 1;
  const double bytes = 2.0 * (2 * 3 + 2 * 4 + 3) * size.width * size.height * scenes;
  if (bytes > 0.5 * static_cast<double>(host_memory_bytes()))
    throw Error(ErrorCategory::memory,
                fmt::format("{:.0f} scenes of {} need {} while they are generated, more than half of this "
                            "machine's memory; generate smaller or fewer scenes",
                            scenes, size_text(size), memory_text(static_cast<std::size_t>(bytes))));
}

void synth(const SynthOptions& options) {
  const fs::path folder = options.folder.has_filename() ? options.folder : options.folder.parent_path();
  if (fs::exists(folder) && !fs::is_directory(folder))
    refuse(fmt::format("-o {} is a file; give the name of a directory", folder.string()));
  if (!creates_folders() && !fs::is_directory(folder))
    refuse(fmt::format("-o {} does not exist; create it first, or leave --no-create out", folder.string()));
  check_result(folder / "left.png");
  check_memory(options);
  if (options.random) return synth_random(options, folder);
  const SceneOptions o = options.scene_options();
  write_scene(folder, o, make_scene(o));
  summarise("{}: scene {}, {}, {} disparities, seed {}\n", folder.string(), o.scene, size_text(o.size), o.disparities,
            o.seed);
}

}  // namespace

void add_synth(CLI::App& application) {
  Command command(application, "synth", "Generate a scene whose disparity is known exactly");
  const auto o = std::make_shared<SynthOptions>();
  constexpr int any_int = std::numeric_limits<int>::max();
  command.path("-o,--output", o->folder, "DIR", "Directory to write").required();
  command.creates_folders();
  const Option scene = command.text("--scene", o->scene, "NAME",
                                    "Scene to generate: " + join(scene_names(), ", ") + " [" + o->scene + "]");
  command.integer("--width", o->width, 1, any_int, "N", "Width of the images in pixels [640]");
  command.integer("--height", o->height, 1, any_int, "N", "Height of the images in pixels [480]");
  command.integer("--disparities", o->disparities, 1, any_int, "N",
                  "Number of disparities: the ground truth lies in the range 0 to N − 1 [64]");
  command.integer("--seed", o->seed, 0, any_int, "N",
                  "Seed of textures, noise and random positions; the same seed gives the same bytes [1]");
  command.group("Light and cameras");
  std::vector<Option> chosen{scene};
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    const Number& n = numbers[i];
    chosen.push_back(command.number(n.option, o->values[i], n.low, n.high, n.placeholder, n.help));
  }
  command.group("Many scenes");
  Option random = command.flag("--random", o->random,
                               "Generate training data: scene, disparity range, light and cameras are drawn at random");
  for (const Option& option : chosen) random.excludes(option);
  command
      .text("--like", o->like, "MIXTURE",
            fmt::format("Kind of the random scenes: {} [{}]", join(mixture_names(), ", "), o->like))
      .needs(random);
  command
      .integer("--count", o->count, 1, any_int, "N",
               "Number of random scenes, written to folders 000000, 000001, …; each has the next seed [1]")
      .needs(random);
  command
      .integer("--picture-width", o->picture_width, 1, any_int, "N",
               "Width of the picture of which each scene is a random part, in pixels [--width]")
      .needs(random);
  command
      .integer("--picture-height", o->picture_height, 1, any_int, "N",
               "Height of the picture of which each scene is a random part, in pixels [--height]")
      .needs(random);
  command
      .flag("--stacked", o->stacked,
            "Write one array of each kind with all scenes, one below another, instead of folders")
      .needs(random);
  command.footer(
      "The command writes left.png, right.png, disp_left.pfm, disp_right.pfm, mask_nonocc.png, mask_disc.png and "
      "dataset.json to DIR. `stereopsis evaluate --dataset DIR` reads these files. With --stacked, the command writes "
      "left.npy, right.npy, disp_left.npy, mask_nonocc.npy and scenes.json.");
  command.callback([o] { synth(*o); });
}

}  // namespace stereopsis::command
