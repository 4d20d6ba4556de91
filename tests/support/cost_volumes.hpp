// Tests stages that make or read cost volumes on every engine and device, at awkward sizes and ranges.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "support/targets.hpp"
#include "support/volumes.hpp"

namespace stereopsis::test {

inline constexpr DisparityRange ranges[] = {{0, 1}, {0, 16}, {-3, 7}, {2, 35}, {40, 4}};

template <class F>
void for_each_volume(F&& f) {
  for (const Size size : awkward_sizes)
    for (const DisparityRange range : ranges) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << range.count << " from "
                                      << range.min);
      f(size, range);
    }
}

// Calls f for each usable GPU, in addition to the engines. If there is none, skip_without_gpu() skips the test at its
// end.
template <class F>
void for_each_usable_gpu(F&& f) {
  for (gpu::Device* device : gpu::usable_devices()) {
    SCOPED_TRACE(device->name());
    const auto queue = device->make_queue();
    f(*queue, *device);
  }
}
inline void skip_without_gpu() {
  if (gpu::usable_devices().empty())
    GTEST_SKIP() << "on the processor alone; no GPU: " << gpu::cuda_devices().reason << "; "
                 << gpu::opencl_devices().reason;
}

template <class T>
Volume<T> poisoned_volume(Size size, int disparities) {
  Volume<T> volume(size, disparities);
  std::memset(volume.view().data, 0xA5, sizeof(T) * size.width * size.height * disparities);
  return volume;
}

template <class T>
Volume<T> copy_of(VolumeView<const T> source) {
  Volume<T> volume({source.width, source.height}, source.disparities);
  for (int y = 0; y < source.height; ++y)
    std::copy_n(source.row(y), static_cast<std::size_t>(source.width) * source.disparities, volume.view().row(y));
  return volume;
}

template <class T>
testing::AssertionResult same_cells(const Volume<T>& got, const Volume<T>& expected) {
  return same_cells(got.view(), expected.view());
}

// Poisoned memory that starts at a multiple of 64.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : memory_(static_cast<int>(bytes), 1) { memory_.fill(0xA5); }
  std::span<std::byte> span() {
    return std::as_writable_bytes(std::span(memory_.row(0), static_cast<std::size_t>(memory_.width())));
  }

 private:
  Image<std::uint8_t> memory_;
};

}  // namespace stereopsis::test
