#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "core/memory_text.hpp"
#include "core/text.hpp"
#include "device/gpu/device.hpp"
#include "device/gpu/free_memory.hpp"
#include "device/gpu/sources.hpp"
#include "device/opencl/opencl_api.hpp"

namespace stereopsis::opencl {
namespace {

using gpu::Handle;

std::string trimmed(std::string s) {
  while (!s.empty() && (s.back() == '\0' || s.back() == ' ' || s.back() == '\n')) s.pop_back();
  return s.substr(std::min(s.size(), s.find_first_not_of(" \n")));
}

// Returns the text that a clGet…Info function provides: f(size, value, size_needed).
template <class F>
std::string info_text(F&& f) {
  std::size_t size = 0;
  f(0, nullptr, &size);
  std::string value(size, '\0');
  f(size, value.data(), nullptr);
  return trimmed(value);
}

class OpenClDevice;

class OpenClQueue final : public gpu::Queue {
 public:
  explicit OpenClQueue(OpenClDevice& device);
  ~OpenClQueue() override;

  using gpu::Queue::launch;
  void launch(const gpu::Kernel&, const gpu::Grid&, const gpu::Arguments&) override;
  void copy(const Place& from, const Place& to, std::size_t bytes) override;
  void fill(const Place& to, std::size_t bytes, std::uint8_t value) override;
  void record(gpu::Event&) override;
  void wait_for(gpu::Event&) override;
  void wait_for_native(Handle queue) override;
  void let_native_wait(Handle queue) override;
  void with_native(const std::function<void(Handle queue)>& f) override { f(reinterpret_cast<Handle>(queue_)); }
  void wait() override;

 protected:
  void copy_in(const void* from, std::size_t from_pitch, const Place& to, std::size_t to_pitch, std::size_t row_bytes,
               int rows) override;
  void copy_out(const Place& from, std::size_t from_pitch, void* to, std::size_t to_pitch, std::size_t row_bytes,
                int rows) override;

 private:
  void let_wait(cl_command_queue later, cl_command_queue earlier);

  OpenClDevice& device_;
  cl_command_queue queue_ = nullptr;
};

template <class T>
T device_number(const Api& api, cl_device_id id, cl_device_info what) {
  T value{};
  api.GetDeviceInfo(id, what, sizeof value, &value, nullptr);
  return value;
}

gpu::Properties properties_of(const Api& api, cl_device_id id) {
  gpu::Properties p;
  const auto report = [&]<class T>(auto& value, cl_device_info what, T) {
    if (const T reported = device_number<T>(api, id, what); reported > 0)
      value = static_cast<std::decay_t<decltype(value)>>(reported);
  };
  constexpr cl_device_info warp_size_nv = 0x4003, wavefront_width_amd = 0x4043;
  report(p.multiprocessors, CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint{});
  report(p.warp_size, warp_size_nv, cl_uint{});
  report(p.warp_size, wavefront_width_amd, cl_uint{});
  // A CPU runs one work-item after the other.
  if (device_number<cl_device_type>(api, id, CL_DEVICE_TYPE) == CL_DEVICE_TYPE_CPU) p.warp_size = 1;
  report(p.local_bytes, CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong{});
  report(p.cache_bytes, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong{});
  return p;
}

class OpenClDevice final : public gpu::Device, public gpu::FreeMemory {
 public:
  OpenClDevice(const Api& functions, std::string name, cl_platform_id platform, cl_device_id device)
      : gpu::Device(std::move(name), properties_of(functions, device)),
        api(functions),
        id(device),
        platform_(info_text([&](auto... a) { functions.GetPlatformInfo(platform, CL_PLATFORM_NAME, a...); })),
        has_one_queue_(platform_ == "Portable Computing Language" &&
                       std::atoi(text_of(CL_DRIVER_VERSION).c_str()) < 6) {}

