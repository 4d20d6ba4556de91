// Tables of tuning constants: each tuned kernel has one table next to its launcher, which both the kernel and the
// launcher read.
//
// A row has the sizes with which the kernel is compiled and launched, and `capability`, the lowest compute capability
// of the row (90 means 9.0). Rows are in increasing order. Devices below the first row do not run the kernel. A comment
// states how much the numbers gained, and on which device this was measured. Counts are per multiprocessor or per
// thread, and never totals of one device.
#pragma once

#include <cstddef>

#include "device/gpu/properties.hpp"

namespace stereopsis::gpu {

// The compute capability of a device, or the capability for which a kernel is compiled.
struct Capability {
  constexpr Capability(int capability) : value(capability) {}
  constexpr Capability(const Properties& device) : value(device.cuda_capability) {}
  int value;
};

// Returns the last row whose capability the device has.
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

// The capability for which a kernel is compiled. With this capability, the kernel selects the same row as the host does
// for the device.
#ifdef __CUDA_ARCH__
inline constexpr int compiled_capability = __CUDA_ARCH__ / 10;
#else
inline constexpr int compiled_capability = 0;
#endif

}  // namespace stereopsis::gpu
