#include "command/call_errors.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "stereopsis/pipeline.hpp"

namespace stereopsis::command {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

// Returns the command that the call names, or the application if it names none.
const CLI::App& command_of(const CLI::App& application) {
  const auto chosen = application.get_subcommands();
  return chosen.empty() ? application : *chosen.front();
}

std::string title_of(const CLI::App& application) {
  const CLI::App& command = command_of(application);
  return &command == &application ? application.get_name() : application.get_name() + " " + command.get_name();
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> names_of_positionals(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) names.push_back(option->get_name(true));
  return names;
}

// Returns an option with its placeholder: "--disparities N".
std::string with_value(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(true) : option.get_name() + " " + option.get_option_text();
}

// Returns the shortest complete call: "stereopsis check LEFT RIGHT".
std::string shortest_call(const CLI::App& application) {
  std::string call = title_of(application);
  for (const CLI::Option* option : command_of(application).get_options())
    if (option->get_required()) call += " " + with_value(*option);
  return call;
}

// Hints at quotes if a shell has expanded left*.png to one argument per file.
std::string hint_at_wildcards(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(word, ignored))
      return "; if a wildcard gave it, write the wildcard in quotes, as in 'left*.png'";
  }
  return "";
}

// Options of other programs, and what they are here.
constexpr std::array meant = {
    std::pair{"--max-disparity", "--disparities N, which counts from --min-disparity"},
    std::pair{"--num-disparities", "--disparities N"},
    std::pair{"--ndisp", "--disparities N"},
    std::pair{"--block-size", "--set window_sad.window=N, or the window of another cost"},
};

// Returns a hint for a parameter that was given as an option: "--paths" is `--set optimisation.paths=8`.
std::string hint_at_parameter(const CLI::App& command, const std::string& option) {
  if (command.get_option_no_throw("--set") == nullptr) return "";
  std::string own = "." + option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::ranges::replace(own, '-', '_');
  std::vector<MethodInfo> known = methods();
  std::ranges::stable_partition(known, [](const MethodInfo& method) { return method.name == "sgm"; });
  for (const MethodInfo& method : known)
    for (const ParameterInfo& parameter : Pipeline(method.name).parameters())
      if (parameter.name.ends_with(own)) return fmt::format(" (it is a parameter: --set {}=VALUE)", parameter.name);
  return "";
}

std::string hint_at_option(const CLI::App& command, const std::string& option) {
  for (const auto& [theirs, ours] : meant)
    if (option == theirs && command.get_option_no_throw("--disparities") != nullptr)
      return fmt::format(" (did you mean {}?)", ours);
  const std::string parameter = hint_at_parameter(command, option);
  return parameter.empty() ? did_you_mean(option, names_of_options(command)) : parameter;
}

std::string unknown_option(const CLI::App& application, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> early = application.remaining(false);
  const CLI::App& command = command_of(application);
  const bool before_command = &command != &application && std::ranges::count(early, word) > 0;
  if (before_command && command.get_option_no_throw(name) != nullptr)
    return fmt::format("{} is an option of {}; write it after the command, as in `{} {}`", name, command.get_name(),
                       title_of(application), with_value(*command.get_option_no_throw(name)));
  const std::string whose = &command == &application || before_command ? "there is" : command.get_name() + " has";
  return fmt::format("{} no option '{}'{}; `{} --help` lists all options", whose, name, hint_at_option(command, name),
                     title_of(application));
}

std::string surplus_argument(const CLI::App& application, const std::vector<std::string>& words) {
  const std::vector<std::string> known = names_of_positionals(command_of(application));
  return fmt::format("unexpected argument '{}': {} {}{}; see `{} --help`", words.front(), title_of(application),
                     known.empty() ? "accepts only options" : "accepts only " + join(known, " and "),
                     hint_at_wildcards(words), title_of(application));
}

std::string missing_argument(const CLI::App& application, const std::string& name) {
  return fmt::format("{} is missing; write `{} …`, and see `{} --help`", name, shortest_call(application),
                     title_of(application));
}

// Returns the option named in CLI11's message, or null. The longest name wins: "--disparity-error" is not
// "--disparity".
const CLI::Option* option_in(const CLI::App& command, const std::string& message) {
  const CLI::Option* found = nullptr;
  for (const CLI::Option* option : command.get_options())
    if (message.find(option->get_name()) != std::string::npos &&
        (found == nullptr || option->get_name().size() > found->get_name().size()))
      found = option;
  return found;
}

// For a switch with a value, CLI11's message is "explain was given a disallowed flag override".
std::string number_of_values(const CLI::App& application, const std::string& message) {
  const CLI::App& command = command_of(application);
  const CLI::Option* flag = command.get_option_no_throw("--" + message.substr(0, message.find(' ')));
  const CLI::Option* option = flag != nullptr ? flag : option_in(command, message);
  if (option == nullptr) return message;
  const std::string name = option->get_name();
  if (option->get_items_expected_max() == 0)
    return fmt::format("{} is a switch and has no value; write {} alone", name, name);
  if (option->count() > 1) return fmt::format("{} is given {} times; give it once", name, option->count());
  return fmt::format("{} requires a value; write `{}`, and see `{} --help`", name, with_value(*option),
                     title_of(application));
}

// Rephrases "A excludes B" and "A requires B".
std::string two_options(std::string message, const std::string& verb, const std::string& sentence) {
  const std::size_t at = message.find(" " + verb + " ");
  if (at == std::string::npos) return message;
  return message.substr(0, at) + " and " + message.substr(at + verb.size() + 2) + sentence;
}

}  // namespace

std::string unknown_command(const CLI::App& application, const std::string& name) {
  std::vector<std::string> commands;
  for (const CLI::App* command : application.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored))
    return fmt::format(
        "there is no command before '{}'; write `stereopsis match LEFT RIGHT -o OUT` to match two images, "
        "and see `stereopsis --help`",
        name);
  return fmt::format("there is no command '{}'{}; `stereopsis --help` lists all commands", name,
                     did_you_mean(name, commands));
}

std::string sentence_of(const CLI::App& application, const CLI::ParseError& error) {
  std::vector<std::string> unread = application.remaining(true);
  std::erase(unread, "--");
  // The value of an unknown option remains unread, and then appears to be another argument.
  const auto option = std::ranges::find_if(unread, is_option);
  const bool command_is_missing = !unread.empty() && application.get_subcommands().empty();
  if (command_is_missing && option != unread.begin()) return unknown_command(application, unread.front());
  if (option != unread.end()) return unknown_option(application, *option);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !unread.empty()) return surplus_argument(application, unread);
  const std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error))
    return missing_argument(application, message.substr(0, message.find(' ')));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) || dynamic_cast<const CLI::ConversionError*>(&error))
    return number_of_values(application, message);
  if (dynamic_cast<const CLI::ExcludesError*>(&error))
    return two_options(message, "excludes", " cannot be given together; leave one of them out");
  if (dynamic_cast<const CLI::RequiresError*>(&error))
    return two_options(message, "requires", " must be given together; give both");
  return message + "; see " + title_of(application) + " --help";
}

}  // namespace stereopsis::command
