// Error sentences for calls that do not parse: unknown commands and options, missing and surplus arguments.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace stereopsis::command {

// Returns the sentence for a call that CLI11 rejects: the word, what is allowed, what to do.
std::string sentence_of(const CLI::App& application, const CLI::ParseError& error);

std::string unknown_command(const CLI::App& application, const std::string& name);

}  // namespace stereopsis::command
