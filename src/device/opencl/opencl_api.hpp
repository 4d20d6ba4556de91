// The OpenCL loader, opened at run time, so that the library starts without a loader.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace stereopsis::opencl {

// The OpenCL functions that are used, named without the prefix `cl`.
struct Api {
  // clang-format off
#define STEREOPSIS_OPENCL_FUNCTIONS(X)                                                                              \
  X(GetPlatformIDs) X(GetPlatformInfo) X(GetDeviceIDs) X(GetDeviceInfo) X(CreateContext) X(CreateCommandQueue)      \
  X(ReleaseCommandQueue) X(CreateBuffer) X(ReleaseMemObject) X(CreateProgramWithSource)                             \
  X(BuildProgram) X(ReleaseProgram) X(GetProgramBuildInfo) X(CreateKernel) X(SetKernelArg)        \
  X(EnqueueNDRangeKernel) X(EnqueueWriteBufferRect) X(EnqueueReadBufferRect) X(EnqueueCopyBuffer)                   \
  X(EnqueueFillBuffer) X(EnqueueMarkerWithWaitList) X(GetEventProfilingInfo) X(ReleaseEvent)                        \
  X(WaitForEvents) X(Finish) X(Flush) X(EnqueueMapBuffer) X(EnqueueUnmapMemObject) X(EnqueueBarrierWithWaitList) X(GetEventInfo) \
  X(RetainCommandQueue)
  // clang-format on
#define X(function) decltype(&::cl##function) function = nullptr;
  STEREOPSIS_OPENCL_FUNCTIONS(X)
#undef X
};

// Returns the loader's functions, or null and the reason if there is no loader.
const Api* open(std::string& reason);

}  // namespace stereopsis::opencl
