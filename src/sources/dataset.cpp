#include "stereopsis/dataset.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "core/text.hpp"
#include "io/calibration_document.hpp"
#include "io/file.hpp"
#include "sources/frames.hpp"
#include "sources/layouts.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<const char*, 3> region_names = {"nonocc", "all", "disc"};

Json parsed(const fs::path& file) {
  const std::string json = read_text(file);
  io::naming(file, [&] { check_json_depth(json); });
  return Json::parse(json, nullptr, false);
}

// A dataset.json file, read strictly: every value that is present must have the right type. Errors name the file, the
// key and the value.
class Description {
 public:
  explicit Description(const fs::path& file) : file_(file), json_(parsed(file)) {
    if (json_.is_discarded() || !json_.is_object()) fail("is not a JSON object; correct the file");
  }

  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }

  std::string string(const char* key, std::string otherwise = "") const {
    if (!has(key)) return otherwise;
    if (!json_[key].is_string()) refuse(key, "text");
    return json_[key].get<std::string>();
  }
  fs::path path(const char* key) const {
    const std::string name = string(key);
    if (name.empty() && has(key)) refuse(key, "the name of a file");
    return name.empty() ? fs::path() : file_.parent_path() / name;
  }
  int count(const char* key) const {
    const Json& value = json_[key];
    constexpr int largest = std::numeric_limits<int>::max();
    if (!value.is_number_integer() || value < 1 || value > largest) refuse(key, text("an integer from 1 to ", largest));
    return value.get<int>();
  }
  double scale(const char* key) const {
    if (!has(key)) return 0;
    if (!json_[key].is_number() || !(json_[key] > 0)) refuse(key, "a number above 0");
    return json_[key].get<double>();
  }
  // Returns whether 0 marks unknown disparities. The value may be 0 or "inf"; float files need neither.
  bool zero_is_unknown(const char* key) const {
    if (!has(key)) return false;
    if (json_[key] != 0 && json_[key] != "inf") refuse(key, "0 or \"inf\"");
    return json_[key] == 0;
  }
  std::vector<DatasetScene::Mask> masks(const char* key) const {
    if (!has(key)) return {};
    if (!json_[key].is_object()) refuse(key, "an object with the names of mask files as keys");
    std::vector<DatasetScene::Mask> masks;
    for (const char* region : region_names)
      if (const std::string name = text("mask_", region, ".png"); json_[key].contains(name))
        masks.push_back({region, file_.parent_path() / name});
    if (masks.size() != json_[key].size())
      refuse(key, "an object with only the keys mask_nonocc.png, mask_all.png and mask_disc.png");
    return masks;
  }
  void check_is(const char* key, const char* only) const {
    if (has(key) && json_[key] != only) refuse(key, text('"', only, '"'));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCategory::format, text(file_.string(), ": ", what));
  }
  [[noreturn]] void refuse(const char* key, const std::string& allowed) const {
    fail(text('"', key, "\" is ", json_[key].dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80),
              "; it must be ", allowed));
  }

  fs::path file_;
  Json json_;
};

bool is_scene(const Description& d) { return d.has("left") && d.has("right") && d.has("gt") && d.has("ndisp"); }

DatasetScene scene_of(const Description& d, const fs::path& folder) {
  const fs::path place = fs::absolute(folder).lexically_normal();
  DatasetScene scene;
  scene.name = d.string("name", place.filename().string());
  scene.dataset = d.string("dataset", place.parent_path().filename().string());
  scene.folder = folder;
  scene.left = d.path("left");
  scene.right = d.path("right");
  scene.truth = d.path("gt");
  scene.truth_nonocc = d.path("gt_noc");
  scene.truth_right = d.path("gt_right");
  scene.masks = d.masks("masks");
  scene.disparities = d.count("ndisp");
  scene.truth_scale = d.scale("gt_scale");
  scene.zero_is_unknown = d.zero_is_unknown("gt_invalid");
  scene.truth_is_nonocc = d.string("gt_kind").starts_with("noc");
  d.check_is("gt_view", "left");
  return scene;
}

// Returns the folder and all folders below it, which may be reached by links, each once.
void add_folders(const fs::path& folder, std::set<fs::path>& seen, std::vector<fs::path>& folders) {
  if (!seen.insert(fs::canonical(folder)).second) return;
  folders.push_back(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (std::error_code ignored; entry.is_directory(ignored)) add_folders(entry.path(), seen, folders);
}

std::vector<fs::path> folders_below(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::set<fs::path> seen;
  try {
    add_folders(folder.has_filename() ? folder : folder.parent_path(), seen, folders);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCategory::file, text(folder.string(), ": cannot be searched for scenes (", error.code().message(),
                                          "); give a folder that exists and can be read"));
  }
  std::ranges::sort(folders);
  return folders;
}

