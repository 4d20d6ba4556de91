// Suggestions for names that are not known, as sentences of errors have them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stereopsis {

// Insertions, deletions, substitutions and swaps of neighbours that turn one name into the other, whatever the letters' case.
std::size_t edit_distance(std::string_view a, std::string_view b);

// " (did you mean 'sgm'?)", to be put behind the unknown name; the nearest candidate of which at most a
// third of the characters differ, else the shortest that begins with three characters of the name or more, else nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stereopsis
