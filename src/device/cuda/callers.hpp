// Makes a CUDA device use the caller's allocator or context. Both functions return whether the device is a CUDA device.
#pragma once

#include "device/cuda/cuda_api.hpp"
#include "device/gpu/device.hpp"
#include "stereopsis/resources.hpp"

namespace stereopsis::cuda {

bool use_allocator(gpu::Device&, DeviceAllocator);
bool use_context(gpu::Device&, Context);

}  // namespace stereopsis::cuda
