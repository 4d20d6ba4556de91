#include "sources/side_names.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/text.hpp"
#include "sources/frames.hpp"

namespace stereopsis::sources {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

// Returns whether a word may begin or end between two characters.
bool is_boundary(char before, char after) {
  return !is_letter(before) || !is_letter(after) || (!is_upper(before) && is_upper(after));
}

bool is_word(const std::string& name, std::size_t begin, std::string_view word) {
  if (begin + word.size() > name.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (lower(name[begin + i]) != word[i]) return false;
  const std::size_t end = begin + word.size();
  return (begin == 0 || is_boundary(name[begin - 1], name[begin])) &&
         (end == name.size() || is_boundary(name[end - 1], name[end]));
}

std::vector<std::size_t> places_of(const std::string& name, std::string_view word) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (is_word(name, i, word)) places.push_back(i);
  return places;
}

// Returns the name with another word at a place, in the case of the word that was there.
std::string exchanged(const std::string& name, std::size_t begin, std::size_t size, std::string_view word) {
  std::string other = name.substr(0, begin);
  const bool all_upper = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin),
                                     name.begin() + static_cast<std::ptrdiff_t>(begin + size), is_upper);
  for (std::size_t i = 0; i < word.size(); ++i)
    other += all_upper || (i == 0 && is_upper(name[begin])) ? upper(word[i]) : word[i];
  return other + name.substr(begin + size);
}

}  // namespace

bool has_word(const std::string& name, std::string_view word) { return !places_of(name, word).empty(); }

bool has_side(const std::string& name) { return has_word(name, "left") || has_word(name, "right"); }

std::vector<SideWord> left_words(const std::string& name) {
  std::vector<SideWord> words;
  std::string_view left = "left", right = "right";
  std::vector<std::size_t> places = places_of(name, left);
  if (!has_side(name)) {
    left = "l", right = "r";
    places = places_of(name, left);
  }
  for (const std::size_t place : places)
    words.push_back({place, left.size(), exchanged(name, place, left.size(), right)});
  if (places.size() < 2) return words;
  SideWord all{0, 0, name};
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    all.other = exchanged(all.other, *place, left.size(), right);
  words.push_back(all);
  return words;
}

std::string without(const SideWord& word, const std::string& name) {
  constexpr std::string_view separators = "_-. ";
  const auto is_separator = [&](std::size_t i) {
    return i < name.size() && separators.find(name[i]) != std::string_view::npos;
  };
  std::size_t begin = word.begin, end = word.begin + word.size;
  if (word.size > 0 && begin > 0 && is_separator(begin - 1))
    --begin;
  else if (word.size > 0 && is_separator(end))
    ++end;
  const std::string rest = name.substr(0, begin) + name.substr(end);
  return rest.empty() ? name : rest;
}

std::vector<std::size_t> partners_by_side(std::span<const std::string> left, std::span<const std::string> right) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < right.size(); ++i) places[right[i]] = i;
  std::vector<std::size_t> found(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    for (const SideWord& word : left_words(left[i])) {
      const auto place = places.find(word.other);
      if (place == places.end()) continue;
      if (found[i] < right.size() && found[i] != place->second)
        refuse(text(left[i], " has several partners, ", right[found[i]], " and ", word.other,
                    "; rename the images, or give a list of pairs (.csv)"));
      found[i] = place->second;
    }
  return found;
}

}  // namespace stereopsis::sources
