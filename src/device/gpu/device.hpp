// The interface of a GPU, common to CUDA and OpenCL: memory, copies, and kernels by name.
//
// Kernels are the .cl files of the stages, written in the subset of both languages that vocabulary.h defines. A kernel
// is identified by its file (the stage), its name in the file, and its instance: the list of constants that it is
// compiled with.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/gpu/properties.hpp"
#include "device/gpu/view.hpp"
#include "stereopsis/device.hpp"

namespace stereopsis::gpu {

struct Kernel {
  const char* file;
  const char* name;
  const char* instance;
  // True if the kernel may start while the previous kernel in the queue still runs, because the kernel itself waits for
  // its inputs (device/cuda/early.cuh). Only tuned kernels are early. Devices without early start run them after the
  // previous kernel.
  bool early = false;
  // Share, in percent, of local memory in the memory that a multiprocessor's L1 cache and local memory have in common;
  // −1 is the driver's choice. Kernels with different values do not run concurrently on a multiprocessor.
  int local_percent = -1;
  // Largest Grid::local_bytes of all launches of the kernel; 0 if 48 KiB, which every kernel may use, are enough.
  int most_local_bytes = 0;
};

// The work-groups of a launch and their work-items, in x and y.
struct Grid {
  int groups_x = 1, groups_y = 1;
  int items_x = 1, items_y = 1;
  // Local memory per group, in bytes, in addition to the kernel's declarations; for tuned kernels only.
  int local_bytes = 0;
};

// The largest number of groups in y on CUDA. Portable kernels continue in z beyond this number; tuned kernels cannot.
constexpr int most_cuda_groups_y = 65535;

// Returns a grid with one work-item per pixel.
inline Grid over(Size size) {
  constexpr int items_x = 32, items_y = 8;
  return {(size.width + items_x - 1) / items_x, (size.height + items_y - 1) / items_y, items_x, items_y};
}
// Returns a grid with one work-item for each of `count` elements.
inline Grid over(int count) {
  constexpr int items = 128;
  return {count / items + (count % items != 0), 1, items, 1};
}

// Describes an image to a kernel: Layout in vocabulary.h.
struct Layout {
  std::int64_t offset, pitch;
  std::int32_t width, height;
};

// The arguments of a launch in the form that both drivers require: the address and the size of each argument.
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
  // Adds a struct that is one argument of a tuned kernel; its type declares `is_argument`.
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
                  "a kernel has more arguments than a launch supports; this is an error in the library, so report it");
    std::memcpy(storage_.data() + offset, &value, sizeof(T));
    entries_[count_++] = {offset, sizeof(T)};
    used_ = offset + sizeof(T);
  }

  alignas(8) std::array<std::byte, 1024> storage_;
  std::array<Entry, 40> entries_;
  std::size_t used_ = 0;
  int count_ = 0;
};

// A point among the commands of a queue. An event may be recorded many times, and stands for the last recording.
class Event {
 public:
  virtual ~Event() = default;
  // Waits until the device has passed the event. Throws any error that occurred before the event.
  virtual void wait() = 0;
  virtual bool is_passed() = 0;
  // Returns the time, in milliseconds, between two timed events that the device has passed; 0 if the driver does not
  // measure times.
  virtual double ms_since(Event& earlier) = 0;
};

// Recorded commands, which can be replayed with the same arguments at the cost of one launch.
class Graph {
 public:
  virtual ~Graph() = default;
};

// Commands of a device, executed in order. Only wait() and the destructor wait for the commands.
class Queue {
 public:
  virtual ~Queue() = default;

  const Properties& properties() const { return properties_; }
  int cuda_capability() const { return properties_.cuda_capability; }

  template <class... Values>
  void launch(const Kernel& kernel, const Grid& grid, const Values&... values) {
    launch(kernel, grid, Arguments(values...));
  }
  virtual void launch(const Kernel&, const Grid&, const Arguments&) = 0;

  // Copy between host memory, which must stay valid until wait(), and device memory.
  template <class T>
  void upload(ImageView<const T> from, const View<T>& to) {
    copy_in(from.data, sizeof(T) * from.pitch, memory_of(to), sizeof(T) * to.pitch, row_bytes(to), to.height);
  }
  template <class T>
  void download(const View<T>& from, ImageView<std::remove_const_t<T>> to) {
    copy_out(memory_of(from), sizeof(T) * from.pitch, to.data, sizeof(T) * to.pitch, row_bytes(from), from.height);
  }
  // A position in memory; `offset` is in bytes.
  struct Place {
    Handle memory;
    std::int64_t offset;
  };
  virtual void copy(const Place& from, const Place& to, std::size_t bytes) = 0;
  // Copies between images of equal size in device memory.
  template <class T>
  void copy(const View<const T>& from, const View<T>& to) {
    copy_rows(memory_of(from), sizeof(T) * from.pitch, memory_of(to), sizeof(T) * to.pitch, row_bytes(to), to.height);
  }
  virtual void fill(const Place& to, std::size_t bytes, std::uint8_t value) = 0;

