// What the command's man page and completions are made from: all commands and their options, as JSON.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace stereopsis::command {

std::string description_of(const CLI::App& application);

}  // namespace stereopsis::command
