#include "sources/lists.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/text.hpp"
#include "io/file.hpp"
#include "sources/layouts.hpp"

namespace stereopsis::sources {
namespace {

namespace fs = std::filesystem;

// Returns the cells of a line, separated by commas, semicolons or tabs, without blanks and quotes around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells = {""};
  bool quoted = false;
  for (const char c : line)
    if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == ',' || c == ';' || c == '\t'))
      cells.emplace_back();
    else
      cells.back() += c;
  for (std::string& cell : cells) {
    cell.erase(0, cell.find_first_not_of(" \r"));
    cell.erase(cell.find_last_not_of(" \r") + 1);
  }
  return cells;
}

Frames listed(std::vector<fs::path> files) {
  Frames frames{.sequence = true, .files = std::move(files)};
  frames.stems = distinct_stems(frames.files);
  for (std::size_t i = 0; i < frames.files.size(); ++i) {
    frames.numbers.push_back(static_cast<long long>(i));
    frames.by_name.push_back(frames.stems[i] + '/');
  }
  return frames;
}

// Returns whether a first line names columns and not files.
bool is_heading(const std::vector<std::string>& cells, const fs::path& folder) {
  return std::ranges::none_of(cells, [&](const std::string& cell) {
    return cell.find_first_of("./\\") != std::string::npos || is_file(folder / cell);
  });
}

// Returns the columns of the images: those that a heading such as "time,left,right" names, else the first ones that
// hold files in the line below it; nothing if no files are found in a line with more cells than images.
std::optional<std::array<std::size_t, 2>> columns_in(const std::vector<std::string>& heading,
                                                     const std::vector<std::string>& cells, const fs::path& folder,
                                                     std::size_t views) {
  const auto named = [&](std::string_view name) {
    const auto cell = std::ranges::find_if(heading, [&](const std::string& c) { return c.starts_with(name); });
    return static_cast<std::size_t>(cell - heading.begin());
  };
  if (const std::array columns = {named("left"), named("right")}; std::ranges::max(columns) < heading.size())
    return columns;
  std::vector<std::size_t> files;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (is_file(image_file(folder / cells[i]))) files.push_back(i);
  if (files.size() >= views) return std::array{files[0], files[views - 1]};
  if (cells.size() > views) return std::nullopt;
  return std::array<std::size_t, 2>{0, 1};
}

// Throws Error(call) for a file that is no text, such as an image or a table in UTF-16.
void check_text(const fs::path& list, const std::string& contents) {
  const auto is_text = [](unsigned char c) { return c >= ' ' || (c >= '\t' && c <= '\r'); };
  const auto found = std::ranges::find_if_not(contents, is_text);
  if (found != contents.end())
    refuse(text(list.string(), " is not a list of images, because line ", 1 + std::count(contents.begin(), found, '\n'),
                " contains the byte ", static_cast<int>(static_cast<unsigned char>(*found)),
                "; save the list as text in UTF-8"));
}

}  // namespace

bool is_list(const fs::path& path) {
  const std::string extension = io::lower_extension(path);
  return (extension == ".csv" || extension == ".tsv" || extension == ".txt") && is_file(path);
}

std::array<Frames, 2> frames_of_list(const fs::path& list, std::size_t views) {
  const char* const expected =
      views == 2 ? "a left and a right image, separated by a comma or a tab" : "one image with both views";
  std::array<std::vector<fs::path>, 2> files;
  std::array<std::size_t, 2> columns{};
  std::vector<std::string> heading(views);
  const std::string contents = read_text(list);
  check_text(list, contents);
  std::istringstream lines(contents);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto refuse_line = [&](const std::string& why) { refuse(text(list.string(), ", line ", number, ": ", why)); };
    ++number;
    const std::vector<std::string> cells = cells_of(line);
    if ((cells.size() == 1 && cells[0].empty()) || line.starts_with('#')) continue;
    if (files[0].empty() && is_heading(cells, list.parent_path())) {
      if (cells.size() < views)
        refuse_line(text("the heading '", line, "' names 1 column, and two are expected, such as left,right"));
      heading = cells;
      continue;
    }
    if (cells.size() != heading.size())
      refuse_line(text("'", line, "' does not have ",
                       heading.size() == 1 ? "one column" : text(heading.size(), " columns"), "; each line must have ",
                       expected));
    if (files[0].empty()) {
      const auto found = columns_in(heading, cells, list.parent_path(), views);
      if (!found) refuse_line(text("'", line, "' does not have ", expected, "; paths are relative to the list"));
      columns = *found;
    }
    for (std::size_t k = 0; k < views; ++k) {
      files[k].push_back(list.parent_path() / cells[columns[k]]);
      if (!is_file(image_file(files[k].back())))
        refuse_line(text(files[k].back().string(), " does not exist; paths are relative to the folder of the list"));
    }
  }
  if (files[0].empty()) refuse(text(list.string(), " lists no image; each line must have ", expected));
  return {listed(std::move(files[0])), listed(std::move(files[1]))};
}

}  // namespace stereopsis::sources
