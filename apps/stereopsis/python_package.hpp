// Subcommands of the Python package: they are listed here with the others, and handed on to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace stereopsis::command {

// For the help.
void add_python_commands(CLI::App& application);
bool is_python_command(std::string_view name);
// What the package is to be called with, where this call is its own: of one of its subcommands, or of match, calibrate or
// evaluate with a bag in the place of pictures (`bag --for match …`). Else nothing.
std::vector<std::string> python_call(int argc, char** argv);
// In the place of this process, `python3 -m stereopsis` with these arguments, where the package of this version is
// installed; else the line that installs it, and exit code 1. Returns only where there is no Python: throws Error(unsupported).
[[noreturn]] void hand_on_to_python(const std::vector<std::string>& arguments);

}  // namespace stereopsis::command