  std::size_t memory_bytes() override { return number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE); }
  // Only AMD's drivers report free memory: in KiB, in total and in the largest piece. Others fail, and write nothing.
  std::size_t free_bytes() override {
    constexpr cl_device_info free_memory_amd = 0x4038;
    std::array<std::size_t, 2> kib{};
    const cl_int status = api.GetDeviceInfo(id, free_memory_amd, sizeof kib, kib.data(), nullptr);
    return status == CL_SUCCESS && kib[0] > 0 ? kib[0] << 10 : memory_bytes();
  }
  std::size_t largest_buffer() override { return number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE); }
  DeviceDescription describe() override {
    DeviceDescription d{name(), text_of(CL_DEVICE_NAME), true, {}, {}};
    const auto put = [&](const char* property, const std::string& value) {
      d.properties.emplace_back(property, value);
    };
    put("platform", platform_);
    put("driver", text_of(CL_DRIVER_VERSION));
    put("version", text_of(CL_DEVICE_VERSION));
    put("compute units", text(properties().multiprocessors));
    put("clock", text(number<cl_uint>(CL_DEVICE_MAX_CLOCK_FREQUENCY), " MHz"));
    put("global memory", text(memory_bytes() >> 20, " MiB"));
    put("largest buffer", text(largest_buffer() >> 20, " MiB"));
    put("local memory", text(properties().local_bytes >> 10, " KiB"));
    put("cache", text(properties().cache_bytes >> 10, " KiB"));
    put("constant memory", text(number<cl_ulong>(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) >> 10, " KiB"));
    const auto sides = number<std::array<std::size_t, 3>>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
    put("work-group limit", text(number<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE), " (", sides[0], " × ", sides[1],
                                 " × ", sides[2], ")"));
    return d;
  }

  // Returns why kernels cannot run on the device. The text is empty if they can.
  std::string why_unusable() override {
    if (number<cl_bool>(CL_DEVICE_AVAILABLE) == CL_FALSE) return "the device is not available at present";
    if (number<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE)
      return "its driver has no compiler; install a driver with one";
    if (number<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE) < 256)
      return text("the work-groups of the device hold ", number<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE),
                  " work-items; at least 256 are required");
    if (number<cl_bool>(CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE)
      return "it is big-endian; only little-endian devices are supported";
    return {};
  }

  std::unique_ptr<gpu::Queue> make_queue(bool) override { return std::make_unique<OpenClQueue>(*this); }
  std::unique_ptr<gpu::Event> make_event(bool timed) override;

  Handle allocate(std::size_t bytes) override {
    cl_int status = CL_INVALID_BUFFER_SIZE;
    cl_mem memory = nullptr;
    // Some drivers accept any size and fail at the first use.
    if (bytes <= number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE))
      memory = api.CreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, &status);
    if (status != CL_SUCCESS)
      throw Error(
          ErrorCategory::memory,
          text("the device '", name(), "' did not allocate ", needed_memory(bytes), " of memory (OpenCL error ", status,
               "; one buffer can have ", given_memory(largest_buffer()), "); use smaller images or fewer disparities"));
    return reinterpret_cast<Handle>(memory);
  }
  void release(Handle memory) override { api.ReleaseMemObject(reinterpret_cast<cl_mem>(memory)); }

  // Allocates memory through the driver and keeps it mapped. The pages of such memory are locked if the driver supports
  // page locking.
  void* allocate_host(std::size_t bytes) override {
    const cl_context in = context();
    const std::lock_guard lock(mutex_);
    if (host_queue_ == nullptr) host_queue_ = make_command_queue(in);
    cl_int status = CL_SUCCESS;
    const cl_mem buffer = api.CreateBuffer(in, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status);
    check(status, "allocate memory of the host");
    void* memory = api.EnqueueMapBuffer(host_queue_, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr,
                                        nullptr, &status);
    if (status != CL_SUCCESS) api.ReleaseMemObject(buffer);
    check(status, "map memory of the host");
    host_buffers_[memory] = buffer;
    return memory;
  }
  void release_host(void* memory) override {
    const std::lock_guard lock(mutex_);
    const auto found = host_buffers_.find(memory);
    api.EnqueueUnmapMemObject(host_queue_, found->second, memory, 0, nullptr, nullptr);
    api.Finish(host_queue_);
    api.ReleaseMemObject(found->second);
    host_buffers_.erase(found);
  }

  cl_command_queue make_command_queue(cl_context in) {
    const std::lock_guard lock(one_queue_mutex_);
    cl_command_queue queue = one_queue_;
    if (queue == nullptr) {
      cl_int status = CL_SUCCESS;
      queue = api.CreateCommandQueue(in, id, CL_QUEUE_PROFILING_ENABLE, &status);
      check(status, "create a queue");
      if (has_one_queue_) one_queue_ = queue;
    }
    if (has_one_queue_) api.RetainCommandQueue(queue);
    return queue;
  }

  void check(cl_int status, const char* what) const {
    if (status == CL_SUCCESS) return;
    const bool memory =
        status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY;
    throw Error(memory ? ErrorCategory::memory : ErrorCategory::device,
                text("the device '", name(), "' failed to ", what, " (OpenCL error ", status, "); ",
                     memory ? "use smaller images or fewer disparities" : "try again, or use cpu"));
  }

  cl_context context() {
    const std::lock_guard lock(mutex_);
    if (context_ == nullptr) {
      cl_int status = CL_SUCCESS;
      context_ = api.CreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
      check(status, "create a context");
    }
    return context_;
  }

  // Arguments belong to the kernel object until it is enqueued, so that only one launch at a time may set them.
  void launch(cl_command_queue queue, const gpu::Kernel& which, const gpu::Grid& grid,
              const gpu::Arguments& arguments) {
    const cl_context in = context();
    const std::lock_guard lock(mutex_);
    const cl_kernel kernel = find(in, which);
    for (int i = 0; i < arguments.count(); ++i)
      check(api.SetKernelArg(kernel, static_cast<cl_uint>(i), arguments.size(i), arguments.value(i)),
            "set a kernel's argument");
    const std::size_t items[] = {static_cast<std::size_t>(grid.items_x), static_cast<std::size_t>(grid.items_y)};
    const std::size_t all[] = {items[0] * grid.groups_x, items[1] * grid.groups_y};
    check(api.EnqueueNDRangeKernel(queue, kernel, 2, nullptr, all, items, 0, nullptr, nullptr), "start a kernel");
  }

  const Api& api;
  const cl_device_id id;

 private:
  std::string text_of(cl_device_info what) const {
    return info_text([&](auto... a) { api.GetDeviceInfo(id, what, a...); });
  }
  template <class T>
  T number(cl_device_info what) const {
    return device_number<T>(api, id, what);
  }

  cl_kernel find(cl_context in, const gpu::Kernel& which) {
    const auto key =
        std::tuple<std::string_view, std::string_view, std::string_view>(which.file, which.instance, which.name);
    const auto known = kernels_.find(key);
    if (known != kernels_.end()) return known->second;
    cl_program& program = programs_[{which.file, which.instance}];
    if (program == nullptr) program = make_program(in, which);
    cl_int status = CL_SUCCESS;
    const cl_kernel kernel = api.CreateKernel(program, which.name, &status);
    check(status, text("find the kernel ", which.file, '.', which.name).c_str());
    return kernels_[key] = kernel;
  }

  cl_program make_program(cl_context in, const gpu::Kernel& which) {
    const auto [source, constants] = gpu::program(which.file, which.instance);
    const bool rounds =
        (number<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    const std::string options =
        "-cl-std=CL1.2" + std::string(rounds ? " -cl-fp32-correctly-rounded-divide-sqrt -D ROUNDED_DIVISION" : "") +
        nvidia_capability() + constants;
    const char* lines = source.c_str();
    const std::size_t length = source.size();
    cl_int status = CL_SUCCESS;
    const cl_program program = api.CreateProgramWithSource(in, 1, &lines, &length, &status);
    check(status, "load a kernel's source");
    if (api.BuildProgram(program, 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
      const std::string log =
          info_text([&](auto... a) { api.GetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, a...); });
      api.ReleaseProgram(program);
      throw Error(ErrorCategory::device, text("the driver of '", name(), "' cannot compile ", which.file, ".cl for ",
                                              which.instance, ": ", log.substr(0, 500), "; use cpu or another driver"));
    }
    return program;
  }

  // Returns the option that tells kernels the compute capability of one of NVIDIA's GPUs (90 means 9.0).
  std::string nvidia_capability() const {
    constexpr cl_device_info major_nv = 0x4000, minor_nv = 0x4001;
    const cl_uint major = number<cl_uint>(major_nv), minor = number<cl_uint>(minor_nv);
    return major > 0 ? text(" -D NVIDIA_CAPABILITY=", 10 * major + minor) : std::string();
  }

  std::string platform_;
  // When PoCL before 6.0 counts the machine code in use, it confuses a kernel's code for small grids with that for
  // large grids, and aborts if both are in use. The problem does not occur in a single in-order queue, so all queues
  // share one queue.
  const bool has_one_queue_;
  std::mutex one_queue_mutex_;
  cl_command_queue one_queue_ = nullptr;
  std::mutex mutex_;
  cl_context context_ = nullptr;
  cl_command_queue host_queue_ = nullptr;  // queue for mapping and unmapping memory
  std::map<void*, cl_mem> host_buffers_;
  std::map<std::pair<std::string, std::string>, cl_program> programs_;
  // Keyed by names that are string literals.
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, cl_kernel> kernels_;
};

