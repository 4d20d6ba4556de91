// Output for people. Text from files, or from their names, can contain anything; it must not control the terminal.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace stereopsis::command {

// The verbosity of this call: --quiet suppresses notes, summaries and progress; --verbose adds notes.
enum class Verbosity { quiet, usual, verbose };
Verbosity verbosity();
void set_verbosity(Verbosity);

// When output is coloured: on a terminal, unless NO_COLOR is set or TERM is dumb; or as --color-output demands.
enum class ColorOutput { automatic, always, never };
void set_color_output(ColorOutput);

enum class Style { plain, heading, name, warning, error };
// Returns printable(text) in a style of stdout, or without one if stdout is not coloured.
std::string styled(Style style, std::string_view text);

// Returns the columns that text may use: COLUMNS if it is set; else those of the terminal, at most 100; else 80.
std::size_t text_width();
// Returns whether stdout is a terminal or COLUMNS is set. Otherwise a program may read lines, which are not wrapped.
bool has_width();

void write_result(std::string_view text);  // to stdout
void write_data(std::string_view bytes);   // to stdout, unchanged
// Writes text for people to stderr from here on, because stdout carries data.
void divert_text_to_stderr();
void write_styled(std::string_view text);  // to stdout; the text is printable, and may be styled
// To stderr, on a line of its own after "stereopsis: ", which has the style.
void write_message(std::string_view text, Style style = Style::plain);
// Flushes stdout. Throws Error(file) if not everything could be written, and Unread if its reader has gone, as `head`
// does when it has enough.
void check_results_written();
struct Unread {};

// Prints a requested result.
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  write_result(fmt::format(format, std::forward<Values>(values)...));
}
// Prints a line that summarises what was done.
template <class... Values>
void summarise(fmt::format_string<Values...> format, Values&&... values) {
  if (verbosity() != Verbosity::quiet) say(format, std::forward<Values>(values)...);
}
// Prints a note that may interest the user.
template <class... Values>
void remark(fmt::format_string<Values...> format, Values&&... values) {
  if (verbosity() != Verbosity::quiet) write_message(fmt::format(format, std::forward<Values>(values)...));
}
// Prints a note for --verbose only.
template <class... Values>
void detail(fmt::format_string<Values...> format, Values&&... values) {
  if (verbosity() == Verbosity::verbose) write_message(fmt::format(format, std::forward<Values>(values)...));
}
// Prints a warning that the user must see.
template <class... Values>
void warn(fmt::format_string<Values...> format, Values&&... values) {
  write_message(fmt::format(format, std::forward<Values>(values)...), Style::warning);
}

}  // namespace stereopsis::command
