#include "sources/maps.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "io/file.hpp"
#include "sources/layouts.hpp"

namespace stereopsis::sources {
namespace {

namespace fs = std::filesystem;

bool is_map_name(const fs::path& file) {
  const std::string extension = io::lower_extension(file);
  return is_image_name(file) && extension != ".jpg" && extension != ".jpeg" && extension != ".webp";
}

std::vector<fs::path> maps_in(const fs::path& folder) {
  std::vector<fs::path> maps;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (is_file(entry.path()) && is_map_name(entry.path())) maps.push_back(entry.path());
  std::ranges::sort(maps);
  return maps;
}

// Returns the map of a folder, or an empty path.
fs::path map_of(const fs::path& folder, const std::string& what) {
  if (const auto scene = scene_in(folder)) return scene->truth;
  const std::vector<fs::path> maps = maps_in(folder);
  if (maps.size() > 1)
    refuse(text(what, " ", folder.string(), " has several files, such as ", maps[0].filename().string(), " and ",
                maps[1].filename().string(), "; select one with a pattern such as 'DIR/*/", maps[0].filename().string(),
                "'"));
  return maps.empty() ? fs::path() : maps[0];
}

}  // namespace

bool are_maps(const fs::path& given) {
  return is_folder(given) || (!file_exists(given) && given.string().find_first_of("*?[%") != std::string::npos);
}

Frames find_maps(const fs::path& given, const std::string& what) {
  if (!is_folder(given)) return find_frames(given, what);
  if (const auto scene = scene_in(given); scene && !scene->truth.empty()) return find_frames(scene->truth, what);
  if (std::vector<fs::path> maps = maps_in(given); !maps.empty()) return frames_of(std::move(maps), what);
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(given))
    if (is_folder(entry.path())) folders.push_back(entry.path());
  std::ranges::sort(folders);
  Frames frames{.sequence = true};
  for (const fs::path& folder : folders) {
    const fs::path map = map_of(folder, what);
    if (map.empty()) continue;
    frames.numbers.push_back(static_cast<long long>(frames.files.size()));
    frames.files.push_back(map);
    frames.stems.push_back(folder.filename().string());
    frames.by_name.push_back(frames.stems.back() + '/');
  }
  if (frames.files.empty())
    refuse(text(what, " ", given.string(), " has no disparity maps, and no folders with one disparity map each"));
  return frames;
}

std::vector<MapWithTruth> with_truths(Frames maps, const fs::path& given, Frames truths, const fs::path& given_truths,
                                      std::vector<std::string>& without_map) {
  for (Frames* frames : {&maps, &truths})
    if (!frames->sequence) *frames = frames_of(frames->files, "the map");
  without_map = pair_up(maps, given, truths, given_truths, Unpaired::skip_of_second);
  std::vector<MapWithTruth> pairs;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto scene = scene_in(truths.file(i).parent_path());
    const bool beside = scene && scene->truth == truths.file(i);
    pairs.push_back({maps.stem(i), maps.file(i), truths.file(i), beside ? scene->nonocc : fs::path()});
  }
  return pairs;
}

}  // namespace stereopsis::sources
