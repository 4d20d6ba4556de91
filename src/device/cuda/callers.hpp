// What a caller has already, for a CUDA device. Both say whether the device is one of CUDA's at all.
#pragma once

#include "device/cuda/cuda_api.hpp"
#include "device/gpu/device.hpp"
#include "stereopsis/resources.hpp"

namespace stereopsis::cuda {

bool use_allocator(gpu::Device&, DeviceAllocator);
bool use_context(gpu::Device&, Context);

}  // namespace stereopsis::cuda