cl_mem memory(Handle handle) { return reinterpret_cast<cl_mem>(handle); }

// An event. OpenCL creates a new event object at each recording.
class OpenClEvent final : public gpu::Event {
 public:
  explicit OpenClEvent(OpenClDevice& device) : device_(device) {}
  ~OpenClEvent() override { release(); }

  void release() {
    if (event != nullptr) device_.api.ReleaseEvent(event);
    event = nullptr;
  }
  void wait() override {
    if (event == nullptr) return;
    const cl_int status = device_.api.WaitForEvents(1, &event);
    device_.check(status, "finish");
  }
  bool is_passed() override {
    cl_int status = CL_COMPLETE;
    if (event != nullptr)
      device_.check(device_.api.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                    "report the state of an event");
    device_.check(std::min(status, CL_SUCCESS), "finish");
    return status == CL_COMPLETE;
  }
  double ms_since(gpu::Event& earlier) override {
    const auto from = static_cast<OpenClEvent&>(earlier).time(), to = time();
    return from && to ? *to - *from : 0;
  }

  cl_event event = nullptr;

 private:
  // Returns the time in ms, or nothing if the driver does not measure times. If several threads use a device, NVIDIA's
  // driver completes an event slightly later than the queue of the event.
  std::optional<double> time() {
    wait();
    cl_ulong nanoseconds = 0;
    const cl_int status =
        device_.api.GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof nanoseconds, &nanoseconds, nullptr);
    if (status == CL_PROFILING_INFO_NOT_AVAILABLE) return std::nullopt;
    device_.check(status, "report the time of an event");
    return 1e-6 * static_cast<double>(nanoseconds);
  }

  OpenClDevice& device_;
};

