// Path costs at the end of a stripe: path_costs.hpp. The kernels of stages/sgm follow the paths, and this kernel
// subtracts the minimum of each pixel.
//
// instance any:
#include "device/gpu/vocabulary.h"

KERNEL(lower)(IMAGE(ushort, edge), int disparities) {
  const int x = global_id(0), kind = global_id(1);
  if (x >= WIDTH(edge) || kind >= HEIGHT(edge)) return;
  GLOBAL ushort* costs = &PIXEL(edge, (long)x * disparities, kind);
  int lowest = 65535;
  for (int k = 0; k < disparities; ++k) lowest = min(lowest, (int)costs[k]);
  for (int k = 0; k < disparities; ++k) costs[k] = (ushort)(costs[k] - lowest);
}
