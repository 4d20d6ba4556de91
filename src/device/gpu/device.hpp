// GPUs, once for CUDA and OpenCL: memory, copies, kernels by name.
//
// Kernels are the .cl files of the stages, written in the common subset that vocabulary.h spans. A kernel is known by
// its file (the stage), its name in it, and the instance: which of the file's lists of constants it is compiled with.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/gpu/view.hpp"
#include "stereopsis/device.hpp"

namespace stereopsis::gpu {

struct Kernel {
  const char* file;
  const char* name;
  const char* instance;
  // It may start while the kernel before it in the queue still runs, because it waits itself for what it needs
  // (device/cuda/early.cuh). Tuned kernels alone; where a device has no such thing, it starts after that one.
  bool early = false;
  // How much of the memory that a multiprocessor shares out to its first-level cache and to local memory should be local,
  // in percent; −1: as the driver thinks. Kernels that differ in it do not run side by side on a multiprocessor.
  int local_percent = -1;
};

// Groups of work-items, in x and y.
struct Grid {
  int groups_x = 1, groups_y = 1;
  int items_x = 1, items_y = 1;
  int local_bytes = 0;  // of a group, beyond what the kernel declares; tuned kernels alone
};

// What a CUDA device takes in y. Portable kernels go on in layers from there; tuned ones can't.
constexpr int most_cuda_groups_y = 65535;

// A work-item for each pixel.
inline Grid over(Size size) {
  constexpr int items_x = 32, items_y = 8;
  return {(size.width + items_x - 1) / items_x, (size.height + items_y - 1) / items_y, items_x, items_y};
}
// A work-item for each of `count`.
inline Grid over(int count) {
  constexpr int items = 128;
  return {count / items + (count % items != 0), 1, items, 1};
}

// What a kernel sees of an image: Layout in vocabulary.h.
struct Layout {
  std::int64_t offset, pitch;
  std::int32_t width, height;
};

// The arguments of a launch, as both drivers take them: where each lies, and how long it is.
class Arguments {
 public:
  template <class... Values>
  explicit Arguments(const Values&... values) {
    (add(values), ...);
  }
  int count() const { return count_; }
  const void* value(int i) const { return storage_.data() + entries_[i].offset; }
  std::size_t size(int i) const { return entries_[i].size; }

 private:
  struct Entry {
    std::size_t offset, size;
  };

  template <class T>
  void add(const View<T>& view) {
    put(view.memory);
    put(Layout{view.offset, view.pitch, view.width, view.height});
  }
  template <class T>
  void add(const Array<T>& array) {
    put(array.memory);
    put(array.offset);
  }
  // A struct that a tuned kernel takes whole; it says so itself.
  template <class T>
  requires T::is_argument void add(const T& value) { put(value); }
  void add(int value) { put(value); }
  void add(float value) { put(value); }

  template <class T>
  void put(const T& value) {
    static_assert(sizeof(T) % 4 == 0);
    const std::size_t offset = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    if (offset + sizeof(T) > storage_.size() || count_ == static_cast<int>(entries_.size()))
      throw Error(ErrorCategory::device,
                  "a kernel has more arguments than a launch can hold; this is a fault of the library");
    std::memcpy(storage_.data() + offset, &value, sizeof(T));
    entries_[count_++] = {offset, sizeof(T)};
    used_ = offset + sizeof(T);
  }

  alignas(8) std::array<std::byte, 1024> storage_;
  std::array<Entry, 40> entries_;
  std::size_t used_ = 0;
  int count_ = 0;
};

// A point among the commands of a queue. Made once, recorded as often as one likes; it stands for the last time.
class Event {
 public:
  virtual ~Event() = default;
  // Until the device has passed it. Throws what went wrong before it.
  virtual void wait() = 0;
  virtual bool is_passed() = 0;
  // Of two timed events that the device has passed; 0 where the driver does not tell.
  virtual double ms_since(Event& earlier) = 0;
};

// Commands that were recorded once and can be run again, with the same arguments, at the cost of one.
class Graph {
 public:
  virtual ~Graph() = default;
};

// Commands of a device, done in their order. Nothing but wait() and the destructor waits for them.
class Queue {
 public:
  virtual ~Queue() = default;

  template <class... Values>
  void launch(const Kernel& kernel, const Grid& grid, const Values&... values) {
    launch(kernel, grid, Arguments(values...));
  }
  virtual void launch(const Kernel&, const Grid&, const Arguments&) = 0;

  // Between memory of the host, which must stay until wait(), and of the device.
  template <class T>
  void upload(ImageView<const T> from, const View<T>& to) {
    copy_in(from.data, sizeof(T) * from.pitch, memory_of(to), sizeof(T) * to.pitch, row_bytes(to), to.height);
  }
  template <class T>
  void download(const View<T>& from, ImageView<std::remove_const_t<T>> to) {
    copy_out(memory_of(from), sizeof(T) * from.pitch, to.data, sizeof(T) * to.pitch, row_bytes(from), from.height);
  }
  // `offset` in bytes.
  struct Place {
    Handle memory;
    std::int64_t offset;
  };
  virtual void copy(const Place& from, const Place& to, std::size_t bytes) = 0;
  // Between images of one size in the device's memory.
  template <class T>
  void copy(const View<const T>& from, const View<T>& to) {
    copy_rows(memory_of(from), sizeof(T) * from.pitch, memory_of(to), sizeof(T) * to.pitch, row_bytes(to), to.height);
  }
  virtual void fill(const Place& to, std::size_t bytes, std::uint8_t value) = 0;

