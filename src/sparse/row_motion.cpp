#include "sparse/row_motion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stereopsis::sparse {
namespace {

constexpr int strips = 8;
constexpr int most_motion = 32;  // rows
constexpr double most_difference =
    0.2;                           // largest difference of the profiles after the motion, as a part of their energy
constexpr double most_spread = 1;  // rows; largest median difference of the strips from their median

// Returns the derivatives along the columns of one strip. A change of the brightness leaves them as they are.
std::vector<double> slopes_of(const RowProfile& profile, int strip) {
  const std::size_t height = profile.size() / strips, first = height * static_cast<std::size_t>(strip);
  std::vector<double> slopes;
  for (std::size_t y = 1; y + 1 < height; ++y) slopes.push_back(profile[first + y + 1] - profile[first + y - 1]);
  return slopes;
}

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the motion of one strip: the shift with the least mean square difference, between rows by a parabola.
std::optional<double> motion_of(const std::vector<double>& earlier, const std::vector<double>& now) {
  const int height = static_cast<int>(now.size()), reach = std::min(most_motion, height / 6);
  const auto at = [](const std::vector<double>& v, int y) { return v[static_cast<std::size_t>(y)]; };
  std::vector<double> costs;
  double energy = 0;
  for (int y = reach; y < height - reach; ++y) energy += at(earlier, y) * at(earlier, y) + at(now, y) * at(now, y);
  for (int shift = -reach; shift <= reach; ++shift) {
    double sum = 0;
    for (int y = reach; y < height - reach; ++y) {
      const double apart = at(earlier, y) - at(now, y + shift);
      sum += apart * apart;
    }
    costs.push_back(sum);
  }
  const auto least = std::min_element(costs.begin(), costs.end());
  if (costs.size() < 3 || least == costs.begin() || least == costs.end() - 1 || *least > most_difference * energy)
    return {};
  const double curvature = least[-1] - 2 * least[0] + least[1];
  const double part = curvature > 0 ? (least[-1] - least[1]) / (2 * curvature) : 0;
  return static_cast<double>(least - costs.begin()) - reach + part;
}

}  // namespace

RowProfile row_profile(const Level& image) {
  RowProfile profile;
  for (int strip = 0; strip < strips; ++strip)
    for (int y = 0; y < image.height(); ++y) {
      const auto* row = image.row(y);
      profile.push_back(std::accumulate(row + image.width() * strip / strips,
                                        row + image.width() * (strip + 1) / strips, std::int32_t{0}));
    }
  return profile;
}

std::optional<double> vertical_motion(const RowProfile& earlier, const RowProfile& now) {
  if (earlier.size() != now.size()) return {};
  std::vector<double> motions, apart;
  for (int strip = 0; strip < strips; ++strip)
    if (const auto motion = motion_of(slopes_of(earlier, strip), slopes_of(now, strip))) motions.push_back(*motion);
  if (motions.size() < strips / 2) return {};
  const double middle = middle_of(motions);
  for (const double motion : motions) apart.push_back(std::abs(motion - middle));
  return middle_of(apart) <= most_spread ? std::optional(middle) : std::nullopt;
}

}  // namespace stereopsis::sparse
