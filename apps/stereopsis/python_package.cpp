#include "python_package.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "python_commands.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

const PythonCommand* find(std::string_view name) {
  const auto found = std::ranges::find(python_commands, name, &PythonCommand::name);
  return found == python_commands.end() ? nullptr : &*found;
}

// Called with the package's version, its extra as in "[view]", and the arguments. A folder `stereopsis` next to the
// caller is not the package. No index has the package: somebody else could own its name there.
constexpr const char* launcher = R"(import sys
from importlib import metadata
if sys.path[0] == '':
    del sys.path[0]
version, extra = sys.argv[1:3]
try:
    installed = metadata.version('stereopsis')
except metadata.PackageNotFoundError:
    installed = None
if installed != version:
    state = 'not installed' if installed is None else f'installed in version {installed}, and not {version},'
    sys.exit(f"stereopsis: {sys.argv[3]} is a command of the Python package, which is {state} for {sys.executable}; "
             f"run: {sys.executable} -m pip install 'WHEEL{extra}', where WHEEL is the path of stereopsis-{version}-*.whl or of a checkout")
from stereopsis.__main__ import main
sys.exit(main(sys.argv[3:]))
)";

bool is_bag_file(const std::filesystem::path& path) {
  const std::filesystem::path ending = path.extension();
  return ending == ".bag" || ending == ".mcap" || ending == ".db3";
}

// Detects a bag by its name, or a folder written by ros2 bag.
bool is_bag(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return is_bag_file(path);
  const std::filesystem::directory_iterator files(path, none);
  return std::any_of(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
    return file.path().filename() == "metadata.yaml" || is_bag_file(file.path());
  });
}

bool takes_bags(std::string_view name) {
  static constexpr std::array<std::string_view, 5> takers = {"match", "check", "rectify", "calibrate", "evaluate"};
  return std::ranges::find(takers, name) != takers.end();
}

std::string python() {
  const char* chosen = std::getenv("STEREOPSIS_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

}  // namespace

void add_python_commands(CLI::App& application) {
  for (const PythonCommand& command : python_commands) application.add_subcommand(command.name, command.help);
}

bool is_python_command(std::string_view name) { return find(name) != nullptr; }

std::vector<std::string> python_call(int argc, char** argv) {
  std::vector<std::string> call(argv + std::min(argc, 1), argv + argc);
  if (call.empty() || is_python_command(call.front())) return call;
  const auto names_bag = [](const std::string& word) { return !word.starts_with('-') && is_bag(word); };
  if (!takes_bags(call.front()) || std::none_of(call.begin() + 1, call.end(), names_bag)) return {};
  call.insert(call.begin(), {"bag", "--for"});
  return call;
}

void hand_on_to_python(const std::vector<std::string>& arguments) {
  const std::string program = python();
  const PythonCommand& command = *find(arguments.front());
  std::vector<std::string> call{program, "-c", launcher, STEREOPSIS_VERSION, command.extra};
  call.insert(call.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : call) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(program.c_str(), argv.data());
  throw Error(ErrorCategory::unsupported,
              fmt::format("{} is a command of the Python package, and {} cannot be run; install Python 3.11 or later, "
                          "set STEREOPSIS_PYTHON to its path if it is not python3, and run: python3 -m pip install "
                          "'WHEEL{}', where WHEEL is the path of stereopsis-{}-*.whl or of a checkout",
                          command.name, program, command.extra, STEREOPSIS_VERSION));
}

}  // namespace stereopsis::command
