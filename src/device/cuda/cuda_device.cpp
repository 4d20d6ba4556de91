#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

#include "core/memory_text.hpp"
#include "core/text.hpp"
#include "device/cuda/callers.hpp"
#include "device/cuda/cuda_api.hpp"
#include "device/cuda/machine_code.hpp"
#include "device/gpu/device.hpp"
#include "device/gpu/free_memory.hpp"
#include "device/gpu/stream_point.hpp"

namespace stereopsis::cuda {
namespace {

using gpu::Handle;

class CudaDevice;

class CudaQueue final : public gpu::Queue {
 public:
  CudaQueue(CudaDevice& device, bool one_of_several);
  ~CudaQueue() override;

  using gpu::Queue::launch;
  void launch(const gpu::Kernel&, const gpu::Grid&, const gpu::Arguments&) override;
  void copy(const Place& from, const Place& to, std::size_t bytes) override;
  void copy_rows(const Place& from, std::size_t from_pitch, const Place& to, std::size_t to_pitch,
                 std::size_t row_bytes, int rows) override;
  void fill(const Place& to, std::size_t bytes, std::uint8_t value) override;
  void record(gpu::Event&) override;
  void wait_for(gpu::Event&) override;
  void wait_for_native(Handle queue) override;
  void let_native_wait(Handle queue) override;
  void with_native(const std::function<void(Handle queue)>& f) override;
  bool begin_recording() override;
  std::unique_ptr<gpu::Graph> end_recording() override;
  void replay(gpu::Graph&) override;
  void wait() override;

 protected:
  void copy_in(const void* from, std::size_t from_pitch, const Place& to, std::size_t to_pitch, std::size_t row_bytes,
               int rows) override;
  void copy_out(const Place& from, std::size_t from_pitch, void* to, std::size_t to_pitch, std::size_t row_bytes,
                int rows) override;

 private:
  void copy_2d(const Copy2D&, const char* what);

  CudaDevice& device_;
  const bool starts_early_;  // true if kernels that are `early` may start early
  Stream stream_ = nullptr;
  std::unique_ptr<gpu::Event> meeting_;  // event for synchronising with queues of the caller
  bool recording_ = false, repeatable_ = true;
};

// Queries the driver for attributes of a device. An attribute that the driver does not know is 0.
class Attributes {
 public:
  Attributes(const Api& api, DeviceId id) : api_(api), id_(id) {}

  int operator()(Attribute what) const {
    int value = 0;
    api_.device_attribute(&value, what, id_);
    return value;
  }
  int capability() const { return 10 * (*this)(compute_capability_major) + (*this)(compute_capability_minor); }

 private:
  const Api& api_;
  const DeviceId id_;
};

constexpr int portable_only = 75;

gpu::Properties properties_of(const Attributes& attribute) {
  gpu::Properties p;
  // Tuned kernels can only use features of the capability for which they were compiled.
  p.cuda_capability = std::max(tuned_architectures().run_by(attribute.capability()), portable_only);
  const auto report = [&](auto& value, Attribute what) {
    if (const int reported = attribute(what); reported > 0)
      value = static_cast<std::decay_t<decltype(value)>>(reported);
  };
  report(p.multiprocessors, multiprocessors);
  report(p.threads_per_multiprocessor, max_threads_per_multiprocessor);
  report(p.warp_size, warp_size);
  report(p.local_bytes, max_shared_memory_per_block_opt_in);
  report(p.local_bytes_per_multiprocessor, max_shared_memory_per_multiprocessor);
  report(p.cache_bytes, l2_cache_bytes);
  return p;
}

// A CUDA device. At its first use, it retains the device's primary context, which the CUDA runtime shares, unless the
// caller provides a context.
class CudaDevice final : public gpu::Device, public gpu::FreeMemory {
 public:
  CudaDevice(const Api& functions, std::string name, DeviceId id)
      : gpu::Device(std::move(name), properties_of({functions, id})),
        api(functions),
        attribute({functions, id}),
        id_(id) {}

  // Makes the context current in the calling thread while the object exists.
  class Current {
   public:
    explicit Current(CudaDevice& device) : device_(device) {
      device.check(device.api.push_context(device.context()), "be used");
    }
    ~Current() {
      Context ignored;
      device_.api.pop_context(&ignored);
    }

   private:
    CudaDevice& device_;
  };