  // Records the event, which the device passes when all commands enqueued before are done.
  virtual void record(Event&) = 0;
  // Makes commands enqueued from now on wait for the event, so that queues can fork and join.
  virtual void wait_for(Event&) = 0;
  // Order this queue relative to a queue of the caller (CUstream, cl_command_queue). After wait_for_native(), later
  // commands of this queue wait for all commands enqueued so far on the caller's queue. After let_native_wait(), later
  // commands on the caller's queue wait for all commands of this queue.
  virtual void wait_for_native(Handle queue) = 0;
  virtual void let_native_wait(Handle queue) = 0;
  // Calls f with the driver's handle of this queue, while the device is current in the calling thread.
  virtual void with_native(const std::function<void(Handle queue)>& f) = 0;

  // Records the commands enqueued until end_recording() instead of running them. Returns false if the device cannot
  // record.
  virtual bool begin_recording() { return false; }
  // Ends the recording. Returns null if a recorded command cannot be replayed, such as a copy from host memory.
  virtual std::unique_ptr<Graph> end_recording() { return nullptr; }
  virtual void replay(Graph&) {}

  // Waits until all commands are done. Throws any error that has occurred since the last call.
  virtual void wait() = 0;

 protected:
  // The properties belong to the device, which outlives its queues.
  explicit Queue(const Properties& properties) : properties_(properties) {}

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

  const Properties& properties_;
};

// A GPU. A GPU. The object lives as long as the process, and all its functions may be called from several threads.
class Device {
 public:
  virtual ~Device() = default;

  const std::string& name() const { return name_; }  // name of the device, such as cuda:0
  virtual DeviceDescription describe() = 0;          // returns the description without measurements
  virtual std::string why_unusable() = 0;            // returns the reason why kernels cannot run, or an empty string
  virtual std::size_t memory_bytes() = 0;            // total memory
  virtual std::size_t largest_buffer() { return memory_bytes(); }
  const Properties& properties() const { return properties_; }
  // Creates a queue. `one_of_several` means that the queue is one of several queues that are busy at the same time.
  // Kernels of such a queue do not start early, because waiting blocks would occupy resources that the other queues
  // could use.
  virtual std::unique_ptr<Queue> make_queue(bool one_of_several = false) = 0;
  virtual std::unique_ptr<Event> make_event(bool timed) = 0;
  virtual Handle allocate(std::size_t bytes) = 0;
  virtual void release(Handle) = 0;

  // Allocates page-locked host memory, which the device copies directly and without waiting. Callers use
  // allocate_page_locked instead.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void*) = 0;
  // Returns whether the device can copy memory directly that did not come from allocate_host(), such as memory of the
  // user.
  virtual bool is_pinned(const void*) { return false; }

 protected:
  Device(std::string name, const Properties& properties) : name_(std::move(name)), properties_(properties) {}

 private:
  const std::string name_;
  const Properties properties_;
};

// Owns device memory.
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

// Allocates host memory from and to which the device copies directly. The device is not needed to release the memory.
void* allocate_page_locked(Device&, std::size_t bytes);
void release_page_locked(void*);
// Returns whether the device copies `memory` directly.
bool is_page_locked(Device&, const void*);

// The devices found for CUDA or for OpenCL.
struct Found {
  std::string reason;  // reason why there is no device; empty if there is at least one
  struct Candidate {
    std::unique_ptr<Device> device;  // the device, or null if it cannot be used
    DeviceDescription unusable;      // description with the reason, if the device cannot be used
  };
  std::vector<Candidate> candidates;

  void add(std::unique_ptr<Device>);  // adds a device, usable or not
};

// Return the devices found at the first call; each function is implemented in its own folder.
const Found& cuda_devices();
const Found& opencl_devices();

// Returns the usable device of that name: cuda, cuda:N, opencl, opencl:N. Throws Error(call) if the name is not a
// device name, and Error(unsupported) with the reason if the device cannot be used.
Device& device(const std::string& name);

// Returns all devices that can be used.
std::vector<Device*> usable_devices();

// Returns the bytes read and written per second by a short copy in device memory.
double measure_copy_bandwidth(Device&);

// Returns the code of an element type in the names of instances: u8, u16, f32.
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
