#include "device/gpu/device.hpp"
#include "device/gpu/tuning.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "support/devices.hpp"
#include "support/recording_queue.hpp"
#ifdef STEREOPSIS_OPENCL
#include "device/gpu/sources.hpp"
#endif

namespace stereopsis::device_test {
namespace {

using namespace test;

template <class F>
ErrorCategory category_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.category();
  }
  ADD_FAILURE() << "no error";
  return ErrorCategory::file;
}

TEST(Devices, AreListedWithAReasonWhereTheyCannotBeUsed) {
  std::vector<std::string> kinds;
  for (const DeviceDescription& device : devices()) {
    kinds.push_back(device.name.substr(0, device.name.find(':')));
    EXPECT_EQ(device.usable, device.reason.empty()) << device.name;
    EXPECT_EQ(device.usable, !device.properties.empty()) << device.name;
  }
  for (const char* kind : {"cpu", "cuda", "opencl"})
    EXPECT_NE(std::find(kinds.begin(), kinds.end(), kind), kinds.end()) << kind;
}

TEST(Devices, AreFoundByName) {
  EXPECT_EQ(resolve_device("cpu"), "cpu");
  for (const DeviceDescription& device : devices()) {
    if (device.usable)
      EXPECT_EQ(resolve_device(device.name), device.name);
    else
      EXPECT_EQ(category_of([&] { resolve_device(device.name); }), ErrorCategory::unsupported);
  }
  EXPECT_EQ(category_of([] { resolve_device("gpu"); }), ErrorCategory::call);
  EXPECT_EQ(category_of([] { resolve_device("opencl:x"); }), ErrorCategory::call);
  EXPECT_EQ(category_of([] { resolve_device("opencl:4000000"); }), ErrorCategory::unsupported);
}

TEST(Devices, MeasureTheirBandwidth) {
  for_each_gpu([](gpu::Queue&, gpu::Device& device) { EXPECT_GT(gpu::measure_copy_bandwidth(device), 1e8); });
}

TEST(Queue, CopiesRectanglesOfEveryShape) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int channels : {1, 3}) {
        PitchedImage<std::uint16_t> from(random_image<std::uint16_t>(size, 1, 0, 65535, channels).view()),
            to(size, channels);
        const OnDevice<std::uint16_t> there(device, queue, from);
        queue.download(there.view(), to.view());
        queue.wait();
        EXPECT_TRUE(same_bits(to.view(), from.view()));
        EXPECT_TRUE(to.guard_intact());
      }
  });
}

TEST(Buffer, TooLargeIsAnErrorAndTheDeviceGoesOn) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    EXPECT_EQ(category_of([&] { gpu::Buffer(device, std::size_t{1} << 50); }), ErrorCategory::memory);
    PitchedImage<float> image(Size{5, 5});
    const OnDevice<float> there(device, queue, image);
    queue.wait();
  });
}

TEST(Kernel, WhatIsNotThereIsAnError) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device&) {
    EXPECT_EQ(category_of([&] { queue.launch({"no_stage", "kernel", "any"}, gpu::over(1)); }), ErrorCategory::device);
    EXPECT_EQ(category_of([&] { queue.launch({"rank", "no_kernel", "u8"}, gpu::over(1)); }), ErrorCategory::device);
    queue.wait();
  });
}

#ifdef STEREOPSIS_OPENCL

TEST(Sources, EveryInstanceOfEveryKernelIsWhole) {
  int instances = 0;
  for (const gpu::SourceFile& file : gpu::source_files()) {
    if (!file.path.ends_with(".cl")) continue;
    const std::size_t slash = file.path.rfind('/') + 1;
    const std::string name(file.path.substr(slash, file.path.size() - slash - 3));
    for (const std::string& line : split(file.text, '\n')) {
      if (!line.starts_with("// instance ")) continue;
      const gpu::Program program = gpu::program(name, line.substr(12, line.find(':') - 12));
      EXPECT_EQ(program.source.find("#include \""), std::string::npos);
      EXPECT_NE(program.source.find("STEREOPSIS_VOCABULARY_H"), std::string::npos);
      ++instances;
    }
  }
  EXPECT_GT(instances, 20);
}

#endif

struct Row {
  int capability, size;
};
constexpr Row sizes[] = {{80, 1}, {90, 2}, {100, 3}};

TEST(Tuning, PicksTheLastRowThatIsNotForLaterDevices) {
  for (const auto& [capability, size] : {Row{80, 1}, {86, 1}, {89, 1}, {90, 2}, {100, 3}, {120, 3}}) {
    EXPECT_EQ(gpu::pick(sizes, capability).size, size) << capability;
    EXPECT_TRUE(gpu::runs(sizes, capability)) << capability;
    EXPECT_EQ(gpu::pick(sizes, gpu_with(1, capability)).size, size) << capability;
  }
  EXPECT_FALSE(gpu::runs(sizes, 75));
  EXPECT_FALSE(gpu::runs(sizes, gpu::Properties{}));
  EXPECT_EQ(gpu::pick(sizes, 75).size, 1);
}

TEST(Devices, HaveProperties) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    const gpu::Properties& p = device.properties();
    EXPECT_EQ(&queue.properties(), &p);
    EXPECT_GE(p.multiprocessors, 1);
    EXPECT_GE(p.warp_size, 1);
    EXPECT_GE(p.threads_per_multiprocessor, p.warp_size);
    EXPECT_GE(p.local_bytes, std::size_t{16} << 10);
  });
}

}  // namespace
}  // namespace stereopsis::device_test