std::unique_ptr<gpu::Event> OpenClDevice::make_event(bool) { return std::make_unique<OpenClEvent>(*this); }

OpenClQueue::OpenClQueue(OpenClDevice& device)
    : gpu::Queue(device.properties()), device_(device), queue_(device.make_command_queue(device.context())) {}

OpenClQueue::~OpenClQueue() {
  device_.api.Finish(queue_);
  device_.api.ReleaseCommandQueue(queue_);
}

void OpenClQueue::launch(const gpu::Kernel& kernel, const gpu::Grid& grid, const gpu::Arguments& arguments) {
  device_.launch(queue_, kernel, grid, arguments);
}

// OpenCL describes a rectangle as bytes × rows. The origin on the pitched side is the offset of the rectangle in its
// memory.
void OpenClQueue::copy_in(const void* from, std::size_t from_pitch, const Place& to, std::size_t to_pitch,
                          std::size_t row_bytes, int rows) {
  if (row_bytes == 0 || rows == 0) return;
  const std::size_t origin[3] = {static_cast<std::size_t>(to.offset), 0, 0}, zero[3] = {0, 0, 0};
  const std::size_t region[3] = {row_bytes, static_cast<std::size_t>(rows), 1};
  device_.check(device_.api.EnqueueWriteBufferRect(queue_, memory(to.memory), CL_FALSE, origin, zero, region, to_pitch,
                                                   0, from_pitch, 0, from, 0, nullptr, nullptr),
                "upload an image");
}

