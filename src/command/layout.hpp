// Lays out text for people: wrapped paragraphs, and lists of names with their explanations, as every help prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stereopsis::command {

// Returns the number of columns that the text occupies: its characters, not its bytes.
std::size_t columns_of(std::string_view text);

// Returns the words of the text in lines of at most `width` columns. A longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// Returns the text in lines, wrapped to text_width().
std::string paragraph(std::string_view text);

// A name, and its explanation in the column to the right. A name that is too wide for its column has a line of its own.
struct ListEntry {
  std::string name, text;
};

// Returns the entries below a heading, wrapped to text_width() and in the styles of the terminal. `column` is where the
// explanations begin.
std::string listing(const std::string& heading, const std::vector<ListEntry>& entries, std::size_t column);

// Returns a column for explanations that serves all entries.
std::size_t column_for(const std::vector<ListEntry>& entries);

}  // namespace stereopsis::command
