// Measures the peak rates of the processor with the given number of threads (0: all), for Roofs.
#pragma once

namespace stereopsis {

struct Roofs;
Roofs measure_cpu_roofs(int threads);

}  // namespace stereopsis
