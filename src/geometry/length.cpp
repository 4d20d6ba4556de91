#include "stereopsis/length.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/rig.hpp"

namespace stereopsis {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> millimetres = {
    {{"mm", 1}, {"cm", 10}, {"m", 1000}, {"in", 25.4}}};

double millimetres_of(const std::string& unit) {
  const auto* const found = std::ranges::find(millimetres, unit, [](const auto& one) { return one.first; });
  return found == millimetres.end() ? 0 : found->second;
}

}  // namespace

double Length::in(const std::string& to) const {
  if (unit.empty() || unit == to) return value;
  if (to.empty())
    throw Error(ErrorCategory::call, stereopsis::text(text(),
                                                      " has a unit, but the unit of the calibration is not "
                                                      "known; give the unit of the baseline, such as 120mm, or "
                                                      "give all lengths as numbers in one unit"));
  if (to == no_scale)
    throw Error(ErrorCategory::call, stereopsis::text(text(),
                                                      " has a unit, but the calibration has no scale, as its baseline "
                                                      "is not known; give a number, in multiples of the baseline"));
  // A division by 10, 100 or 1000 is exact where a multiplication by its inverse is not.
  return millimetres_of(unit) >= millimetres_of(to) ? value * (millimetres_of(unit) / millimetres_of(to))
                                                    : value / (millimetres_of(to) / millimetres_of(unit));
}

Length Length::as_of_rig() const {
  if (unit.empty() || unit == "m") return *this;
  return {in("mm"), "mm"};
}

std::string Length::text() const { return number_text(value) + unit; }

Length parse_length(const std::string& text) {
  const std::size_t digits = text.find_last_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") + 1;
  const std::string unit = text.substr(digits);
  const auto value = parse_number<double>(text.substr(0, text.find_last_not_of(' ', digits - 1) + 1));
  if (!value || !std::isfinite(*value) || *value < 0 || (!unit.empty() && millimetres_of(unit) == 0))
    throw Error(ErrorCategory::call,
                stereopsis::text(text,
                                 " is not allowed; it must be a length such as 120mm, 12cm or 0.12m (units: mm, "
                                 "cm, m, in), or a number without a unit"));
  return {*value, unit};
}

}  // namespace stereopsis
