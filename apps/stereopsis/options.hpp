// Options of the command line, read strictly: a value that is not what the option takes is refused with a sentence
// that names the option, the value and what is allowed.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/error.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stereopsis::command {

[[noreturn]] void refuse(const std::string& sentence);  // Error(call)

// All of `text` as a number in [low, high], or a refusal that names `option`.
int to_integer(const std::string& option, const std::string& text, int low, int high);
double to_number(const std::string& option, const std::string& text, double low, double high);
// "512M" → bytes; K, M and G are powers of 1024.
std::size_t to_bytes(const std::string& option, const std::string& text);

// One that was added, and when it has to be, may not be or may only be given.
class Option {
 public:
  Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& excludes(const Option& other);
  Option& needs(const Option& other);

 private:
  CLI::Option* option_;
};

// A subcommand. CLI11 stays behind it, since each file that includes its headers takes ten seconds more to compile.
class Command {
 public:
  Command(CLI::App& application, const std::string& name, const std::string& help);

  // Each adds one option (`-o,--output`) or positional argument (`LEFT`); `placeholder` is what the help shows for an
  // option's value.
  Option text(const std::string& names, std::string& value, const std::string& placeholder, const std::string& help);
  Option path(const std::string& names, std::filesystem::path& value, const std::string& placeholder,
              const std::string& help);
  Option integer(const std::string& names, std::optional<int>& value, int low, int high, const std::string& placeholder,
                 const std::string& help);
  Option number(const std::string& names, std::optional<double>& value, double low, double high,
                const std::string& placeholder, const std::string& help);
  // May be given several times, with one value each.
  Option list(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
              const std::string& help);
  Option flag(const std::string& name, bool& value, const std::string& help);

  Option option(const std::string& name) const;  // that was added
  void group(const std::string& heading);        // of the help, for what is added from here on
  void footer(const std::string& text);          // of the help
  void allow_extras();                           // arguments that are not known are not refused
  void callback(std::function<void()> run);

 private:
  CLI::App& app_;
};

}  // namespace stereopsis::command
