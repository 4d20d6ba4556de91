// Strictly parsed options of the command line: an invalid value throws an error that names the option, the value and
// what is allowed.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stereopsis/length.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stereopsis::command {

[[noreturn]] void refuse(const std::string& sentence);  // throws Error(call)

// Return all of `text` as a number in [low, high], or throw an error that names `option`.
int to_integer(const std::string& option, const std::string& text, int low, int high);
double to_number(const std::string& option, const std::string& text, double low, double high);
// Returns all of `text` as a length, or throws an error that names `option`.
Length to_length(const std::string& option, const std::string& text);
// Splits "A,B" into A and B. Returns nothing for a text without exactly one comma.
std::optional<std::pair<std::string, std::string>> halves_of(const std::string& text);
// Converts "512M" to bytes; K, M and G are powers of 1024.
std::size_t to_bytes(const std::string& option, const std::string& text);

// An option that was added; its functions state when it is required, excluded or allowed.
class Option {
 public:
  Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& excludes(const Option& other);
  Option& needs(const Option& other);

 private:
  CLI::Option* option_;
};

// A subcommand. It hides CLI11, because each file that includes CLI11's headers takes ten seconds more to compile.
class Command {
 public:
  Command(CLI::App& application, const std::string& name, const std::string& help);

  // Each function adds one option (`-o,--output`) or positional argument (`LEFT`); `placeholder` is what the help shows
  // for an option's value.
  Option text(const std::string& names, std::string& value, const std::string& placeholder, const std::string& help);
  Option path(const std::string& names, std::filesystem::path& value, const std::string& placeholder,
              const std::string& help);
  Option integer(const std::string& names, std::optional<int>& value, int low, int high, const std::string& placeholder,
                 const std::string& help);
  // Calls `read` with the text of the option.
  Option parsed(const std::string& names, std::function<void(const std::string&)> read, const std::string& placeholder,
                const std::string& help);
  Option number(const std::string& names, std::optional<double>& value, double low, double high,
                const std::string& placeholder, const std::string& help);
  // A length with or without a unit: 120mm, 12cm, 0.12m, 0.12.
  Option length(const std::string& names, std::optional<Length>& value, const std::string& placeholder,
                const std::string& help);
  // The option may be given several times, with one value each time.
  Option list(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
              const std::string& help);
  Option flag(const std::string& name, bool& value, const std::string& help);
  // Adds a deprecated name of a flag. The help does not list it, and its use warns with `advice`.
  void deprecated_flag(const std::string& name, bool& value, const std::string& advice);

  Option option(const std::string& name) const;  // returns an option that was added
  void group(const std::string& heading);        // heading in the help for options added from here on
  void footer(const std::string& text);          // end of the help
  void creates_folders();                        // adds --no-create
  void allow_extras();                           // unknown arguments are allowed
  void callback(std::function<void()> run);

 private:
  CLI::App& app_;
};

}  // namespace stereopsis::command
