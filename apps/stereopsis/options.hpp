// Options of the command line, read strictly: a value that is not what the option takes is refused with a sentence
// that names the option, the value and what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"

namespace stereopsis::command {

[[noreturn]] void refuse(const std::string& sentence);  // Error(call)

// All of `text` as a number in [low, high], or a refusal that names `option`.
int to_integer(const std::string& option, const std::string& text, int low, int high);
double to_number(const std::string& option, const std::string& text, double low, double high);
// "512M" → bytes; K, M and G are powers of 1024.
std::size_t to_bytes(const std::string& option, const std::string& text);

// Each adds one option (`-o,--output`) or positional argument (`LEFT`); `placeholder` is what the help shows for an
// option's value.
CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& value, const std::string& placeholder,
                      const std::string& help);
CLI::Option* add_path(CLI::App& app, const std::string& names, std::filesystem::path& value,
                      const std::string& placeholder, const std::string& help);
CLI::Option* add_integer(CLI::App& app, const std::string& names, std::optional<int>& value, int low, int high,
                         const std::string& placeholder, const std::string& help);
CLI::Option* add_number(CLI::App& app, const std::string& names, std::optional<double>& value, double low, double high,
                        const std::string& placeholder, const std::string& help);
// May be given several times, with one value each.
CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& placeholder, const std::string& help);

}  // namespace stereopsis::command
