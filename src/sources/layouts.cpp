#include "sources/layouts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "core/text.hpp"
#include "sources/frames.hpp"
#include "sources/side_names.hpp"

namespace stereopsis::sources {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!entry->path().filename().string().starts_with('.')) entries.push_back(entry->path());
  if (error) throw Error(ErrorCategory::file, text(folder.string(), " cannot be listed: ", error.message()));
  std::ranges::sort(entries);
  return entries;
}

// Returns the images of a folder of views; recordings of KITTI and EuRoC have them in a folder data.
fs::path images_of(const fs::path& view) { return is_folder(view / "data") ? view / "data" : view; }

fs::path first_file(const fs::path& folder, const std::vector<const char*>& names) {
  for (const char* name : names)
    if (is_file(folder / name)) return folder / name;
  return {};
}

std::optional<SceneFiles> fitted(const Layout& layout, const fs::path& folder) {
  SceneFiles scene;
  if (layout.folders) {
    if (!is_folder(folder / layout.left) || !is_folder(folder / layout.right)) return std::nullopt;
    scene.left = images_of(folder / layout.left);
    scene.right = images_of(folder / layout.right);
  } else {
    for (const char* extension : {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".ppm", ".pnm", ".pfm", ".npy",
                                  ".bmp", ".webp", ".jp2", ".mp4", ".avi"}) {
      const fs::path left = folder / (std::string(layout.left) + extension),
                     right = folder / (std::string(layout.right) + extension);
      if (!scene.left.empty() || !is_file(left) || !is_file(right)) continue;
      scene.left = left;
      scene.right = right;
    }
    if (scene.left.empty()) return std::nullopt;
  }
  scene.truth = first_file(folder, layout.truth);
  scene.nonocc = first_file(folder, layout.nonocc);
  scene.calibration = first_file(folder, layout.calibration);
  return scene;
}

// Returns whether a name says that a file or folder holds no pictures.
bool names_other_data(const std::string& name) {
  return std::ranges::any_of(std::array{"disp", "disparity", "depth", "mask", "occ", "seg", "flow", "conf",
                                        "confidence", "gt", "truth", "label", "labels"},
                             [&](const char* word) { return has_word(name, word); });
}

// Returns pairs of names that differ only in the side, by index. Names of other data count only where there are no
// others.
std::vector<std::pair<std::size_t, std::size_t>> pairs_by_side(const std::vector<std::string>& names) {
  const std::vector<std::size_t> partners = partners_by_side(names, names);
  std::vector<std::pair<std::size_t, std::size_t>> pictures, others;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (partners[i] < names.size()) (names_other_data(names[i]) ? others : pictures).emplace_back(i, partners[i]);
  return pictures.empty() ? others : pictures;
}

// Returns two folders whose names differ only in the side, such as image_left and image_right.
std::vector<SceneFiles> scenes_by_side(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& entry : entries_of(folder))
    if (is_folder(entry)) names.push_back(entry.filename().string());
  std::vector<SceneFiles> scenes;
  for (const auto& [left, right] : pairs_by_side(names))
    scenes.push_back({images_of(folder / names[left]), images_of(folder / names[right]), {}, {}, {}});
  return scenes;
}

std::string kind_of_name(const SideWord& word, const std::string& name, const std::string& extension) {
  std::string after = word.begin == 0 ? "" : name.substr(word.begin + word.size);
  std::erase_if(after, [](unsigned char c) { return std::isdigit(c) != 0; });
  return text(word.begin == 0 ? "left*" : "*left", after, extension);
}

}  // namespace

std::span<const Layout> layouts() {
  // Middlebury of 2001 and 2003 has im0 to im8, with the truth of im2 and im6.
  static const std::vector<Layout> table = {
      {"folders", "left", "right", true},
      {"KITTI", "image_2", "image_3", true},
      {"KITTI", "colored_0", "colored_1", true},
      {"KITTI", "image_0", "image_1", true},
      {"KITTI raw", "image_02", "image_03", true, {}, {}, {"calib_cam_to_cam.txt"}},
      {"KITTI raw", "image_00", "image_01", true, {}, {}, {"calib_cam_to_cam.txt"}},
      {"EuRoC", "cam0", "cam1", true},
      {"EuRoC", "mav0/cam0", "mav0/cam1", true},
      {"Virtual KITTI", "Camera_0", "Camera_1", true},
      {"Spring", "frame_left", "frame_right", true},
      {"Booster", "camera_00", "camera_02", true},
      {"Middlebury", "im2", "im6", false, {"disp2.pfm"}},
      {"Middlebury", "im0", "im1", false, {"disp0GT.pfm", "disp0.pfm"}, {"mask0nocc.png"}, {"calib.txt"}},
      {"Middlebury 2006", "view1", "view5", false},
      {"pair", "left", "right", false, {"disp_left.pfm"}, {"mask_nonocc.png"}, {"calib.txt"}},
  };
  return table;
}

