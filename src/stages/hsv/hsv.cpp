#include "stages/hsv/hsv.hpp"

#include <algorithm>
#include <cmath>

namespace stereopsis::hsv {

Weighting weighting(Space space, const std::vector<double>& weights) {
  const auto shown = detail::value_text(weights);
  if (weights.size() != 3)
    throw Error(ErrorCategory::call, text("cost.weights = ", shown, " is not allowed; give three numbers, one a channel, as 0.2,0.3,0.5"));
  for (const double weight : weights)
    if (!(weight >= 0) || !std::isfinite(weight))
      throw Error(ErrorCategory::call, text("cost.weights = ", shown, " is not allowed; a weight must be 0 or more"));
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (largest == 0)
    throw Error(ErrorCategory::call, text("cost.weights = ", shown, " is not allowed; at least one weight must be above 0"));
  Weighting result{space, {}};
  for (int i = 0; i < 3; ++i) result.scales[i] = static_cast<int>(std::floor(256 * (weights[i] / largest) + 0.5));
  return result;
}

}  // namespace stereopsis::hsv
