// The kinds of results of a frame: each kind is one file. Each further map of the table of outputs is a kind, too.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stereopsis/arguments.hpp"

namespace stereopsis::jobs {

enum ResultFile : std::size_t {
  confidence,
  validity_bits,
  validity_picture,
  right,
  colour,
  depth,
  depth_picture,
  uncertainty,
  cloud,
  disparity,
  own_file_count
};
constexpr bool is_plain_map(const Output& output) {
  constexpr std::array own = {"disparity", "validity", "right", "confidence", "depth", "points", "uncertainty"};
  return output.kind == OutputKind::map && std::ranges::find(own, std::string_view(output.name), [](auto name) {
                                             return std::string_view(name);
                                           }) == own.end();
}
inline constexpr std::size_t file_count =
    own_file_count + static_cast<std::size_t>(std::ranges::count_if(output_table, is_plain_map));
// Calls f(file, output, field) for each further map, with its index among the files.
template <class F>
void for_each_plain_map(F&& f) {
  std::size_t file = own_file_count;
  for_each_output([&](std::size_t row, auto field) {
    if constexpr (requires(Matched & m) {
                    field(m).view();
                    field(m).fill(0);
                  })
      if (is_plain_map(output_table[row])) f(file++, output_table[row], field);
  });
}

struct FileKind {
  std::string name;                     // the setting that names the file: "disparity", "validity_color"
  const char* extension;                // used in a directory of results
  std::vector<const char*> extensions;  // allowed ones; empty for disparities, whose formats limit their values
};

const std::vector<FileKind>& file_kinds();

// The files of one frame, or the names that a user gave; empty names for results that are not written.
using ResultFiles = std::array<std::filesystem::path, file_count>;

}  // namespace stereopsis::jobs
