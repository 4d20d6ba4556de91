#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/suggestion.hpp"

namespace stereopsis {

std::string number_text(double value) {
  char buffer[32];
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);  // prints 1000000, not 1e+06
  const auto result = whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<long long>(value))
                            : std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::vector<std::string> split(std::string_view s, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = s.find(separator);
    parts.emplace_back(s.substr(0, end));
    if (end == std::string_view::npos) return parts;
    s.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (!joined.empty()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string nearest;
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace stereopsis
