// Subcommands of the Python package: they are listed here with the others, and handed on to it.
#pragma once

#include "options.hpp"

namespace stereopsis::command {

// For the help.
void add_python_commands(CLI::App& application);
bool is_python_command(const char* name);
// In the place of this process, `python3 -m stereopsis` with these arguments, where the package of this version is
// installed; else the line that installs it, and exit code 1. Returns only where there is no Python: throws Error(unsupported).
[[noreturn]] void hand_on_to_python(char** arguments);

}  // namespace stereopsis::command
