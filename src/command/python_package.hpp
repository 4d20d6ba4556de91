// Subcommands of the Python package: they are listed here with the others, and delegated to the package.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/options.hpp"

namespace stereopsis::command {

// Adds the commands to the help.
void add_python_commands(CLI::App& application);
bool is_python_command(std::string_view name);
// Returns the arguments for the package if it handles this call: one of its subcommands; match, check, rectify,
// calibrate or evaluate with a bag in place of images (`bag --for match …`); or match, evaluate or bench with a network
// or a program as its --method, or match with the --pipeline of one. Otherwise returns nothing.
std::vector<std::string> python_call(int argc, char** argv);
// Hands the call for which python_call() was asked on to the package, with the functions of its module cv2, if the package
// started this program.
void hand_on_if_started_by_python();
// Replaces this process by `python3 -m stereopsis` with these arguments if the package of this version is installed;
// otherwise prints the line that installs it and exits with code 1. Returns only if there is no Python: throws
// Error(unsupported).
[[noreturn]] void hand_on_to_python(const std::vector<std::string>& arguments);

}  // namespace stereopsis::command
