// The CUDA driver, opened at run time, so that the library starts without a driver. This file declares the used part of
// the driver's stable binary interface, so that neither the headers nor the stub library of CUDA is needed.
#pragma once

#include <cstddef>
#include <string>

namespace stereopsis::cuda {

using Status = int;
using DeviceId = int;
using Pointer = unsigned long long;
struct ContextObject;
struct ModuleObject;
struct FunctionObject;
struct StreamObject;
struct EventObject;
struct GraphObject;
struct GraphExecObject;
using Context = ContextObject*;
using Module = ModuleObject*;
using Function = FunctionObject*;
using Stream = StreamObject*;
using Event = EventObject*;
using Graph = GraphObject*;
using GraphExec = GraphExecObject*;

inline constexpr Status success = 0, out_of_memory = 2, no_device = 100, not_ready = 600, no_binary = 209,
                        unsupported_ptx = 222;

enum Attribute : int {
  max_threads_per_block = 1,
  max_block_x = 2,
  max_block_y = 3,
  max_block_z = 4,
  max_shared_memory_per_block = 8,
  total_constant_memory = 9,
  warp_size = 10,
  clock_rate = 13,  // kHz
  pci_bus = 33,
  pci_device = 34,
  pci_domain = 50,
  multiprocessors = 16,
  l2_cache_bytes = 38,
  max_threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_multiprocessor = 81,
  max_shared_memory_per_block_opt_in = 97,
};

// Function attributes.
inline constexpr int max_dynamic_shared_memory = 8, preferred_shared_memory_carveout = 9;

// The layout equals that of CUDA_MEMCPY2D.
struct Copy2D {
  enum Kind : int { host = 1, device = 2 };
  std::size_t from_x, from_y;
  Kind from_kind;
  const void* from_host;
  Pointer from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  Kind to_kind;
  void* to_host;
  Pointer to_device;
  void* to_array;
  std::size_t to_pitch;
  std::size_t row_bytes, rows;
};

// The layouts equal those of CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  enum Id : int { starts_early = 6 };  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  Id id;
  alignas(8) int value;
  char unused[60];
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct Api {
  // X(member of Api, symbol of the driver, parameters).
#define STEREOPSIS_CUDA_FUNCTIONS(X)                                                                  \
  X(init, cuInit, (unsigned flags))                                                                   \
  X(driver_version, cuDriverGetVersion, (int* version))                                               \
  X(device_count, cuDeviceGetCount, (int* count))                                                     \
  X(device, cuDeviceGet, (DeviceId*, int ordinal))                                                    \
  X(device_name, cuDeviceGetName, (char* name, int length, DeviceId))                                 \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceId))                    \
  X(device_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, DeviceId))                              \
  X(free_memory, cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                          \
  X(retain_primary_context, cuDevicePrimaryCtxRetain, (Context*, DeviceId))                           \
  X(push_context, cuCtxPushCurrent_v2, (Context))                                                     \
  X(pop_context, cuCtxPopCurrent_v2, (Context*))                                                      \
  X(device_of_context, cuCtxGetDevice, (DeviceId*))                                                   \
  X(allocate, cuMemAlloc_v2, (Pointer*, std::size_t bytes))                                           \
  X(release, cuMemFree_v2, (Pointer))                                                                 \
  X(copy, cuMemcpyDtoDAsync_v2, (Pointer to, Pointer from, std::size_t bytes, Stream))                \
  X(copy_2d, cuMemcpy2DAsync_v2, (const Copy2D*, Stream))                                             \
  X(fill, cuMemsetD8Async, (Pointer, unsigned char value, std::size_t bytes, Stream))                 \
  X(create_stream, cuStreamCreate, (Stream*, unsigned flags))                                         \
  X(destroy_stream, cuStreamDestroy_v2, (Stream))                                                     \
  X(wait_for_stream, cuStreamSynchronize, (Stream))                                                   \
  X(create_event, cuEventCreate, (Event*, unsigned flags))                                            \
  X(destroy_event, cuEventDestroy_v2, (Event))                                                        \
  X(record_event, cuEventRecord, (Event, Stream))                                                     \
  X(elapsed_ms, cuEventElapsedTime, (float* ms, Event, Event))                                        \
  X(load_module, cuModuleLoadData, (Module*, const void* image))                                      \
  X(get_function, cuModuleGetFunction, (Function*, Module, const char* name))                         \
  X(set_function_attribute, cuFuncSetAttribute, (Function, int attribute, int value))                 \
  X(launch, cuLaunchKernel,                                                                           \
    (Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, Stream, void** arguments, void** extra))                \
  X(allocate_host, cuMemHostAlloc, (void**, std::size_t bytes, unsigned flags))                       \
  X(release_host, cuMemFreeHost, (void*))                                                             \
  X(pointer_attribute, cuPointerGetAttribute, (void* value, int attribute, Pointer))                  \
  X(wait_for_event, cuEventSynchronize, (Event))                                                      \
  X(query_event, cuEventQuery, (Event))                                                               \
  X(let_stream_wait, cuStreamWaitEvent, (Stream, Event, unsigned flags))                              \
  X(begin_capture, cuStreamBeginCapture_v2, (Stream, int mode))                                       \
  X(end_capture, cuStreamEndCapture, (Stream, Graph*))                                                \
  X(instantiate, cuGraphInstantiateWithFlags, (GraphExec*, Graph, unsigned long long flags))          \
  X(destroy_graph, cuGraphDestroy, (Graph))                                                           \
  X(destroy_graph_exec, cuGraphExecDestroy, (GraphExec))                                              \
  X(launch_graph, cuGraphLaunch, (GraphExec, Stream))                                                 \
  X(error_name, cuGetErrorName, (Status, const char** name))
#define X(member, symbol, parameters) Status(*member) parameters = nullptr;
  STEREOPSIS_CUDA_FUNCTIONS(X)
#undef X
  // The pointer is null before CUDA 11.8.
  Status (*launch_with)(const LaunchConfig*, Function, void** arguments, void** extra) = nullptr;
};

// Returns the driver's functions, or null and the reason if there is no driver.
const Api* open(std::string& reason);

}  // namespace stereopsis::cuda