  std::size_t memory_bytes() override {
    std::size_t bytes = 0;
    check(api.device_memory(&bytes, id_), "report its memory");
    return bytes;
  }
  // How much a caller's allocator can provide is unknown.
  std::size_t free_bytes() override {
    if (allocator()) return memory_bytes();
    const Current current(*this);
    std::size_t free = 0, total = 0;
    check(api.free_memory(&free, &total), "report its free memory");
    return free;
  }
  DeviceDescription describe() override {
    char text_of_name[256] = {};
    api.device_name(text_of_name, sizeof text_of_name, id_);
    DeviceDescription d{name(), text_of_name, true, {}, {}};
    const auto put = [&](const char* property, const std::string& value) {
      d.properties.emplace_back(property, value);
    };
    int version = 0;
    api.driver_version(&version);
    put("driver", text("CUDA ", version / 1000, '.', version % 1000 / 10));
    put("compute capability", capability());
    if (properties().cuda_capability == portable_only)
      put("kernels", "portable; the faster tuned kernels need compute capability 8.0, and code for it in this build");
    if (const auto native = native_instructions(); !native.empty()) put("native instructions", join(native, ", "));
    put("compute units", text(properties().multiprocessors));
    char address[40];
    std::snprintf(address, sizeof address, "%04x:%02x:%02x.0", attribute(pci_domain), attribute(pci_bus),
                  attribute(pci_device));
    put("PCI address", address);
    put("clock", text(attribute(clock_rate) / 1000, " MHz"));
    put("global memory", text(memory_bytes() >> 20, " MiB"));
    put("local memory", text(attribute(max_shared_memory_per_block) >> 10, " KiB"));
    put("cache", text(properties().cache_bytes >> 10, " KiB"));
    put("constant memory", text(attribute(total_constant_memory) >> 10, " KiB"));
    put("work-group limit", text(attribute(max_threads_per_block), " (", attribute(max_block_x), " × ",
                                 attribute(max_block_y), " × ", attribute(max_block_z), ")"));
    return d;
  }

  // Returns the instructions of this device that tuned kernels use.
  std::vector<std::string> native_instructions() const {
    std::vector<std::string> names;
    if (properties().has_dpx()) names.push_back("DPX");
    if (properties().has_bulk_copies()) names.push_back("bulk copies");
    if (properties().has_early_start()) names.push_back("early start");
    return names;
  }

  std::string why_unusable() override {
    if (attribute.capability() < portable_only)
      return text("the GPU has compute capability ", capability(), "; use a GPU with 7.5 or later, or OpenCL");
    if (portable_architectures().run_by(attribute.capability()) == 0)
      return text("the GPU has compute capability ", capability(),
                  ", which this build has no kernels for; configure the build with "
                  "STEREOPSIS_CUDA_ARCHITECTURES=native on this "
                  "machine, or use OpenCL");
    return {};
  }

  // Launches the kernel. If `early`, the kernel may start before the previous kernel has ended. The context must be
  // current.
  Status launch(Function function, const LaunchConfig& c, bool early, void** arguments) const {
    if (!early || !can_start_early_)
      return api.launch(function, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.shared_bytes,
                        c.stream, arguments, nullptr);
    LaunchAttribute starts_early{LaunchAttribute::starts_early, 1, {}};
    LaunchConfig config = c;
    config.attributes = &starts_early;
    config.attribute_count = 1;
    return api.launch_with(&config, function, arguments, nullptr);
  }

  std::unique_ptr<gpu::Queue> make_queue(bool one_of_several) override {
    return std::make_unique<CudaQueue>(*this, one_of_several);
  }
  std::unique_ptr<gpu::Event> make_event(bool timed) override;

  Handle allocate(std::size_t bytes) override {
    const Current current(*this);
    if (const auto callers = allocator()) return allocate_of(callers, bytes);
    Pointer memory = 0;
    const Status status = api.allocate(&memory, bytes);
    if (status == out_of_memory) refuse_memory(bytes);
    check(status, "give memory");
    return memory;
  }
  void release(Handle memory) override {
    const auto callers = lender_of(memory);
    release_in_context([&] { callers ? callers->release(memory) : static_cast<void>(api.release(memory)); });
  }

  void use(DeviceAllocator allocator) {
    const std::lock_guard lock(mutex_);
    allocator_ = allocator.allocate ? std::make_shared<const DeviceAllocator>(std::move(allocator)) : nullptr;
  }

