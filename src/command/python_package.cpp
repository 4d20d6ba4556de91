#include "command/python_package.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command/common.hpp"
#include "command/outside_methods.hpp"
#include "device/system/system.hpp"
#include "python_commands.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

const PythonCommand* find(std::string_view name) {
  const auto found = std::ranges::find(python_commands, name, &PythonCommand::name);
  return found == python_commands.end() ? nullptr : &*found;
}

// Called with the package's version, its extra as in "[view]", what is called, and the arguments. A folder `stereopsis`
// next to the caller is not the package. No index has the package: somebody else could own its name there.
constexpr const char* launcher = R"(import sys
from importlib import metadata
if sys.path[0] == '':
    del sys.path[0]
version, extra, called = sys.argv[1:4]
try:
    installed = metadata.version('stereopsis')
except metadata.PackageNotFoundError:
    installed = None
if installed != version:
    state = 'not installed' if installed is None else f'installed in version {installed}, and not {version},'
    sys.exit(f"stereopsis: {called} is a command of the Python package, which is {state} for {sys.executable}; "
             f"run: {sys.executable} -m pip install 'WHEEL{extra}', where WHEEL is the path of stereopsis-{version}-*.whl or of a checkout")
from stereopsis.__main__ import main
sys.exit(main(sys.argv[4:], in_process=True))
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

// Returns the values of an option, which are words of their own or follow "=".
std::vector<std::string> values_of(const std::string& option, const std::vector<std::string>& call) {
  std::vector<std::string> values;
  for (std::size_t i = 1; i < call.size(); ++i) {
    if (call[i] == option && i + 1 < call.size()) values.push_back(call[i + 1]);
    if (call[i].starts_with(option + "=")) values.push_back(call[i].substr(option.size() + 1));
  }
  return values;
}

// Returns whether the --method of the call, or the --pipeline of match, is a network or a program. The package runs them.
bool names_outside_method(const std::vector<std::string>& call) {
  static constexpr std::array<std::string_view, 3> commands = {"match", "evaluate", "bench"};
  if (std::ranges::find(commands, call.front()) == commands.end()) return false;
  return std::ranges::any_of(values_of("--method", call), is_outside_method) ||
         (call.front() == "match" && std::ranges::any_of(values_of("--pipeline", call), is_outside_pipeline));
}

// Returns the interpreter of the package that started this program, or an empty text.
std::string python_that_started() {
  const char* chosen = std::getenv("STEREOPSIS_PYTHON");
  return chosen == nullptr ? "" : chosen;
}

std::vector<std::string>& this_call() {
  static auto& call = *new std::vector<std::string>();
  return call;
}

// Replaces this process as hand_on_to_python() does. Names the call in sentences by `name`, and the extra that it needs.
[[noreturn]] void hand_on(const std::vector<std::string>& arguments, const std::string& name,
                          const std::string& extra) {
  const std::string program = python_that_started().empty() ? "python3" : python_that_started();
  std::vector<std::string> call{program, "-c", launcher, STEREOPSIS_VERSION, extra, name};
  call.insert(call.end(), arguments.begin(), arguments.end());
  system::become(call);
  throw Error(
      ErrorCategory::unsupported,
      fmt::format(
          "{} is a command of the Python package, and {} cannot be run; install Python 3.10 or later, "
          "set STEREOPSIS_PYTHON to the interpreter if its name is not python3, and run: python3 -m pip install "
          "'WHEEL{}', where WHEEL is the path of stereopsis-{}-*.whl or of a checkout",
          name, program, extra, STEREOPSIS_VERSION));
}

}  // namespace

void add_python_commands(CLI::App& application) {
  for (const PythonCommand& command : python_commands) application.add_subcommand(command.name, command.help);
}

bool is_python_command(std::string_view name) { return find(name) != nullptr; }

std::vector<std::string> python_call(int argc, char** argv) {
  std::vector<std::string> call(argv + std::min(argc, 1), argv + argc);
  this_call() = call;
  if (call.empty() || is_python_command(call.front())) return call;
  const auto names_bag = [](const std::string& word) { return !word.starts_with('-') && is_bag(word); };
  if (takes_bags(call.front()) && std::any_of(call.begin() + 1, call.end(), names_bag))
    call.insert(call.begin(), {"bag", "--for"});
  else if (has_outside_methods() || !names_outside_method(call))
    return {};
  return call;
}

void hand_on_if_started_by_python() {
  if (!python_that_started().empty()) hand_on(this_call(), this_call().front() + " with cv2", "[opencv]");
}

void hand_on_to_python(const std::vector<std::string>& arguments) {
  const PythonCommand* command = find(arguments.front());
  if (command != nullptr) hand_on(arguments, command->name, command->extra);
  hand_on(arguments, arguments.front() + " with a network or a program", "[onnx]");
}

}  // namespace stereopsis::command
