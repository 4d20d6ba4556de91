// What people read. Text that comes from files, or from their names, can hold anything: nothing of it steers the terminal.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace stereopsis::command {

// Control characters (but line ends), characters that turn the direction of text round, and bytes that are not UTF-8 as \xNN.
std::string printable(std::string_view text);

// Of this call: --quiet leaves out remarks, summaries and progress; --verbose adds remarks.
enum class Verbosity { quiet, usual, verbose };
Verbosity verbosity();
void set_verbosity(Verbosity);

void write_result(std::string_view text);   // to stdout
void write_message(std::string_view text);  // to stderr, a line of its own behind "stereopsis: "
// Flushes stdout. Throws Error(file) where not everything could be written to it, and Unread where its reader has gone,
// as `head` does when it has enough.
void check_results_written();
struct Unread {};

// What was asked for.
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  write_result(fmt::format(format, std::forward<Values>(values)...));
}
// What was done, in a line.
template <class... Values>
void summarise(fmt::format_string<Values...> format, Values&&... values) {
  if (verbosity() != Verbosity::quiet) say(format, std::forward<Values>(values)...);
}
// What a user may want to know.
template <class... Values>
void remark(fmt::format_string<Values...> format, Values&&... values) {
  if (verbosity() != Verbosity::quiet) write_message(fmt::format(format, std::forward<Values>(values)...));
}
// What --verbose adds.
template <class... Values>
void detail(fmt::format_string<Values...> format, Values&&... values) {
  if (verbosity() == Verbosity::verbose) write_message(fmt::format(format, std::forward<Values>(values)...));
}
// What a user must know.
template <class... Values>
void warn(fmt::format_string<Values...> format, Values&&... values) {
  write_message(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace stereopsis::command
