// The comparators of Batcher's merge exchange sort for n values (Knuth, The Art of Computer Programming 3, algorithm
// 5.2.2M). The compiler removes comparators whose results are not used as dead code.
#pragma once

#include <array>

namespace stereopsis {

struct Comparator {
  int low, high;
};

template <int n>
struct SortingNetwork {
  std::array<Comparator, n * n> comparators{};
  int size = 0;

  constexpr SortingNetwork() {
    int top = 1;
    while (2 * top < n) top *= 2;
    for (int p = top; p > 0; p /= 2)
      for (int q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int i = 0; i < n - d; ++i)
          if ((i & p) == r) comparators[size++] = {i, i + d};
        if (q == p) break;
      }
  }
};

template <int n>
inline constexpr SortingNetwork<n> sorting_network;

}  // namespace stereopsis
