// Suggestions for unknown names, worded for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stereopsis {

// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn one name into the other,
// ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns " (did you mean 'sgm'?)", to be appended to the unknown name. The suggestion is the candidate with the
// smallest edit distance, if at most a third of the characters differ. Otherwise, the suggestion is the shortest
// candidate that starts with `name`, provided that `name` has at least three characters. Returns an empty string if
// there is no suggestion.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stereopsis