// Returns the number of disparities of a scene without dataset.json: ndisp of Middlebury's calibration, else the number
// that the truth requires.
int disparities_of(const sources::SceneFiles& files) {
  if (!files.calibration.empty()) {
    const auto calibration =
        io::naming(files.calibration, [&] { return io::Document::parse(read_text(files.calibration)); });
    if (calibration.has("ndisp"))
      return static_cast<int>(io::naming(files.calibration, [&] { return calibration.number("ndisp"); }));
  }
  const Image<float> truth = read_disparity(files.truth);
  float largest = 0;
  for (int y = 0; y < truth.height(); ++y)
    for (int x = 0; x < truth.width(); ++x)
      if (std::isfinite(truth(x, y))) largest = std::max(largest, truth(x, y));
  return static_cast<int>(std::ceil(largest)) + 1;
}

// Returns the scene in a folder without dataset.json, if it has a pair of images with ground truth.
std::optional<DatasetScene> scene_by_layout(const fs::path& folder) {
  const auto files = sources::scene_in(folder);
  if (!files || files->truth.empty() || !sources::is_file(files->left)) return std::nullopt;
  const fs::path place = fs::absolute(folder).lexically_normal();
  DatasetScene scene;
  scene.name = place.filename().string();
  scene.dataset = place.parent_path().filename().string();
  scene.folder = folder;
  scene.left = files->left;
  scene.right = files->right;
  scene.truth = files->truth;
  if (!files->nonocc.empty()) scene.masks.push_back({"nonocc", files->nonocc});
  scene.disparities = disparities_of(*files);
  return scene;
}

void check_size(const fs::path& file, Size got, const DatasetScene& scene, Size expected) {
  if (got != expected)
    throw Error(ErrorCategory::format,
                text(file.string(), ": is ", got.width, "×", got.height, " but ", scene.left.filename().string(),
                     " is ", expected.width, "×", expected.height, "; all files of a scene must have the same size"));
}

Image<float> read_truth(const fs::path& file, const DatasetScene& scene, Size size) {
  Image<float> truth = read_disparity(file, scene.truth_scale);
  check_size(file, truth.size(), scene, size);
  for (int y = 0; y < truth.height() && scene.zero_is_unknown; ++y)
    std::replace(truth.row(y), truth.row(y) + truth.width(), 0.0f, invalid_disparity);
  return truth;
}

template <class T, class Counts>
Image<std::uint8_t> mask_where(const Image<T>& image, Counts&& counts) {
  Image<std::uint8_t> mask(image.size());
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) mask(x, y) = counts(image(x, y)) ? 255 : 0;
  return mask;
}

Image<std::uint8_t> known(const Image<float>& truth) {
  return mask_where(truth, [](float d) { return std::isfinite(d); });
}

// Returns the mask of the region, by the rules of dataset.hpp. The image is empty if the region is unknown.
Image<std::uint8_t> region_mask(const std::string& region, const DatasetScene& scene, const Image<float>& truth) {
  for (const DatasetScene::Mask& mask : scene.masks)
    if (mask.region == region) {
      Image<std::uint8_t> counted = read_mask(mask.file);
      check_size(mask.file, counted.size(), scene, truth.size());
      return counted;
    }
  if (region == "nonocc") {
    if (!scene.truth_nonocc.empty()) return known(read_truth(scene.truth_nonocc, scene, truth.size()));
    if (!scene.truth_right.empty()) return nonoccluded(truth, read_truth(scene.truth_right, scene, truth.size()));
    if (scene.truth_is_nonocc) return known(truth);
  }
  if (region == "all" && !scene.truth_is_nonocc) return known(truth);
  return {};
}

}  // namespace

std::vector<DatasetScene> find_scenes(const fs::path& folder,
                                      const std::function<void(const fs::path& file, const Error& error)>& failed) {
  std::vector<DatasetScene> scenes;
  bool any_failed = false;
  for (const fs::path& place : folders_below(folder)) try {
      const fs::path file = place / "dataset.json";
      if (!fs::exists(file)) {
        if (const auto scene = scene_by_layout(place)) scenes.push_back(*scene);
      } else if (const Description description(file); is_scene(description)) {
        scenes.push_back(scene_of(description, place));
      }
    } catch (const Error& error) {
      if (!failed) throw;
      any_failed = true;
      failed(place / "dataset.json", error);
    }
  if (scenes.empty() && !any_failed)
    throw Error(
        ErrorCategory::file,
        text(folder.string(),
             ": has no dataset.json with left, right, gt and ndisp, and no folder with "
             "im0.png, im1.png and disp0GT.pfm or disp0.pfm; give the folder of a scene, of a "
             "dataset or of several datasets, and write a dataset.json for others, such as Booster and Spring"));
  return scenes;
}

LoadedScene load_scene(const DatasetScene& scene) {
  LoadedScene loaded;
  loaded.left = read_image(scene.left);
  loaded.right = read_image(scene.right);
  const Size size = loaded.left.size();
  check_size(scene.right, loaded.right.size(), scene, size);
  loaded.truth = read_truth(scene.truth, scene, size);
  for (const char* region : region_names)
    if (Image<std::uint8_t> mask = region_mask(region, scene, loaded.truth); !mask.empty())
      loaded.regions.push_back({region, std::move(mask)});
  return loaded;
}

}  // namespace stereopsis
