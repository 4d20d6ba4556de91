// The help of every command: arguments and options in groups, at 80 columns or the terminal's width.
// python/stereopsis/commands/_help.py has the same layout for the commands of the Python package.
#pragma once

#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace stereopsis::command {

class Help : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* application, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> options) const override;
};

}  // namespace stereopsis::command
