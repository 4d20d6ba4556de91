// Tuning is data: each tuned kernel has one table next to its launcher, which kernel and launcher read.
//
// A row has the sizes that the kernel is compiled and launched with, and `capability`, the lowest that the row is for (90
// means 9.0). Rows are in increasing order; devices below the first one do not run the kernel. A comment says what the
// numbers gained, where that was measured. Counts are per multiprocessor or per thread, never those of one device.
#pragma once

#include <cstddef>

#include "device/gpu/properties.hpp"

namespace stereopsis::gpu {

// The compute capability of a device, or the one that a kernel is compiled for.
struct Capability {
  constexpr Capability(int capability) : value(capability) {}
  constexpr Capability(const Properties& device) : value(device.cuda_capability) {}
  int value;
};

// Returns the last row that is not for later devices.
template <class Row, std::size_t rows>
constexpr const Row& pick(const Row (&table)[rows], Capability capability) {
  std::size_t row = 0;
  while (row + 1 < rows && table[row + 1].capability <= capability.value) ++row;
  return table[row];
}

// Returns whether the device runs the kernel.
template <class Row, std::size_t rows>
constexpr bool runs(const Row (&table)[rows], Capability device) {
  return device.value >= table[0].capability;
}

// The capability that a kernel is compiled for: with it, the kernel picks the row that the host picks for the device.
#ifdef __CUDA_ARCH__
inline constexpr int compiled_capability = __CUDA_ARCH__ / 10;
#else
inline constexpr int compiled_capability = 0;
#endif

}  // namespace stereopsis::gpu
