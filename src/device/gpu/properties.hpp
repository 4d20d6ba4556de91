// The properties of a GPU on which plans and launches depend. Devices, queues and the targets of plans contain a copy.
#pragma once

#include <cstddef>

namespace stereopsis::gpu {

// A property that a driver does not report keeps its default.
struct Properties {
  // Capability for which the tuned kernels were compiled (90 means 9.0); 0 if the device is not a CUDA device.
  int cuda_capability = 0;
  int multiprocessors = 16;                        // number of multiprocessors, or of OpenCL's compute units
  int threads_per_multiprocessor = 1024;           // number of threads that a multiprocessor holds at the same time
  int warp_size = 32;                              // number of work-items that run in lockstep
  std::size_t local_bytes = 32 << 10;              // largest local memory of a work-group
  std::size_t local_bytes_per_multiprocessor = 0;  // 0: unknown
  std::size_t cache_bytes = 0;                     // size of the second-level cache; 0 if unknown

  // Features for which tuned kernels are written. Without DPX, the compiler replaces each instruction by several
  // others. Kernels also work without the other two features.
  // DPX instructions: minima and maxima of three values, and of sums.
  bool has_dpx() const { return cuda_capability >= 90; }
  bool has_bulk_copies() const { return cuda_capability >= 90; }  // the instruction cp.async.bulk
  bool has_early_start() const { return cuda_capability >= 90; }  // kernels that start early (device/cuda/early.cuh)
};

}  // namespace stereopsis::gpu
