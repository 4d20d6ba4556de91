// Volumes of costs, here and on the GPUs.
#pragma once

#include "support/devices.hpp"

namespace stereopsis::test {

template <class T>
Volume<T> random_volume(Size size, int disparities, unsigned seed, int low, int high) {
  std::mt19937 generator(seed);
  Volume<T> volume(size, disparities);
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * disparities; ++i)
      volume.view().row(y)[i] =
          static_cast<T>(low + static_cast<int>(generator() % static_cast<unsigned>(high - low + 1)));
  return volume;
}

// Path costs at the edge of a stripe, each pixel's lowest 0.
inline Image<std::uint16_t> random_path_costs(Size edge, int disparities, unsigned seed, int high) {
  std::mt19937 generator(seed);
  Image<std::uint16_t> costs(edge, disparities);
  for (int y = 0; y < edge.height; ++y)
    for (int x = 0; x < edge.width; ++x) {
      for (int k = 0; k < disparities; ++k) costs(x, y, k) = static_cast<std::uint16_t>(generator() % (high + 1u));
      costs(x, y, static_cast<int>(generator() % disparities)) = 0;
    }
  return costs;
}

inline Image<std::uint32_t> random_words(Size size, unsigned seed, std::uint32_t bits = 0xFFFFFF) {
  std::mt19937 generator(seed);
  Image<std::uint32_t> image(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image(x, y) = generator() & bits;
  return image;
}

// A volume on the device, poisoned or with the cells of one.
template <class T>
class VolumeOnDevice {
 public:
  VolumeOnDevice(gpu::Device& device, gpu::Queue& queue, Size size, int disparities)
      : queue_(queue),
        size_(size),
        disparities_(disparities),
        buffer_(poisoned(device, queue, sizeof(T) * size.width * size.height * disparities)) {}
  VolumeOnDevice(gpu::Device& device, gpu::Queue& queue, VolumeView<const T> cells)
      : VolumeOnDevice(device, queue, {cells.width, cells.height}, cells.disparities) {
    queue.upload<T>({cells.data, cells.width * cells.disparities, cells.height}, rows());
    queue.wait();
  }

  gpu::Volume<T> volume() const { return {{buffer_.handle(), 0}, size_.width, size_.height, disparities_}; }
  Volume<T> download() {
    Volume<T> here(size_, disparities_);
    queue_.download<T>(rows(), {here.view().data, size_.width * disparities_, size_.height});
    queue_.wait();
    return here;
  }

 private:
  gpu::View<T> rows() const {
    return {buffer_.handle(), 0, size_.width * disparities_, size_.height, 1, size_.width * disparities_};
  }

  gpu::Queue& queue_;
  Size size_;
  int disparities_;
  gpu::Buffer buffer_;
};

// Names the first cell that differs.
template <class T>
testing::AssertionResult same_cells(VolumeView<const T> got, VolumeView<const T> expected) {
  for (int y = 0; y < expected.height; ++y)
    for (int x = 0; x < expected.width; ++x)
      for (int k = 0; k < expected.disparities; ++k)
        if (got(x, y, k) != expected(x, y, k))
          return testing::AssertionFailure() << "at x = " << x << ", y = " << y << ", k = " << k << ": got "
                                             << +got(x, y, k) << ", expected " << +expected(x, y, k);
  return testing::AssertionSuccess();
}

}  // namespace stereopsis::test
