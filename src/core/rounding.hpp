// Integer division and multiples, rounded up.
#pragma once

namespace stereopsis {

constexpr int ceil_div(int n, int divisor) { return (n + divisor - 1) / divisor; }
constexpr int round_up(int n, int multiple) { return ceil_div(n, multiple) * multiple; }

}  // namespace stereopsis