  void use(Context context) {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr)
      throw Error(
          ErrorCategory::call,
          text("the device '", name(), "' is already in use; set its context before any call that uses the device"));
    DeviceId of = -1;
    check(api.push_context(context), "use the caller's context");
    const Status status = api.device_of_context(&of);
    Context ignored;
    api.pop_context(&ignored);
    check(status, "use the caller's context");
    if (of != id_)
      throw Error(ErrorCategory::call, text("the context belongs to the device cuda:", of, ", and not to '", name(),
                                            "'; pass a context of this device"));
    context_ = context;
  }

  void* allocate_host(std::size_t bytes) override {
    const Current current(*this);
    constexpr unsigned portable = 1;  // the memory is page-locked in every context
    void* memory = nullptr;
    check(api.allocate_host(&memory, bytes, portable), "allocate page-locked memory");
    return memory;
  }
  void release_host(void* memory) override {
    release_in_context([&] { api.release_host(memory); });
  }
  bool is_pinned(const void* memory) override {
    const Current current(*this);
    constexpr int memory_type = 2, host = 1;
    unsigned type = 0;
    return api.pointer_attribute(&type, memory_type, reinterpret_cast<Pointer>(memory)) == success && type == host;
  }

  // If the device is lost, its resources are also lost, and nothing is released.
  template <class F>
  void release_in_context(F&& release) {
    if (api.push_context(context_) != success) return;
    release();
    Context ignored;
    api.pop_context(&ignored);
  }

  void check(Status status, const char* what) const {
    if (status == success) return;
    const char* error = nullptr;
    api.error_name(status, &error);
    const std::string sentence = text("the device '", name(), "' failed to ", what, " (",
                                      error != nullptr ? error : "unknown error", ", ", status, ")");
    if (status == out_of_memory)
      throw Error(ErrorCategory::memory, sentence + "; use smaller images or fewer disparities");
    if (status == no_binary || status == unsupported_ptx)
      throw Error(ErrorCategory::unsupported,
                  sentence + "; this build has no kernels for the device: update the driver, or use opencl or cpu");
    throw Error(ErrorCategory::device, sentence + "; try again in a new process, or use cpu");
  }

  Context context() {
    const std::lock_guard lock(mutex_);
    if (context_ == nullptr) check(api.retain_primary_context(&context_, id_), "create a context");
    return context_;
  }

  // Returns the function of a kernel, ready to be launched. The context must be current.
  Function find(const gpu::Kernel& which) {
    const std::lock_guard lock(mutex_);
    Function& function = functions_[{which.file, which.name, which.instance}];
    if (function == nullptr) function = load(which);
    return function;
  }

  const Api& api;
  const Attributes attribute;

 private:
  // The mutex must be held, and the context must be current.
  Function load(const gpu::Kernel& which) {
    Module& module = modules_[which.file];
    if (module == nullptr)
      check(api.load_module(&module, fat_binary(which.file).data()), text("load the kernels of ", which.file).c_str());
    const std::string symbol = text(which.name, '_', which.instance);
    Function function = nullptr;
    check(api.get_function(&function, module, symbol.c_str()), text("find the kernel ", symbol).c_str());
    set_attributes(function, which);
    return function;
  }

  // Attributes belong to the function, which other threads may be launching, so the attributes are set once.
  void set_attributes(Function function, const gpu::Kernel& which) const {
    if (which.most_local_bytes > 0)
      check(api.set_function_attribute(function, max_dynamic_shared_memory, which.most_local_bytes),
            "reserve local memory");
    if (which.local_percent >= 0)
      check(api.set_function_attribute(function, preferred_shared_memory_carveout, which.local_percent),
            "divide local memory");
  }

  std::string capability() const {
    return text(attribute(compute_capability_major), '.', attribute(compute_capability_minor));
  }

  // CUDA 12.3 and later let kernels in a recorded graph start early. How early kernels wait for data was verified for the
  // generation of GPUs that the code was compiled for, so that a later generation runs kernels one after the other.
  bool starts_early() const {
    int driver = 0;
    api.driver_version(&driver);
    return api.launch_with != nullptr && driver >= 12030 && properties().has_early_start() &&
           attribute.capability() / 10 == properties().cuda_capability / 10;
  }

