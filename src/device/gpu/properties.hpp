// The properties of a GPU on which plans and launches depend. Devices, queues and targets of plans contain them.
#pragma once

#include <cstddef>

namespace stereopsis::gpu {

// A value that a driver does not report keeps its default.
struct Properties {
  int cuda_capability = 0;   // capability that the tuned kernels were compiled for: 90 means 9.0; 0: not a CUDA device
  int multiprocessors = 16;  // OpenCL's compute units
  int threads_per_multiprocessor = 1024;           // resident at the same time
  int warp_size = 32;                              // work-items that run in lockstep
  std::size_t local_bytes = 32 << 10;              // largest local memory of a work-group
  std::size_t local_bytes_per_multiprocessor = 0;  // 0: unknown
  std::size_t cache_bytes = 0;                     // second-level cache; 0: unknown

  // Instructions that tuned kernels are written for. Without them, the compiler replaces the first by several others,
  // and kernels do without the rest.
  bool has_dpx() const { return cuda_capability >= 90; }          // minima and maxima of three, and of sums
  bool has_bulk_copies() const { return cuda_capability >= 90; }  // cp.async.bulk
  bool has_early_start() const { return cuda_capability >= 90; }  // device/cuda/early.cuh
};

}  // namespace stereopsis::gpu
