#include "device/gpu/sources.hpp"

#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::gpu {
namespace {

[[noreturn]] void missing(std::string_view what) {
  throw Error(ErrorCategory::device,
              text("the kernels have no '", what, "'; this is an error in the library, so report it"));
}

std::string_view text_of(std::string_view path_end) {
  for (const SourceFile& file : source_files())
    if (file.path.ends_with(path_end)) return file.text;
  missing(path_end);
}

template <class F>
void for_each_line(std::string_view lines, F&& f) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
    f(lines.substr(0, end + 1));
    lines.remove_prefix(end + 1);
  }
}

// Appends a source text, in which each included file is inserted once.
void resolve(std::string_view lines, std::set<std::string_view>& seen, std::string& out) {
  constexpr std::string_view include = "#include \"";
  for_each_line(lines, [&](std::string_view line) {
    if (!line.starts_with(include)) return out.append(line), void();
    line.remove_prefix(include.size());
    const std::string_view path = line.substr(0, line.find('"'));
    if (seen.insert(path).second) resolve(text_of(path), seen, out);
  });
}

}  // namespace

Program program(std::string_view file, std::string_view instance) {
  const std::string_view lines = text_of(text("/", file, ".cl"));
  const std::string head = text("// instance ", instance, ":");
  std::string constants;
  bool found = false;
  for_each_line(lines, [&](std::string_view line) {
    if (!line.starts_with(head)) return;
    found = true;
    for (const std::string& constant : split(line.substr(head.size(), line.find('\n') - head.size()), ' '))
      if (!constant.empty()) constants += " -D " + constant;
  });
  if (!found) missing(text(file, ".cl, instance ", instance));
  std::set<std::string_view> seen;
  std::string source;
  resolve(lines, seen, source);
  return {std::move(source), std::move(constants)};
}

}  // namespace stereopsis::gpu
