// A queue that runs nothing and remembers what was launched, of a GPU that need not exist.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "device/gpu/device.hpp"

namespace stereopsis::test {

inline gpu::Properties gpu_with(int multiprocessors, int cuda_capability = 90) {
  gpu::Properties device;
  device.cuda_capability = cuda_capability;
  device.multiprocessors = multiprocessors;
  device.threads_per_multiprocessor = cuda_capability % 10 == 0 ? 2048 : 1536;
  device.local_bytes = cuda_capability == 90 ? 227 << 10 : 99 << 10;
  return device;
}
// The GPUs that launches are tested for: multiprocessors of an H100, of a GeForce RTX 3070 and of a Jetson Orin.
inline const gpu::Properties h100 = gpu_with(132), geforce = gpu_with(46, 86), orin = gpu_with(16, 87);

// An image, a volume or scratch memory of a device, at addresses of nothing.
inline gpu::Handle next_address() {
  static gpu::Handle next = 0;
  return next += gpu::Handle{1} << 36;
}
template <class T>
gpu::View<T> absent_image(Size size, int channels = 1) {
  return {next_address(), 0, size.width, size.height, channels, std::int64_t{size.width} * channels};
}
template <class T>
gpu::Volume<T> absent_volume(Size size, int disparities) {
  return {{next_address(), 0}, size.width, size.height, disparities};
}
inline gpu::Span absent_memory() { return {next_address(), 0, std::size_t{1} << 35}; }

class RecordingQueue final : public gpu::Queue {
 public:
  explicit RecordingQueue(const gpu::Properties& device) : gpu::Queue(device) {}

  // The last launch of a kernel, as "INSTANCE: X × Y blocks of N × M".
  std::string last(const std::string& kernel) const {
    const Launch* launch = find(kernel);
    if (launch == nullptr) return "not launched";
    const gpu::Grid& g = launch->grid;
    return text(launch->instance, ": ", g.groups_x, " × ", g.groups_y, " blocks of ", g.items_x, " × ", g.items_y);
  }
  // The last argument of that launch: a struct that the kernel takes whole.
  template <class T>
  T problem_of(const std::string& kernel) const {
    T problem{};
    std::memcpy(&problem, find(kernel)->last_argument.data(), sizeof problem);
    return problem;
  }
  // Whether something was launched, and the device can do all of it.
  bool is_possible() const {
    const auto fits = [&](const Launch& l) {
      const gpu::Grid& g = l.grid;
      return g.groups_x >= 1 && g.groups_y >= 1 && g.groups_y <= gpu::most_cuda_groups_y && g.items_x >= 1 &&
             g.items_y >= 1 && g.items_x * g.items_y <= 1024 && g.local_bytes >= 0 &&
             static_cast<std::size_t>(g.local_bytes) <= properties().local_bytes;
    };
    return !launches_.empty() && std::all_of(launches_.begin(), launches_.end(), fits);
  }

  using gpu::Queue::launch;
  void launch(const gpu::Kernel& kernel, const gpu::Grid& grid, const gpu::Arguments& arguments) override {
    const int last = arguments.count() - 1;
    const auto* bytes = static_cast<const std::byte*>(arguments.value(last));
    launches_.push_back({kernel.name, kernel.instance, grid, {bytes, bytes + arguments.size(last)}});
  }
  void copy(const Place&, const Place&, std::size_t) override {}
  void fill(const Place&, std::size_t, std::uint8_t) override {}
  void record(gpu::Event&) override {}
  void wait_for(gpu::Event&) override {}
  void wait_for_native(gpu::Handle) override {}
  void let_native_wait(gpu::Handle) override {}
  void with_native(const std::function<void(gpu::Handle)>&) override {}
  void wait() override {}

 protected:
  void copy_in(const void*, std::size_t, const Place&, std::size_t, std::size_t, int) override {}
  void copy_out(const Place&, std::size_t, void*, std::size_t, std::size_t, int) override {}

 private:
  struct Launch {
    std::string kernel, instance;
    gpu::Grid grid;
    std::vector<std::byte> last_argument;
  };

  const Launch* find(const std::string& kernel) const {
    const auto named = [&](const Launch& l) { return l.kernel == kernel; };
    const auto found = std::find_if(launches_.rbegin(), launches_.rend(), named);
    return found == launches_.rend() ? nullptr : &*found;
  }

  std::vector<Launch> launches_;
};

}  // namespace stereopsis::test
