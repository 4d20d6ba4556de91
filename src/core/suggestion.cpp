#include "core/suggestion.hpp"

#include <algorithm>
#include <numeric>

#include "core/text.hpp"

namespace stereopsis {
namespace {

constexpr std::size_t shortest_prefix = 3;

std::string lowered(std::string_view s) {
  std::string lower(s);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace

std::size_t edit_distance(std::string_view first, std::string_view second) {
  const std::string a = lowered(first), b = lowered(second);
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] != b[j]), row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

namespace {

// The dashes of an option are no letters: "--time" is not near "--simd".
std::size_t number_of_letters(std::string_view name) {
  return name.size() - std::min(name.find_first_not_of('-'), name.size());
}

bool is_near(std::string_view name, std::string_view candidate) {
  return edit_distance(name, candidate) <= std::max(number_of_letters(name), number_of_letters(candidate)) / 3;
}

// Returns the shortest candidate that starts with `name`, or an empty string.
std::string completed(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string start = lowered(name);
  std::string shortest;
  for (const std::string& candidate : candidates)
    if (start.size() >= shortest_prefix && lowered(candidate).starts_with(start) &&
        (shortest.empty() || candidate.size() < shortest.size()))
      shortest = candidate;
  return shortest;
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  std::string nearest = nearest_name(name, candidates);
  if (!is_near(name, nearest)) nearest = completed(name, candidates);
  return nearest.empty() ? "" : text(" (did you mean '", nearest, "'?)");
}

}  // namespace stereopsis