void OpenClQueue::copy_out(const Place& from, std::size_t from_pitch, void* to, std::size_t to_pitch,
                           std::size_t row_bytes, int rows) {
  if (row_bytes == 0 || rows == 0) return;
  const std::size_t origin[3] = {static_cast<std::size_t>(from.offset), 0, 0}, zero[3] = {0, 0, 0};
  const std::size_t region[3] = {row_bytes, static_cast<std::size_t>(rows), 1};
  device_.check(device_.api.EnqueueReadBufferRect(queue_, memory(from.memory), CL_FALSE, origin, zero, region,
                                                  from_pitch, 0, to_pitch, 0, to, 0, nullptr, nullptr),
                "download an image");
}

void OpenClQueue::copy(const Place& from, const Place& to, std::size_t bytes) {
  device_.check(device_.api.EnqueueCopyBuffer(queue_, memory(from.memory), memory(to.memory),
                                              static_cast<std::size_t>(from.offset),
                                              static_cast<std::size_t>(to.offset), bytes, 0, nullptr, nullptr),
                "copy memory");
}

void OpenClQueue::fill(const Place& to, std::size_t bytes, std::uint8_t value) {
  if (bytes == 0) return;
  device_.check(device_.api.EnqueueFillBuffer(queue_, memory(to.memory), &value, 1, static_cast<std::size_t>(to.offset),
                                              bytes, 0, nullptr, nullptr),
                "fill memory");
}

void OpenClQueue::record(gpu::Event& point) {
  auto& event = static_cast<OpenClEvent&>(point);
  event.release();
  device_.check(device_.api.EnqueueMarkerWithWaitList(queue_, 0, nullptr, &event.event), "record an event");
  device_.check(device_.api.Flush(queue_), "start");  // some drivers delay commands until the host waits
}

void OpenClQueue::wait_for(gpu::Event& point) {
  const cl_event event = static_cast<OpenClEvent&>(point).event;
  if (event == nullptr) return;
  device_.check(device_.api.EnqueueBarrierWithWaitList(queue_, 1, &event, nullptr), "wait for another queue");
}

void OpenClQueue::let_wait(cl_command_queue later, cl_command_queue earlier) {
  cl_event event = nullptr;
  device_.check(device_.api.EnqueueMarkerWithWaitList(earlier, 0, nullptr, &event), "record an event");
  device_.api.Flush(earlier);
  const cl_int status = device_.api.EnqueueBarrierWithWaitList(later, 1, &event, nullptr);
  device_.api.ReleaseEvent(event);
  device_.check(status, "wait for another queue");
}

void OpenClQueue::wait_for_native(Handle queue) { let_wait(queue_, reinterpret_cast<cl_command_queue>(queue)); }
void OpenClQueue::let_native_wait(Handle queue) { let_wait(reinterpret_cast<cl_command_queue>(queue), queue_); }

void OpenClQueue::wait() { device_.check(device_.api.Finish(queue_), "finish"); }

}  // namespace
}  // namespace stereopsis::opencl

namespace stereopsis::gpu {

static Found find_opencl() {
  Found found;
  const opencl::Api* api = opencl::open(found.reason);
  if (api == nullptr) return found;
  cl_uint count = 0;
  if (api->GetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    found.reason = "the OpenCL loader found no driver; install a driver for the GPU, or pocl-opencl-icd for the CPU";
    return found;
  }
  std::vector<cl_platform_id> platforms(count);
  api->GetPlatformIDs(count, platforms.data(), nullptr);
  for (const cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (api->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(devices);
    api->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
    for (const cl_device_id id : ids)
      found.add(std::make_unique<opencl::OpenClDevice>(*api, text("opencl:", found.candidates.size()), platform, id));
  }
  if (found.candidates.empty())
    found.reason =
        "the installed OpenCL drivers have no device; check that the machine has a supported GPU, or install "
        "pocl-opencl-icd for the CPU";
  return found;
}

// The list is never destroyed, because drivers may be unloaded before the process ends.
const Found& opencl_devices() {
  static const Found& found = *new Found(find_opencl());
  return found;
}

}  // namespace stereopsis::gpu
