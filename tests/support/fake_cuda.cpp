// A CUDA driver for tests: device memory is the host's, kernels do nothing, calls are counted, and can be told to fail. Device 0
// is a current one (FAKE_CUDA_LOCAL_KIB: with so much shared memory; FAKE_CUDA_CAPABILITY: of that compute capability, such
// as 75), device 1, or the one that FAKE_CUDA_OLD names, is too old.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "device/cuda/cuda_api.hpp"

namespace {

using namespace stereopsis::cuda;

struct Control {
  std::map<std::string, int> calls;
  std::string fails;  // the call that does
  Status status = 0;  // and how
  std::size_t free_memory = std::size_t{1} << 30;
};
Control& control() {
  static Control& the = *new Control;
  return the;
}

// Memory that the driver gave.
class Allocations {
 public:
  void add(Pointer memory, std::size_t size) {
    const std::lock_guard lock(mutex_);
    sizes_[memory] = size;
  }
  void remove(Pointer memory) {
    const std::lock_guard lock(mutex_);
    sizes_.erase(memory);
  }
  bool contain(Pointer memory) {
    const std::lock_guard lock(mutex_);
    const auto behind = sizes_.upper_bound(memory);
    return behind != sizes_.begin() && memory - std::prev(behind)->first < std::prev(behind)->second;
  }

 private:
  std::mutex mutex_;
  std::map<Pointer, std::size_t> sizes_;
};
Allocations& allocations() {
  static Allocations& the = *new Allocations;
  return the;
}
// The page-locked memory of the host that is page-locked for every device.
Allocations& portable() {
  static Allocations& the = *new Allocations;
  return the;
}

// Counts the call and returns its status.
Status called(const char* name) {
  Control& c = control();
  ++c.calls[name];
  return c.fails == name ? c.status : success;
}

// Counts a call on a stream, also under the stream's name: "cuEventRecord@1".
Status called(const char* name, Stream stream) {
  std::string on_stream = name;
  on_stream += '@';
  on_stream += std::to_string(reinterpret_cast<std::uintptr_t>(stream));
  ++control().calls[on_stream];
  return called(name);
}

template <class T>
Status make(const char* name, T* out) {
  const Status status = called(name);
  if (status == success) *out = reinterpret_cast<T>(std::malloc(1));
  return status;
}
Status destroy(const char* name, void* object) {
  std::free(object);
  return called(name);
}

const char* bytes(const void* host, Pointer device) {
  return host != nullptr ? static_cast<const char*>(host) : reinterpret_cast<const char*>(device);
}

}  // namespace

