#include "command/help.hpp"

#include <CLI/CLI.hpp>

#include "command/layout.hpp"
#include "command/terminal.hpp"

namespace stereopsis::command {
namespace {

constexpr std::size_t column = 26;  // column at which the explanations of options begin

ListEntry entry_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true), option.get_description()};
  std::string names;
  const auto add = [&](const std::string& dashes, const std::string& name) {
    names += (names.empty() ? "" : ", ") + dashes + name;
  };
  for (const std::string& name : option.get_snames()) add("-", name);
  for (const std::string& name : option.get_lnames()) add("--", name);
  const std::string& placeholder = option.get_option_text();
  return {placeholder.empty() ? names : names + ' ' + placeholder, option.get_description()};
}

std::string usage(const CLI::App& application, const std::string& name) {
  std::string call = name + " [OPTION …]";
  for (const CLI::Option* option :
       application.get_options([](const CLI::Option* one) { return one->get_positional(); }))
    call += option->get_required() ? " " + option->get_name(true) : " [" + option->get_name(true) + "]";
  if (!application.get_subcommands([](const CLI::App*) { return true; }).empty()) call += " [COMMAND]";
  return styled(Style::heading, "Usage:") + ' ' + call + '\n';
}

}  // namespace

std::string Help::make_group(std::string group, bool, std::vector<const CLI::Option*> options) const {
  std::vector<ListEntry> entries;
  for (const CLI::Option* option : options) entries.push_back(entry_of(*option));
  return '\n' + listing(group == "Positionals" ? "Arguments" : group, entries, column);
}

std::string Help::make_help(const CLI::App* application, std::string name, CLI::AppFormatMode mode) const {
  std::string out = paragraph(application->get_description()) + usage(*application, name) +
                    make_positionals(application) + make_groups(application, mode);
  std::vector<ListEntry> commands;
  for (const CLI::App* command : application->get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back({command->get_name(), command->get_description()});
  if (!commands.empty()) out += '\n' + listing("Commands", commands, column_for(commands));
  if (const std::string footer = application->get_footer(); !footer.empty()) out += '\n' + paragraph(footer);
  for (std::size_t at; (at = out.find("\n\n\n")) != std::string::npos;) out.erase(at, 1);
  return out;
}

}  // namespace stereopsis::command