  [[noreturn]] void refuse_memory(std::size_t bytes) const {
    throw Error(ErrorCategory::memory, text("the device '", name(), "' has no ", needed_memory(bytes),
                                            " of memory left; use smaller images, fewer disparities or a region"));
  }

  std::shared_ptr<const DeviceAllocator> allocator() {
    const std::lock_guard lock(mutex_);
    return allocator_;
  }
  // Allocates memory with the caller's allocator. The context must be current.
  Handle allocate_of(const std::shared_ptr<const DeviceAllocator>& callers, std::size_t bytes) {
    const Handle memory = callers->allocate(bytes);
    if (memory == 0) refuse_memory(bytes);
    if (memory % 256 != 0) {
      callers->release(memory);
      throw Error(ErrorCategory::call, text("the allocator that the caller set for the device '", name(),
                                            "' returned the address ", memory, "; it must be a multiple of 256 bytes"));
    }
    const std::lock_guard lock(mutex_);
    lent_[memory] = callers;
    return memory;
  }
  // Returns the caller's allocator from which `memory` came, and removes its entry. Returns null if `memory` came from
  // the driver.
  std::shared_ptr<const DeviceAllocator> lender_of(Handle memory) {
    const std::lock_guard lock(mutex_);
    const auto node = lent_.extract(memory);
    return node ? node.mapped() : nullptr;
  }

  const DeviceId id_;
  const bool can_start_early_ = starts_early();
  std::mutex mutex_;
  Context context_ = nullptr;
  // The allocator that the caller set; null for the driver's own.
  std::shared_ptr<const DeviceAllocator> allocator_;
  // The allocator of each block of memory that came from a caller's allocator.
  std::map<Handle, std::shared_ptr<const DeviceAllocator>> lent_;
  std::map<std::string_view, Module> modules_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Function>
      functions_;  // keyed by kernels, whose names are string literals
};

using Current = CudaDevice::Current;

class CudaEvent final : public gpu::Event {
 public:
  CudaEvent(CudaDevice& device, bool timed) : device_(device) {
    const Current current(device_);
    constexpr unsigned without_time = 2;
    device_.check(device_.api.create_event(&event, timed ? 0 : without_time), "create an event");
  }
  ~CudaEvent() override {
    device_.release_in_context([&] { device_.api.destroy_event(event); });
  }
  void wait() override {
    const Current current(device_);
    device_.check(device_.api.wait_for_event(event), "finish");
  }
  bool is_passed() override {
    const Current current(device_);
    const Status status = device_.api.query_event(event);
    if (status == not_ready) return false;
    device_.check(status, "finish");
    return true;
  }
  double ms_since(gpu::Event& earlier) override {
    const Current current(device_);
    float ms = 0;
    device_.check(device_.api.elapsed_ms(&ms, static_cast<CudaEvent&>(earlier).event, event), "tell a time");
    return ms;
  }

  cuda::Event event = nullptr;

 private:
  CudaDevice& device_;
};

cuda::Event event_of(gpu::Event& event) { return static_cast<CudaEvent&>(event).event; }

class CudaGraph final : public gpu::Graph {
 public:
  CudaGraph(CudaDevice& device, cuda::Graph graph) : device_(device) {
    const Status status = device_.api.instantiate(&executable, graph, 0);
    device_.api.destroy_graph(graph);
    device_.check(status, "create a graph");
  }
  ~CudaGraph() override {
    device_.release_in_context([&] { device_.api.destroy_graph_exec(executable); });
  }

  GraphExec executable = nullptr;

