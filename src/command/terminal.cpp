#include "command/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "command/progress.hpp"
#include "core/printable.hpp"
#include "device/system/system.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

Verbosity chosen = Verbosity::usual;

int error_of_stdout = 0;
std::FILE* text_stream = stdout;
ColorOutput color_output = ColorOutput::automatic;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_coloured(std::FILE* stream) {
  if (color_output != ColorOutput::automatic) return color_output == ColorOutput::always;
  return system::is_terminal(stream) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string styled_for(std::FILE* stream, Style style, std::string_view text) {
  constexpr const char* codes[] = {"", "\x1b[1m", "\x1b[36m", "\x1b[33m", "\x1b[1;31m"};
  const std::string shown = printable(text);
  if (style == Style::plain || !is_coloured(stream)) return shown;
  return codes[static_cast<int>(style)] + shown + "\x1b[0m";
}

// Returns COLUMNS, or 0 if it is not a number of columns.
std::size_t given_columns() {
  const int columns = std::atoi(std::string(variable("COLUMNS")).c_str());
  return columns > 0 ? static_cast<std::size_t>(columns) : 0;
}

}  // namespace

Verbosity verbosity() { return chosen; }
void set_verbosity(Verbosity v) { chosen = v; }

void set_color_output(ColorOutput choice) { color_output = choice; }

std::string styled(Style style, std::string_view text) { return styled_for(text_stream, style, text); }

bool has_width() { return given_columns() > 0 || system::is_terminal(stdout); }

std::size_t text_width() {
  constexpr std::size_t usual = 80, widest = 100;  // longer lines are hard to read
  if (const std::size_t given = given_columns(); given > 0) return given;
  const std::size_t columns = system::terminal_columns();
  return columns == 0 ? usual : std::min(columns, widest);
}

void write_result(std::string_view text) { write_styled(printable(text)); }

void write_styled(std::string_view text) {
  if (text_stream == stdout) return write_data(text);
  Progress::hide();
  std::fwrite(text.data(), 1, text.size(), text_stream);
}

void write_data(std::string_view bytes) {
  Progress::hide();
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() && error_of_stdout == 0)
    error_of_stdout = errno;
}

void divert_text_to_stderr() { text_stream = stderr; }

void write_message(std::string_view text, Style style) {
  const std::string line = styled_for(stderr, style, "stereopsis:") + ' ' + printable(text) + '\n';
  Progress::hide();
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void check_results_written() {
  if (std::fflush(stdout) != 0 && error_of_stdout == 0) error_of_stdout = errno;
  if (error_of_stdout == 0) return;
  if (error_of_stdout == EPIPE) throw Unread{};
  throw Error(ErrorCategory::file,
              fmt::format("standard output cannot be written: {}", std::strerror(error_of_stdout)));
}

}  // namespace stereopsis::command
