#include "stages/sgm/sgm.hpp"

#include <algorithm>

namespace stereopsis::sgm {

void check(const Parameters& p, int max_cost) {
  check_ranges("sgm", p);
  const bool adaptive = p.adaptive();
  if (!adaptive && p.p2_min > 0)
    throw Error(ErrorCategory::call, text("sgm.p2_min = ", p.p2_min,
                                          " has no effect on a constant P2 (sgm.gradient = 0); "
                                          "set sgm.gradient above 0, or sgm.p2_min to 0"));
  const int lowest_p2 = adaptive ? std::min(p.p2, p.p2_min) : p.p2;
  if (p.p1 > lowest_p2)
    throw Error(ErrorCategory::call,
                text("sgm.p1 = ", p.p1, " is larger than ", adaptive ? "sgm.p2_min" : "sgm.p2", " = ", lowest_p2,
                     "; a small disparity change must not cost more than a large one"));
  if (adaptive && p.p2_min > p.p2)
    throw Error(ErrorCategory::call,
                text("sgm.p2_min = ", p.p2_min, " is larger than sgm.p2 = ", p.p2, "; lower it to at most sgm.p2"));
  const int bound = p.paths * (max_cost + p.p2);
  if (bound >= 65535)
    throw Error(ErrorCategory::call,
                text("sgm.p2 = ", p.p2, " lets the sums of ", p.paths, " paths reach ", bound,
                     ", which 16 bits do not hold; lower it to at most ", 65534 / p.paths - max_cost));
}

Penalties penalties(const Parameters& p) {
  Penalties table;
  for (int difference = 0; difference < 256; ++difference) {
    const int adapted = std::max(p.p2_min, std::min(p.p2, p.p2 * p.gradient / std::max(1, difference)));
    table[difference] = static_cast<std::uint16_t>(p.adaptive() ? adapted : p.p2);
  }
  return table;
}

}  // namespace stereopsis::sgm
