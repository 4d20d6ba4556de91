#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device/system/system.hpp"
#include "progress.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

Verbosity chosen = Verbosity::usual;

// The character that starts at `i` and its length in bytes; 0 if none starts there.
struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

Character character_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(text[k]); };
  const std::uint32_t first = byte(i);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || i + length > text.size()) return {};
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i + k) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[length] || surrogate || code > 0x10FFFF ? Character{} : Character{code, length};
}

bool is_shown(std::uint32_t code) {
  if (code == '\n') return true;
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return !turns && code != 0x2028 && code != 0x2029;
}

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

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    const std::size_t length = c.length > 0 ? c.length : 1;
    if (c.length > 0 && is_shown(c.code))
      shown += text.substr(i, length);
    else
      for (std::size_t k = i; k < i + length; ++k)
        shown += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[k]));
    i += length;
  }
  return shown;
}

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
