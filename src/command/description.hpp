// Describes all commands and their options as JSON, from which the man page and the completions are generated.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace stereopsis::command {

std::string description_of(const CLI::App& application);

}  // namespace stereopsis::command
