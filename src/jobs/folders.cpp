#include "jobs/folders.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "io/image_files.hpp"

namespace stereopsis::jobs {
namespace {

namespace fs = std::filesystem;
using sources::refuse;

bool folder_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

// Returns the file of the same name in the nearest folder that exists.
fs::path checkable(const fs::path& file) {
  if (file.empty() || folder_exists(folder_of(file))) return file;
  std::error_code ignored;
  fs::path folder = folder_of(file);
  while (!fs::exists(folder, ignored) && folder.has_parent_path() && folder != folder.parent_path())
    folder = folder.parent_path();
  if (!fs::exists(folder, ignored)) folder = ".";
  if (!folder_exists(folder))
    throw Error(ErrorCategory::file, fmt::format("{} cannot be written, because {} is a file; choose another folder",
                                                 file.string(), folder.string()));
  return folder / file.filename();
}

// Returns the file of a pattern such as out/*/disparity.pfm, in which * stands for the name of a result.
fs::path starred(const fs::path& given, const std::string& name) {
  std::string file = given.string();
  for (std::size_t star = file.find('*'); star != std::string::npos; star = file.find('*', star + name.size()))
    file.replace(star, 1, name);
  return file;
}

}  // namespace

std::string extension_of(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension;
}

bool has_star(const fs::path& given) { return given.string().find('*') != std::string::npos; }

bool is_result_folder(const fs::path& path, bool creates) {
  if (folder_exists(path)) return true;
  std::error_code ignored;
  return creates && !fs::exists(path, ignored) && path.extension().empty() &&
         path.string().find_first_of("%*") == std::string::npos;
}

fs::path output_file(const fs::path& given, const sources::Frames& left, std::size_t i, const std::string& extension,
                     const std::string& name, bool creates) {
  if (!left.sequence) {
    if (folder_exists(given))
      refuse(fmt::format("{} {} is a directory; give the name of a file", name, given.string()));
    return given;
  }
  if (is_result_folder(given, creates)) return given / (left.stem(i) + extension);
  if (has_star(given)) return starred(given, left.stem(i));
  if (const auto file = sources::file_of_pattern(given, left.numbers[i])) return *file;
  refuse(fmt::format(
      "{} {} is neither {} nor a pattern such as disparity%03d.pfm or 'out/*/disparity.pfm'; for a sequence, "
      "give a directory or a pattern",
      name, given.string(), creates ? "a directory" : "an existing directory"));
}

void check_extension(const fs::path& file, std::span<const char* const> extensions, const std::string& name) {
  if (std::ranges::find(extensions, extension_of(file), [](const char* one) { return std::string(one); }) ==
      extensions.end()) {
    std::string allowed;
    for (const char* one : extensions) allowed += (allowed.empty() ? "" : ", ") + std::string(one);
    refuse(fmt::format("{} {} has an extension that is not supported for this output; use {}", name, file.string(),
                       allowed));
  }
  io::check_can_write(file);
}

void check_result(const fs::path& file, const std::string& shown, bool creates,
                  const std::function<void(const fs::path&)>& check) {
  const std::string checked = (creates ? checkable(file) : file).string();
  try {
    check(checked);
  } catch (const Error& error) {
    std::string sentence = error.what();
    if (sentence.starts_with(checked)) sentence.replace(0, checked.size(), shown);
    throw Error(error.category(), sentence);
  }
}

std::optional<fs::path> create_folder_of(const fs::path& file) {
  if (file.empty() || folder_exists(folder_of(file))) return std::nullopt;
  fs::create_directories(folder_of(file));
  return folder_of(file);
}

}  // namespace stereopsis::jobs
