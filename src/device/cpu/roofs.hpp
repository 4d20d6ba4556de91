// Measures the peak rates of the processor with the given number of threads (0: all), for Roofs.
#pragma once

#include "stereopsis/roofs.hpp"

namespace stereopsis {

#ifdef STEREOPSIS_SIMD
Roofs measure_cpu_roofs(int threads);
#else
inline Roofs measure_cpu_roofs(int) { return {}; }
#endif

}  // namespace stereopsis