 private:
  CudaDevice& device_;
};

std::unique_ptr<gpu::Event> CudaDevice::make_event(bool timed) { return std::make_unique<CudaEvent>(*this, timed); }

CudaQueue::CudaQueue(CudaDevice& device, bool one_of_several)
    : gpu::Queue(device.properties()),
      device_(device),
      starts_early_(!one_of_several),
      meeting_(device.make_event(false)) {
  const Current current(device_);
  constexpr unsigned non_blocking = 1;  // the stream does not synchronise with the legacy default stream
  device_.check(device_.api.create_stream(&stream_, non_blocking), "create a queue");
}

CudaQueue::~CudaQueue() {
  device_.release_in_context([&] {
    device_.api.wait_for_stream(stream_);
    device_.api.destroy_stream(stream_);
  });
}

void CudaQueue::launch(const gpu::Kernel& kernel, const gpu::Grid& grid, const gpu::Arguments& arguments) {
  const int layers = 1 + (grid.groups_y - 1) / gpu::most_cuda_groups_y;
  if (layers > 1 && std::string_view(kernel.file).find("_cuda") != std::string_view::npos)
    throw Error(ErrorCategory::unsupported,
                text("an image that requires ", grid.groups_y, " rows of blocks is not allowed for ", kernel.file,
                     " on '", device_.name(), "'; at most ", gpu::most_cuda_groups_y,
                     " are allowed, so use a region of interest, or another device"));
  const Current current(device_);
  std::array<void*, 40> values;
  for (int i = 0; i < arguments.count(); ++i) values[i] = const_cast<void*>(arguments.value(i));
  const int groups_y = (grid.groups_y + layers - 1) / layers;
  const Function function = device_.find(kernel);
  const auto size = [](int value) { return static_cast<unsigned>(value); };
  const LaunchConfig config{size(grid.groups_x),
                            size(groups_y),
                            size(layers),
                            size(grid.items_x),
                            size(grid.items_y),
                            1,
                            size(grid.local_bytes),
                            stream_,
                            nullptr,
                            0};
  device_.check(device_.launch(function, config, kernel.early && starts_early_, values.data()), "start a kernel");
}

void CudaQueue::copy_2d(const Copy2D& copy, const char* what) {
  if (copy.row_bytes == 0 || copy.rows == 0) return;
  // When a recording is replayed, the host memory may already belong to something else.
  if (recording_) {
    repeatable_ = false;
    return;
  }
  const Current current(device_);
  device_.check(device_.api.copy_2d(&copy, stream_), what);
}

void CudaQueue::copy_in(const void* from, std::size_t from_pitch, const Place& to, std::size_t to_pitch,
                        std::size_t row_bytes, int rows) {
  Copy2D copy{};
  copy.from_kind = Copy2D::host;
  copy.from_host = from;
  copy.from_pitch = from_pitch;
  copy.to_kind = Copy2D::device;
  copy.to_device = to.memory + to.offset;
  copy.to_pitch = to_pitch;
  copy.row_bytes = row_bytes;
  copy.rows = rows;
  copy_2d(copy, "upload an image");
}

void CudaQueue::copy_out(const Place& from, std::size_t from_pitch, void* to, std::size_t to_pitch,
                         std::size_t row_bytes, int rows) {
  Copy2D copy{};
  copy.from_kind = Copy2D::device;
  copy.from_device = from.memory + from.offset;
  copy.from_pitch = from_pitch;
  copy.to_kind = Copy2D::host;
  copy.to_host = to;
  copy.to_pitch = to_pitch;
  copy.row_bytes = row_bytes;
  copy.rows = rows;
  copy_2d(copy, "download an image");
}

void CudaQueue::copy(const Place& from, const Place& to, std::size_t bytes) {
  const Current current(device_);
  device_.check(device_.api.copy(to.memory + to.offset, from.memory + from.offset, bytes, stream_), "copy memory");
}

void CudaQueue::copy_rows(const Place& from, std::size_t from_pitch, const Place& to, std::size_t to_pitch,
                          std::size_t row_bytes, int rows) {
  Copy2D copy{};
  copy.from_kind = copy.to_kind = Copy2D::device;
  copy.from_device = from.memory + from.offset;
  copy.from_pitch = from_pitch;
  copy.to_device = to.memory + to.offset;
  copy.to_pitch = to_pitch;
  copy.row_bytes = row_bytes;
  copy.rows = rows;
  copy_2d(copy, "copy an image");
}

void CudaQueue::fill(const Place& to, std::size_t bytes, std::uint8_t value) {
  if (bytes == 0) return;
  const Current current(device_);
  device_.check(device_.api.fill(to.memory + to.offset, value, bytes, stream_), "fill memory");
}

void CudaQueue::record(gpu::Event& event) {
  const Current current(device_);
  device_.check(device_.api.record_event(event_of(event), stream_), "record an event");
}

void CudaQueue::wait_for(gpu::Event& event) {
  const Current current(device_);
  device_.check(device_.api.let_stream_wait(stream_, event_of(event), 0), "wait for another queue");
}

void CudaQueue::wait_for_native(Handle queue) {
  const Current current(device_);
  const cuda::Event event = event_of(*meeting_);
  device_.check(device_.api.record_event(event, reinterpret_cast<Stream>(queue)), "use the caller's stream");
  device_.check(device_.api.let_stream_wait(stream_, event, 0), "wait for the caller's stream");
}

void CudaQueue::let_native_wait(Handle queue) {
  const Current current(device_);
  const cuda::Event event = event_of(*meeting_);
  device_.check(device_.api.record_event(event, stream_), "record an event");
  device_.check(device_.api.let_stream_wait(reinterpret_cast<Stream>(queue), event, 0), "use the caller's stream");
}

void CudaQueue::with_native(const std::function<void(Handle queue)>& f) {
  const Current current(device_);
  f(reinterpret_cast<Handle>(stream_));
}

bool CudaQueue::begin_recording() {
  const Current current(device_);
  constexpr int relaxed = 2;  // the capture ignores calls of other threads
  device_.check(device_.api.begin_capture(stream_, relaxed), "record commands");
  recording_ = repeatable_ = true;
  return true;
}

std::unique_ptr<gpu::Graph> CudaQueue::end_recording() {
  const Current current(device_);
  recording_ = false;
  cuda::Graph graph = nullptr;
  device_.check(device_.api.end_capture(stream_, &graph), "record commands");
  if (repeatable_) return std::make_unique<CudaGraph>(device_, graph);
  device_.api.destroy_graph(graph);
  return nullptr;
}

void CudaQueue::replay(gpu::Graph& graph) {
  const Current current(device_);
  device_.check(device_.api.launch_graph(static_cast<CudaGraph&>(graph).executable, stream_), "run recorded commands");
}

void CudaQueue::wait() {
  const Current current(device_);
  device_.check(device_.api.wait_for_stream(stream_), "finish");
}

class CudaStreamPoint final : public gpu::StreamPoint {
 public:
  explicit CudaStreamPoint(CudaDevice& device) : device_(device), event_(device.make_event(false)) {}

