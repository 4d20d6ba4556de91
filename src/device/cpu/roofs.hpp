// What the processor reaches at most, with so many threads (0: all).
#pragma once

namespace stereopsis {

struct Roofs;
Roofs measure_cpu_roofs(int threads);

}  // namespace stereopsis
