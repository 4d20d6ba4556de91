#include "jobs/sinks.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "io/image_files.hpp"
#include "jobs/folders.hpp"
#include "jobs/frame_writer.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;
using sources::refuse;

// Returns the record of results with the names of a pattern, in the folder that all of them share.
fs::path record_beside(const fs::path& pattern) {
  fs::path folder = pattern.parent_path();
  while (has_star(folder)) folder = folder.parent_path();
  std::string name = pattern.filename().string();
  std::erase(name, '*');
  return name_beside(folder / name, ".json");
}

}  // namespace

const fs::path& SinkSettings::main_output() const {
  if (wants(ResultFile::disparity)) return files[ResultFile::disparity];
  const auto first = std::ranges::find_if(files, [](const fs::path& file) { return !file.empty(); });
  return first == files.end() ? files.front() : *first;
}

std::string SinkSettings::shown(const fs::path& file) const {
  return !file.empty() && file == piped ? "-" : file.string();
}

Sinks::Sinks(const SinkSettings& settings, const sources::Frames& left, CallFiles& taken, FrontEnd& front_end)
    : settings_(settings), left_(left), front_end_(front_end), files_(left.size()) {
  if (!settings.piped.empty() && left.sequence)
    refuse(
        "a result named - is written to standard output, which holds one result; for a sequence, give a directory or a "
        "pattern");
  color_video_ = video_of(ResultFile::colour, taken);
  depth_video_ = video_of(ResultFile::depth_picture, taken);
  for (std::size_t k = 0; k < file_count; ++k)
    for (std::size_t i = 0; i < left.size() && settings.wants(k) && !is_video(settings.files[k]); ++i) {
      files_[i][k] =
          output_file(settings.files[k], left, i, file_kinds()[k].extension, option(k), settings.creates_folders);
      taken.writes(files_[i][k], option(k));
    }
  for (const SavedVolume& volume : settings.volumes) taken.writes(volume.file, front_end.spelled("save_volume"));
  taken.writes(settings.report, front_end.spelled("report"));
  const fs::path& out = settings.main_output();
  if (!left.sequence || out.empty() || is_video(out)) return;
  sidecar_ = is_result_folder(out, settings.creates_folders) ? out / ".stereopsis.json" : record_beside(out);
  taken.writes(sidecar_, fmt::format("the record for {}", front_end.spelled("resume")));
}

// Opens the video of a picture, for a name such as color.mp4; returns null for other names.
std::shared_ptr<VideoFile> Sinks::video_of(ResultFile picture, CallFiles& taken) const {
  const fs::path& file = settings_.files[picture];
  if (!is_video(file)) return nullptr;
  if (!left_.sequence)
    refuse(fmt::format("{} {} is a video, and the input is one pair; use .png, .ppm, .jpg, .webp or .tiff",
                       option(picture), file.string()));
  if (settings_.resumes)
    refuse(fmt::format("{0} cannot continue the video {1}; leave {0} out, or write pictures such as color%03d.png",
                       front_end_.spelled("resume"), file.string()));
  taken.writes(file, option(picture));
  check_result(file);
  constexpr double usual = 10;  // frames per second
  return settings_.create_video(file, left_.video ? left_.video->rate() : usual);
}

void Sinks::check_result(const fs::path& file, const std::function<void(const fs::path&)>& check) const {
  jobs::check_result(file, settings_.shown(file), settings_.creates_folders, check);
}

bool Sinks::holds_no_sign() const {
  return std::ranges::any_of(std::array{ResultFile::disparity, ResultFile::right}, [this](ResultFile file) {
    const std::string extension = extension_of(settings_.files[file]);
    return extension == ".png" || extension == ".pgm";
  });
}

void Sinks::check(DisparityRange values) const {
  for (const auto& names : files_)
    for (std::size_t k = 0; k < file_count; ++k) {
      if (names[k].empty()) continue;
      if (!file_kinds()[k].extensions.empty()) {
        check_extension(names[k], file_kinds()[k].extensions, option(k));
        check_result(names[k]);
        continue;
      }
      io::check_can_write(names[k]);
      check_result(names[k],
                   [&](const fs::path& file) { check_writable_disparity(file, values, settings_.scale.value_or(0)); });
    }
  if (!settings_.report.empty()) check_result(settings_.report);
}

void Sinks::create_folders() const {
  if (!settings_.creates_folders) return;
  const auto create = [this](const fs::path& file) {
    if (const auto folder = create_folder_of(file))
      front_end_.detail(fmt::format("the folder {} was created", folder->string()));
  };
  for (const ResultFile picture : {ResultFile::colour, ResultFile::depth_picture}) create(settings_.files[picture]);
  for (const ResultFiles& results : files_) std::ranges::for_each(results, create);
  for (const SavedVolume& volume : settings_.volumes) create(volume.file);
  create(settings_.report);
}

long long Sinks::write(std::size_t i, const InputFrame& frame, const FrameResult& result,
                       const ResultFacts& facts) const {
  return FrameWriter(settings_, facts, left_.sequence, color_video_.get(), depth_video_.get())
      .write(frame, result, files_[i]);
}

std::vector<fs::path> Sinks::remove(std::size_t i) const {
  std::vector<fs::path> removed;
  for (const fs::path& file : files_[i]) {
    const fs::path target = follow_links(file);
    std::error_code ignored;
    if (!file.empty() && fs::is_regular_file(target, ignored) && fs::remove(target, ignored)) removed.push_back(file);
  }
  return removed;
}

std::vector<OutputFile> Sinks::outputs(std::size_t i, Size written, std::optional<Size> registered) const {
  std::vector<OutputFile> expected;
  for (std::size_t k = 0; k < file_count; ++k) {
    if (files_[i][k].empty()) continue;
    const bool has_legend =
        k == ResultFile::colour || k == ResultFile::depth_picture || k == ResultFile::validity_picture;
    const Size map = k == ResultFile::depth ? registered.value_or(written) : written;
    expected.push_back({files_[i][k], has_legend || k == ResultFile::cloud ? Size{} : map});
  }
  return expected;
}

void Sinks::finish() const {
  for (const auto& video : {color_video_, depth_video_})
    if (video) video->finish();
}

}  // namespace stereopsis::jobs
