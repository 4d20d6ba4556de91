#include "command/options.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "command/result_files.hpp"
#include "command/terminal.hpp"
#include "core/text.hpp"

namespace stereopsis::command {

void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

namespace {

std::string name_of(const std::string& names) { return names.substr(names.rfind(',') + 1); }

// Uses the name of a positional argument as its placeholder. Rejects an option in place of a value, and an
// empty value, because the value is missing.
CLI::Option* named(const CLI::App& app, CLI::Option* option, const std::string& placeholder) {
  option->check(
      [&app, option](const std::string& value) {
        if (value.starts_with('-') && app.get_option_no_throw(value) != nullptr)
          refuse(fmt::format("{} requires a value, and {} is an option; write `{} {}`", option->get_name(), value,
                             option->get_name(), option->get_option_text()));
        if (value.empty() && !option->get_positional())
          refuse(fmt::format("the value of {0} is empty; write `{0} {1}`, or leave the option out", option->get_name(),
                             option->get_option_text()));
        return std::string();
      },
      "");
  return option->option_text(option->get_positional() ? " " : placeholder);
}

// Returns "from 1 to 16", "of at least 1", or nothing if any number is allowed.
std::string bounds(double low, double high, bool open) {
  if (!open) return fmt::format(" from {} to {}", low, high);
  return std::isfinite(low) ? fmt::format(" of at least {}", low) : "";
}

// Reads --color-output.
void choose_color(const std::string& when) {
  if (when == "auto") return set_color_output(ColorOutput::automatic);
  if (when == "always") return set_color_output(ColorOutput::always);
  if (when == "never") return set_color_output(ColorOutput::never);
  refuse(fmt::format("--color-output {} is not allowed; it must be auto, always or never", when));
}

}  // namespace

int to_integer(const std::string& option, const std::string& text, int low, int high) {
  const auto value = parse_number<int>(text);
  if (!value || *value < low || *value > high)
    refuse(fmt::format("{} {} is not allowed; it must be an integer from {} to {}", option, text, low, high));
  return *value;
}

std::optional<std::pair<std::string, std::string>> halves_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || text.find(',', comma + 1) != std::string::npos) return std::nullopt;
  return std::pair{text.substr(0, comma), text.substr(comma + 1)};
}

double to_number(const std::string& option, const std::string& text, double low, double high) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || *value < low || *value > high)
    refuse(fmt::format("{} {} is not allowed; it must be a number{}", option, text,
                       bounds(low, high, !std::isfinite(high))));
  return *value;
}

Length to_length(const std::string& option, const std::string& text) try {
  return parse_length(text);
} catch (const Error& error) {
  refuse(fmt::format("{} {}", option, error.what()));
}

std::size_t to_bytes(const std::string& option, const std::string& text) {
  const std::string units = "KMG";
  const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
  const auto number = parse_number<double>(unit == std::string::npos ? text : text.substr(0, text.size() - 1));
  const double bytes = number.value_or(0) * std::exp2(unit == std::string::npos ? 0 : 10.0 * (unit + 1));
  if (!(bytes >= 1 && bytes < 0x1p62))
    refuse(
        fmt::format("{} {} is not allowed; it must be a number of bytes such as 800000000, 500M or 2G", option, text));
  return static_cast<std::size_t>(bytes);
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Command::Command(CLI::App& application, const std::string& name, const std::string& help)
    : app_(*application.add_subcommand(name, help)) {
  app_.set_help_flag("-h,--help", "Print this help and exit");
  app_.add_flag_callback(
          "--quiet", [] { set_verbosity(Verbosity::quiet); }, "Suppress the summary, notes and progress bar")
      ->disable_flag_override();
  app_.add_flag_callback(
          "--verbose", [] { set_verbosity(Verbosity::verbose); },
          "Print more notes, such as the memory of the workspace")
      ->disable_flag_override();
  app_.add_option_function<std::string>(
          "--color-output", choose_color,
          "Colour of the text on the terminal: auto, always or never [auto: without NO_COLOR]")
      ->option_text("WHEN")
      ->trigger_on_parse();
}

Option Command::text(const std::string& names, std::string& value, const std::string& placeholder,
                     const std::string& help) {
  return named(app_, app_.add_option(names, value, help), placeholder);
}

Option Command::path(const std::string& names, std::filesystem::path& value, const std::string& placeholder,
                     const std::string& help) {
  const auto read = [&value](const std::string& text) { value = text; };
  return named(app_, app_.add_option_function<std::string>(names, read, help), placeholder);
}

Option Command::integer(const std::string& names, std::optional<int>& value, int low, int high,
                        const std::string& placeholder, const std::string& help) {
  const auto read = [=, &value](const std::string& text) { value = to_integer(name_of(names), text, low, high); };
  return parsed(names, read, placeholder, help);
}

Option Command::parsed(const std::string& names, std::function<void(const std::string&)> read,
                       const std::string& placeholder, const std::string& help) {
  return named(app_, app_.add_option_function<std::string>(names, std::move(read), help), placeholder);
}

Option Command::number(const std::string& names, std::optional<double>& value, double low, double high,
                       const std::string& placeholder, const std::string& help) {
  const auto read = [=, &value](const std::string& text) { value = to_number(name_of(names), text, low, high); };
  return parsed(names, read, placeholder, help);
}

Option Command::length(const std::string& names, std::optional<Length>& value, const std::string& placeholder,
                       const std::string& help) {
  const auto read = [=, &value](const std::string& text) { value = to_length(name_of(names), text); };
  return parsed(names, read, placeholder, help);
}

Option Command::list(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
                     const std::string& help) {
  return named(app_, app_.add_option(names, values, help), placeholder)->allow_extra_args(false);
}

Option Command::flag(const std::string& name, bool& value, const std::string& help) {
  return app_.add_flag(name, value, help)->disable_flag_override();
}

void Command::deprecated_flag(const std::string& name, bool& value, const std::string& advice) {
  const auto read = [=, &value] {
    value = true;
    warn("warning: {} is deprecated; {}", name, advice);
  };
  app_.add_flag_callback(name, read)->disable_flag_override()->group("");
}

Option Command::option(const std::string& name) const { return app_.get_option(name); }
void Command::group(const std::string& heading) { app_.option_defaults()->group(heading); }
void Command::footer(const std::string& text) { app_.footer(text); }
void Command::creates_folders() {
  app_.add_flag_callback(
          "--no-create", [] { set_creates_folders(false); },
          "Fail if the folder of a result does not exist [create it]")
      ->disable_flag_override();
}
void Command::allow_extras() { app_.allow_extras(); }
void Command::callback(std::function<void()> run) { app_.callback(std::move(run)); }

}  // namespace stereopsis::command
