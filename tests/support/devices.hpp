// Stages on the GPUs of this machine; PoCL makes its processor one.
#pragma once

#include "device/gpu/device.hpp"
#include "support/map_test.hpp"

namespace stereopsis::test {

// Calls f(queue) for each usable device. Without one, the test is skipped with the reason.
template <class F>
void for_each_gpu(F&& f) {
  const auto devices = gpu::usable_devices();
  if (devices.empty()) GTEST_SKIP() << "no GPU: " << gpu::cuda_devices().reason << "; " << gpu::opencl_devices().reason;
  for (gpu::Device* device : devices) {
    SCOPED_TRACE(device->name());
    const auto queue = device->make_queue();
    f(*queue, *device);
  }
}

// Calls f(queue) for each device that tuned kernels run on; skips the test without one.
template <class F>
void for_each_tuned_gpu(F&& f) {
  bool any = false;
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    if (queue.cuda_capability() < 80) return;
    any = true;
    f(queue, device);
  });
  if (!any && !testing::Test::IsSkipped())
    GTEST_SKIP() << "no CUDA device of compute capability 8.0 or later: " << gpu::cuda_devices().reason;
}

// A pitched image on the device, with the poison that surrounds it.
template <class T>
class OnDevice {
 public:
  OnDevice(gpu::Device& device, gpu::Queue& queue, PitchedImage<T>& image) : queue_(queue), image_(image) {
    const ImageView<T> block = image.block();
    buffer_ = gpu::Buffer(device, sizeof(T) * block.pitch * block.height);
    block_ = {buffer_.handle(), 0, block.width, block.height, block.channels, block.pitch};
    queue.upload<T>(block, block_);
    queue.wait();
  }

  gpu::View<T> view() const {
    const ImageView<T> inside = image_.view();
    return {buffer_.handle(), inside.data - image_.block().data, inside.width, inside.height, inside.channels,
            inside.pitch};
  }
  operator gpu::View<T>() const { return view(); }
  operator gpu::View<const T>() const { return view(); }

  // Copies the device's block, with its poison, into the pitched image.
  void download() {
    queue_.download(block_, image_.block());
    queue_.wait();
  }

 private:
  gpu::Queue& queue_;
  PitchedImage<T>& image_;
  gpu::Buffer buffer_;
  gpu::View<T> block_;
};

// Memory that holds poison.
inline gpu::Buffer poisoned(gpu::Device& device, gpu::Queue& queue, std::size_t bytes) {
  gpu::Buffer buffer(device, bytes);
  queue.fill({buffer.handle(), 0}, bytes, 0xA5);
  return buffer;
}

// Runs `stage(output)` twice on poisoned output and compares it with `oracle(output)`.
template <class T, class Oracle, class Stage>
void expect_gpu_equals_oracle(gpu::Device& device, gpu::Queue& queue, Size size, Oracle&& oracle, Stage&& stage) {
  Image<T> expected(size);
  oracle(expected.view());
  for (int run = 0; run < 2; ++run) {
    PitchedImage<T> got(size);
    OnDevice<T> out(device, queue, got);
    stage(out.view());
    out.download();
    EXPECT_TRUE(same_bits(got.view(), expected.view())) << "run " << run;
    EXPECT_TRUE(got.guard_intact());
  }
}

// Does the same for a stage that works in place on a disparity image and its validity.
template <class Oracle, class Stage>
void expect_gpu_map_equals_oracle(gpu::Device& device, gpu::Queue& queue, const Map& input, Oracle&& oracle,
                                  Stage&& stage) {
  expect_map_equals_oracle(input, oracle, [&](ImageView<float> disparity_out, ImageView<std::uint8_t> validity_out) {
    PitchedImage<float> disparity{ImageView<const float>(disparity_out)};
    PitchedImage<std::uint8_t> validity{ImageView<const std::uint8_t>(validity_out)};
    OnDevice<float> disparity_there(device, queue, disparity);
    OnDevice<std::uint8_t> validity_there(device, queue, validity);
    stage(disparity_there.view(), validity_there.view());
    disparity_there.download();
    validity_there.download();
    EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact());
    for (int y = 0; y < disparity_out.height; ++y) {
      std::copy_n(disparity.view().row(y), disparity_out.width, disparity_out.row(y));
      std::copy_n(validity.view().row(y), validity_out.width, validity_out.row(y));
    }
  });
}

}  // namespace stereopsis::test