  void take(std::uint64_t stream) override {
    const Current current(device_);
    device_.check(device_.api.record_event(event_of(*event_), reinterpret_cast<Stream>(stream)),
                  "use the caller's stream");
  }
  void hold(std::uint64_t stream) override {
    const Current current(device_);
    device_.check(device_.api.let_stream_wait(reinterpret_cast<Stream>(stream), event_of(*event_), 0),
                  "use the caller's stream");
  }
  bool is_passed() const override { return event_->is_passed(); }
  void wait() const override { event_->wait(); }

 private:
  CudaDevice& device_;
  std::unique_ptr<gpu::Event> event_;
};

}  // namespace

namespace {

template <class Resource>
bool let_use(gpu::Device& device, Resource resource) {
  auto* const own = dynamic_cast<CudaDevice*>(&device);
  if (own != nullptr) own->use(std::move(resource));
  return own != nullptr;
}

}  // namespace

bool use_allocator(gpu::Device& device, DeviceAllocator allocator) { return let_use(device, std::move(allocator)); }
bool use_context(gpu::Device& device, Context context) { return let_use(device, context); }

std::unique_ptr<gpu::StreamPoint> make_stream_point(gpu::Device& device) {
  auto* const own = dynamic_cast<CudaDevice*>(&device);
  return own == nullptr ? nullptr : std::make_unique<CudaStreamPoint>(*own);
}

}  // namespace stereopsis::cuda

namespace stereopsis::gpu {

static Found find_cuda() {
  Found found;
  const cuda::Api* api = cuda::open(found.reason);
  if (api == nullptr) return found;
  const cuda::Status status = api->init(0);
  int count = 0;
  if (status == cuda::success) api->device_count(&count);
  if (status != cuda::success || count == 0) {
    const char* error = nullptr;
    api->error_name(status, &error);
    found.reason =
        status == cuda::success || status == cuda::no_device
            ? "the CUDA driver found no device; check that the machine has a GPU and that this process may use it"
            : text("the CUDA driver did not start (", error != nullptr ? error : "unknown error",
                   "); reinstall it, or restart the machine");
    return found;
  }
  for (int i = 0; i < count; ++i) {
    cuda::DeviceId id = 0;
    api->device(&id, i);
    found.add(std::make_unique<cuda::CudaDevice>(*api, text("cuda:", i), id));
  }
  return found;
}

// The list is never destroyed, because the driver may be unloaded before the process ends.
const Found& cuda_devices() {
  static const Found& found = *new Found(find_cuda());
  return found;
}

}  // namespace stereopsis::gpu