  // The event is passed when all that was enqueued before is done.
  virtual void record(Event&) = 0;
  // What is enqueued from now on starts when the event is passed: queues fork and join so.
  virtual void wait_for(Event&) = 0;
  // The same, with all that a queue of the caller's (CUstream, cl_command_queue) has been given so far; and the other way
  // round: what the caller's queue is given from now on starts when all here is done.
  virtual void wait_for_native(Handle queue) = 0;
  virtual void let_native_wait(Handle queue) = 0;
  // Calls f with this queue as its driver knows it, the device being the calling thread's current one.
  virtual void with_native(const std::function<void(Handle queue)>& f) = 0;

  // What is enqueued from here to end_recording() is not run but recorded. False: this device can't.
  virtual bool begin_recording() { return false; }
  // Null where something among it can't be run again, such as a copy from memory of the host.
  virtual std::unique_ptr<Graph> end_recording() { return nullptr; }
  virtual void replay(Graph&) {}

  // That tuned kernels were compiled for and may use: 90 is 9.0; 0 is no CUDA device.
  virtual int cuda_capability() const { return 0; }

  // Until all is done. Throws what went wrong in between.
  virtual void wait() = 0;

 protected:
  virtual void copy_rows(const Place& from, std::size_t from_pitch, const Place& to, std::size_t to_pitch,
                         std::size_t row_bytes, int rows) {
    for (int y = 0; y < rows; ++y)
      copy({from.memory, from.offset + static_cast<std::int64_t>(y * from_pitch)},
           {to.memory, to.offset + static_cast<std::int64_t>(y * to_pitch)}, row_bytes);
  }
  virtual void copy_in(const void* from, std::size_t from_pitch, const Place& to, std::size_t to_pitch,
                       std::size_t row_bytes, int rows) = 0;
  virtual void copy_out(const Place& from, std::size_t from_pitch, void* to, std::size_t to_pitch,
                        std::size_t row_bytes, int rows) = 0;

 private:
  template <class T>
  static Place memory_of(const View<T>& view) {
    return {view.memory, static_cast<std::int64_t>(sizeof(T)) * view.offset};
  }
  template <class T>
  static std::size_t row_bytes(const View<T>& view) {
    return sizeof(T) * view.width * view.channels;
  }
};

// Lives as long as the process. All of it may be used from several threads.
class Device {
 public:
  virtual ~Device() = default;

  const std::string& name() const { return name_; }  // cuda:0
  virtual DeviceDescription describe() = 0;          // measures nothing
  virtual std::string why_unusable() = 0;            // empty where kernels can run
  virtual std::size_t memory_bytes() = 0;            // all that it has
  virtual std::size_t largest_buffer() { return memory_bytes(); }
  virtual std::size_t local_bytes() = 0;             // that a work-group may ask for
  virtual int cuda_capability() const { return 0; }  // as Queue's
  // One of several that are busy at the same time has no kernels that start early: they would wait in the room that the
  // others could work in.
  virtual std::unique_ptr<Queue> make_queue(bool one_of_several = false) = 0;
  virtual std::unique_ptr<Event> make_event(bool timed) = 0;
  virtual Handle allocate(std::size_t bytes) = 0;
  virtual void release(Handle) = 0;

  // Memory of the host that copies reach without a detour and without waiting (page-locked). Use allocate_page_locked.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void*) = 0;
  // Whether a copy can take such a way to memory that is not of allocate_host(), but of the user's.
  virtual bool is_pinned(const void*) { return false; }

 protected:
  explicit Device(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

// Owns memory of a device.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::size_t bytes)
      : device_(&device), bytes_(bytes), handle_(device.allocate(bytes > 0 ? bytes : 1)) {}
  ~Buffer() {
    if (handle_ != 0) device_->release(handle_);
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  Handle handle() const { return handle_; }
  Span span() const { return {handle_, 0, bytes_}; }

 private:
  void swap(Buffer& other) {
    std::swap(device_, other.device_);
    std::swap(bytes_, other.bytes_);
    std::swap(handle_, other.handle_);
  }

  Device* device_ = nullptr;
  std::size_t bytes_ = 0;
  Handle handle_ = 0;
};

// Memory of the host that a device's copies reach directly. It is released without naming the device.
void* allocate_page_locked(Device&, std::size_t bytes);
void release_page_locked(void*);
// Whether the device's copies reach it directly.
bool is_page_locked(Device&, const void*);

// What was found of CUDA or of OpenCL.
struct Found {
  std::string reason;  // why there is no device; empty where there are some
  struct Candidate {
    std::unique_ptr<Device> device;  // none: can't be used
    DeviceDescription unusable;      // why
  };
  std::vector<Candidate> candidates;

  void add(std::unique_ptr<Device>);  // usable or not
};

// Looked for at the first call; the device layer of each is in its folder.
const Found& cuda_devices();
const Found& opencl_devices();

// The usable device of that name: cuda, cuda:N, opencl, opencl:N. Throws Error(call) where the name is none, and
// Error(unsupported), with the reason, where it can't be used.
Device& device(const std::string& name);

// All that can be used.
std::vector<Device*> usable_devices();

// Bytes read and written in a second by a short copy in the device's memory.
double measure_copy_bandwidth(Device&);

// The letters of an element's type in the names of instances: u8, u16, f32.
template <class T>
constexpr const char* instance_of() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, std::uint8_t>)
    return "u8";
  else if constexpr (std::is_same_v<U, std::uint16_t>)
    return "u16";
  else
    return "f32";
}

}  // namespace stereopsis::gpu
