#include "stages/sgm/sgm.hpp"

#include <algorithm>

#include "core/order.hpp"

namespace stereopsis::sgm {

void check(const Parameters& p, int max_cost) {
  check_ranges("sgm", p);
  const bool adaptive = p.adaptive();
  if (!adaptive && p.p2_min > 0)
    throw Error(ErrorCategory::call, text("sgm.p2_min = ", p.p2_min,
                                          " has no effect on a constant P2 (sgm.gradient = 0); "
                                          "set sgm.p2_min to 0, or sgm.gradient above 0"));
  check_order("sgm", "p1", p.p1, "p2", p.p2);
  check_order("sgm", "p2_min", p.p2_min, "p2", p.p2);
  if (p.p2_min > 0) check_order("sgm", "p1", p.p1, "p2_min", p.p2_min, ", or to 0, which reduces P2 down to sgm.p1");
  const int bound = p.paths * (max_cost + p.p2);
  if (bound >= 65535)
    throw Error(ErrorCategory::call, text("sgm.p2 = ", p.p2, " lets the sums of ", p.paths, " paths reach ", bound,
                                          ", which exceeds 16 bits; set sgm.p2 to at most ", 65534 / p.paths - max_cost,
                                          p.paths > 4 ? ", or sgm.paths to 4" : ""));
}

Penalties penalties(const Parameters& p) {
  Penalties table;
  for (int difference = 0; difference < 256; ++difference) {
    const int adapted = std::max(p.lowest_p2(), std::min(p.p2, p.p2 * p.gradient / std::max(1, difference)));
    table[difference] = static_cast<std::uint16_t>(p.adaptive() ? adapted : p.p2);
  }
  return table;
}

}  // namespace stereopsis::sgm
