// Output for people. Text from files, or from their names, can contain anything; it must not control the terminal.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace stereopsis::command {

// Returns the text with control characters (except line ends), characters that change the direction of text, and bytes
// that are not UTF-8 as \xNN.
std::string printable(std::string_view text);

// The verbosity of this call: --quiet suppresses notes, summaries and progress; --verbose adds notes.
enum class Verbosity { quiet, usual, verbose };
Verbosity verbosity();
void set_verbosity(Verbosity);

void write_result(std::string_view text);   // to stdout
void write_message(std::string_view text);  // to stderr, on a line of its own after "stereopsis: "
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
  write_message(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace stereopsis::command
