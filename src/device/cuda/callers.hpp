// Sets the caller's allocator or context for a CUDA device. Both functions return false if the device is not a CUDA
// device.
#pragma once

#include "device/cuda/cuda_api.hpp"
#include "device/gpu/device.hpp"
#include "stereopsis/resources.hpp"

namespace stereopsis::cuda {

bool use_allocator(gpu::Device&, DeviceAllocator);
bool use_context(gpu::Device&, Context);

}  // namespace stereopsis::cuda