extern "C" {

void fake_cuda_fail(const char* call, int status) {
  control().fails = call;
  control().status = status;
}
void fake_cuda_free_memory(std::size_t bytes) { control().free_memory = bytes; }
int fake_cuda_calls(const char* call) { return control().calls[call]; }
// Registers host memory that tests pass as device memory.
void fake_cuda_allocated(Pointer memory, std::size_t size) { allocations().add(memory, size); }
void fake_cuda_freed(Pointer memory) { allocations().remove(memory); }
Context fake_cuda_callers_context() {
  static char there;
  return reinterpret_cast<Context>(&there);
}

Status cuInit(unsigned) { return called("cuInit"); }
Status cuDriverGetVersion(int* version) {
  *version = 13000;
  return success;
}
Status cuDeviceGetCount(int* count) {
  *count = 2;
  return success;
}
Status cuDeviceGet(DeviceId* id, int ordinal) {
  *id = ordinal;
  return success;
}
Status cuDeviceGetName(char* name, int length, DeviceId) {
  std::strncpy(name, "a device for tests", static_cast<std::size_t>(length));
  return success;
}
Status cuDeviceGetAttribute(int* value, int attribute, DeviceId id) {
  const char* named = std::getenv("FAKE_CUDA_OLD");
  const bool old = id == (named != nullptr ? std::atoi(named) : 1);
  const char* kib = std::getenv("FAKE_CUDA_LOCAL_KIB");
  const char* given = std::getenv("FAKE_CUDA_CAPABILITY");
  const int capability = given != nullptr ? std::atoi(given) : 90;
  switch (attribute) {
    case compute_capability_major: *value = (old ? 35 : capability) / 10; break;
    case compute_capability_minor: *value = (old ? 35 : capability) % 10; break;
    case max_shared_memory_per_block_opt_in: *value = (kib != nullptr ? std::atoi(kib) : 227) << 10; break;
    case max_shared_memory_per_multiprocessor: *value = 228 << 10; break;
    case multiprocessors: *value = 132; break;
    case max_threads_per_multiprocessor: *value = 2048; break;
    case warp_size: *value = 32; break;
    case l2_cache_bytes: return not_ready;  // does not report it
    default: *value = 1024;
  }
  return success;
}
Status cuDeviceTotalMem_v2(std::size_t* memory, DeviceId) {
  *memory = std::size_t{1} << 30;
  return success;
}
Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = std::size_t{1} << 30;
  *free = control().free_memory;
  return called("cuMemGetInfo");
}
Status cuDevicePrimaryCtxRetain(Context* context, DeviceId) { return make("cuDevicePrimaryCtxRetain", context); }
// Counts pushes of the caller's context on device 0, which is not a retained one.
Status cuCtxPushCurrent_v2(Context context) {
  if (context == fake_cuda_callers_context()) ++control().calls["cuCtxPushCurrent of the caller's"];
  return success;
}
Status cuCtxPopCurrent_v2(Context*) { return success; }
Status cuCtxGetDevice(DeviceId* id) {
  *id = 0;
  return called("cuCtxGetDevice");
}
Status cuMemAlloc_v2(Pointer* memory, std::size_t size) {
  const Status status = called("cuMemAlloc");
  if (status == success) {
    *memory = reinterpret_cast<Pointer>(std::calloc(1, size));
    allocations().add(*memory, size);
  }
  return status;
}
Status cuMemFree_v2(Pointer memory) {
  allocations().remove(memory);
  std::free(reinterpret_cast<void*>(memory));
  return called("cuMemFree");
}
Status cuMemHostAlloc(void** memory, std::size_t size, unsigned flags) {
  const Status status = called("cuMemHostAlloc");
  if (status != success) return status;
  *memory = std::aligned_alloc(64, (size + 63) / 64 * 64);
  if ((flags & 1) != 0) portable().add(reinterpret_cast<Pointer>(*memory), size);
  return status;
}
Status cuMemFreeHost(void* memory) {
  portable().remove(reinterpret_cast<Pointer>(memory));
  return destroy("cuMemFreeHost", memory);
}
// All device memory belongs to device 0. The driver knows memory of the host that is page-locked for every device.
Status cuPointerGetAttribute(void* value, int attribute, Pointer memory) {
  constexpr int memory_type = 2, device_ordinal = 9, host = 1;
  if (attribute == memory_type && portable().contain(memory)) {
    *static_cast<int*>(value) = host;
    return success;
  }
  if (attribute != device_ordinal || !allocations().contain(memory)) return 1;
  *static_cast<int*>(value) = 0;
  return success;
}
Status cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, std::size_t size, Stream) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), size);
  return called("cuMemcpyDtoDAsync");
}
Status cuMemcpy2DAsync_v2(const Copy2D* copy, Stream) {
  const char* from = bytes(copy->from_host, copy->from_device);
  char* to = const_cast<char*>(bytes(copy->to_host, copy->to_device));
  for (std::size_t row = 0; row < copy->rows; ++row)
    std::memcpy(to + row * copy->to_pitch, from + row * copy->from_pitch, copy->row_bytes);
  return called("cuMemcpy2DAsync");
}
Status cuMemsetD8Async(Pointer memory, unsigned char value, std::size_t size, Stream) {
  std::memset(reinterpret_cast<void*>(memory), value, size);
  return called("cuMemsetD8Async");
}
Status cuStreamCreate(Stream* stream, unsigned) { return make("cuStreamCreate", stream); }
Status cuStreamDestroy_v2(Stream stream) { return destroy("cuStreamDestroy", stream); }
Status cuStreamSynchronize(Stream) { return called("cuStreamSynchronize"); }
Status cuEventCreate(Event* event, unsigned) { return make("cuEventCreate", event); }
Status cuEventDestroy_v2(Event event) { return destroy("cuEventDestroy", event); }
Status cuEventRecord(Event, Stream stream) { return called("cuEventRecord", stream); }
Status cuEventQuery(Event) { return called("cuEventQuery"); }
Status cuEventSynchronize(Event) { return called("cuEventSynchronize"); }
Status cuEventElapsedTime(float* ms, Event, Event) {
  *ms = 1;
  return called("cuEventElapsedTime");
}
Status cuStreamWaitEvent(Stream stream, Event, unsigned) { return called("cuStreamWaitEvent", stream); }
Status cuStreamBeginCapture_v2(Stream, int) { return called("cuStreamBeginCapture"); }
Status cuStreamEndCapture(Stream, Graph* graph) { return make("cuStreamEndCapture", graph); }
Status cuGraphInstantiateWithFlags(GraphExec* graph, Graph, unsigned long long) {
  return make("cuGraphInstantiate", graph);
}
Status cuGraphDestroy(Graph graph) { return destroy("cuGraphDestroy", graph); }
Status cuGraphExecDestroy(GraphExec graph) { return destroy("cuGraphExecDestroy", graph); }
Status cuFuncSetAttribute(Function, int, int) { return called("cuFuncSetAttribute"); }
Status cuGraphLaunch(GraphExec, Stream) { return called("cuGraphLaunch"); }
Status cuModuleLoadData(Module* module, const void*) { return make("cuModuleLoadData", module); }
Status cuModuleGetFunction(Function* function, Module, const char*) { return make("cuModuleGetFunction", function); }
Status cuLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**,
                      void**) {
  return called("cuLaunchKernel");
}
Status cuLaunchKernelEx(const LaunchConfig* config, Function, void**, void**) {
  if (config->attribute_count == 1 && config->attributes->id == LaunchAttribute::starts_early) called("early");
  return called("cuLaunchKernel");
}
Status cuGetErrorName(Status, const char** name) {
  *name = "CUDA_ERROR_OF_A_TEST";
  return success;
}

}  // extern "C"