std::optional<SceneFiles> scene_in(const fs::path& folder) {
  std::vector<SceneFiles> found;
  std::set<std::string> datasets;
  for (const Layout& layout : layouts())
    if (const auto scene = fitted(layout, folder); scene && datasets.insert(layout.dataset).second)
      found.push_back(*scene);
  if (found.empty()) found = scenes_by_side(folder);
  const auto has_truth = [](const SceneFiles& scene) { return !scene.truth.empty(); };
  if (found.size() > 1 && std::ranges::count_if(found, has_truth) == 1) return *std::ranges::find_if(found, has_truth);
  if (found.size() > 1)
    refuse(text(folder.string(), " has several pairs of views, ", found[0].left.string(), " with ",
                found[0].right.string(), " and ", found[1].left.string(), " with ", found[1].right.string(),
                "; give LEFT and RIGHT"));
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

std::vector<fs::path> scene_folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const fs::path& entry : entries_of(folder))
    if (is_folder(entry) && scene_in(entry)) folders.push_back(entry);
  return folders;
}

NamedPairs named_pairs_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::vector<std::string> names;
  for (const fs::path& entry : entries_of(folder))
    if (is_file(entry) && is_image_name(entry)) {
      files.push_back(entry);
      names.push_back(entry.filename().string());
    }
  NamedPairs pairs;
  std::map<std::string, std::size_t> kinds;  // with the first pair of each
  std::set<std::size_t> taken;
  for (const auto& [left, right] : pairs_by_side(names)) {
    const std::string stem = files[left].stem().string();
    const auto words = left_words(stem);
    const auto word = std::ranges::find(words, files[right].stem().string(), &SideWord::other);
    kinds.emplace(kind_of_name(*word, stem, files[left].extension().string()), left);
    pairs.left.push_back(files[left]);
    pairs.right.push_back(files[right]);
    pairs.names.push_back(without(*word, stem));
    taken.insert({left, right});
  }
  if (kinds.size() > 1)
    refuse(text(folder.string(), " has several kinds of pairs, such as ", names[kinds.begin()->second], " and ",
                names[std::next(kinds.begin())->second],
                "; give LEFT and RIGHT as patterns, such as 'DIR/*_left.png' 'DIR/*_right.png'"));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!pairs.left.empty() && !taken.contains(i) && has_side(names[i]) && !names_other_data(names[i]))
      pairs.without_partner.push_back(files[i]);
  return pairs;
}

std::vector<std::string> distinct_stems(std::span<const fs::path> files) {
  const auto all_differ = [](const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end()).size() == names.size();
  };
  std::vector<std::string> stems, joined, numbers;
  std::vector<std::vector<std::string>> parts;  // from the last one, because the names of files are alike
  std::size_t most = 0;
  for (const fs::path& file : files) {
    stems.push_back(file.stem().string());
    numbers.push_back(padded(static_cast<long long>(numbers.size()), 6));
    parts.emplace_back();
    fs::path without_extension = file;
    without_extension.replace_extension();
    for (const fs::path& part : without_extension) parts.back().insert(parts.back().begin(), part.string());
    most = std::max(most, parts.back().size());
  }
  if (all_differ(stems)) return stems;
  joined.resize(files.size());
  for (std::size_t k = 0; k < most; ++k) {
    const auto part = [&](std::size_t i) { return k < parts[i].size() ? parts[i][k] : std::string(); };
    bool alike = true;
    for (std::size_t i = 1; i < files.size(); ++i) alike &= part(i) == part(0);
    for (std::size_t i = 0; i < files.size() && !alike; ++i)
      joined[i] = part(i) + (joined[i].empty() ? "" : "_") + joined[i];
  }
  return all_differ(joined) ? joined : numbers;
}

}  // namespace stereopsis::sources
