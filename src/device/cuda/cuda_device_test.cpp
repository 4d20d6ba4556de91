// Tests of failures on a CUDA device, and of calls that must not occur in the steady state, with a fake driver.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "device/cuda/machine_code.hpp"
#include "device/gpu/device.hpp"
#include "stereopsis/async.hpp"
#include "stereopsis/matcher_group.hpp"
#include "stereopsis/resources.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::cuda_device_test {
namespace {

constexpr int out_of_memory = 2, no_binary = 209, illegal_address = 700, lost = 719;

class CudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver != nullptr) fail_ = reinterpret_cast<void (*)(const char*, int)>(dlsym(driver, "fake_cuda_fail"));
    if (fail_ == nullptr) GTEST_SKIP() << "the driver for tests is not the one that is found";
    calls = reinterpret_cast<int (*)(const char*)>(dlsym(driver, "fake_cuda_calls"));
    set_free_memory = reinterpret_cast<void (*)(std::size_t)>(dlsym(driver, "fake_cuda_free_memory"));
    fail("nothing", 0);
  }

  void fail(const char* call, int status) { fail_(call, status); }
  int (*calls)(const char*) = nullptr;
  void (*set_free_memory)(std::size_t) = nullptr;

  Plan plan(int batch = 1) const {
    Problem problem = Problem::of(pair(), {0, 16});
    problem.batch = batch;
    return Plan(Pipeline("banz-sgm"), problem, {"cuda:0", 0});
  }
  StereoPair pair() const { return {left, right, {}, {}}; }

  // Expects an error with one sentence about the device. The process must continue.
  template <class F>
  void expect_error(ErrorCategory category, const std::string& said, F&& f) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.category(), category) << error.what();
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("'cuda:0'"), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
    fail("nothing", 0);
    EXPECT_FALSE(match(pair(), {0, 16}, Pipeline("banz-sgm"), {"cpu", 0}).disparity.empty());
    EXPECT_NO_THROW(Matcher(plan()).match(pair()));
  }

  Image<std::uint8_t> left = test::random_image<std::uint8_t>({40, 30}, 1, 0, 255);
  Image<std::uint8_t> right = test::random_image<std::uint8_t>({40, 30}, 2, 0, 255);

 private:
  void (*fail_)(const char*, int) = nullptr;
};

TEST(CudaMachineCode, ComesAsNvccMadeIt) {
  const std::vector<unsigned char> fatbin_magic = {0x50, 0xed, 0x55, 0xba};
  ASSERT_GT(cuda::machine_code().size(), 50U);
  for (const cuda::MachineCode& code : cuda::machine_code()) {
    const auto image = cuda::fat_binary(code.file);
    ASSERT_GT(image.size(), code.packed.size()) << code.file;
    EXPECT_TRUE(std::equal(fatbin_magic.begin(), fatbin_magic.end(), image.begin())) << code.file;
  }
  EXPECT_THROW(cuda::fat_binary("no_such_kernels"), Error);
}

TEST(CudaArchitectures, MachineCodeServesItsMajorVersionAndPtxWhatIsLater) {
  const cuda::Architectures made{{80, 86, 90}, {80, 90}};
  EXPECT_EQ(made.run_by(75), 0);
  EXPECT_EQ(made.run_by(80), 80);
  EXPECT_EQ(made.run_by(87), 86);
  EXPECT_EQ(made.run_by(90), 90);
  EXPECT_EQ(made.run_by(120), 90);
  const cuda::Architectures around{{80, 120}, {80, 120}};
  EXPECT_EQ(around.run_by(110), 80);  // the code for 120 requires capability 12.0
  EXPECT_EQ(around.run_by(121), 120);
  EXPECT_EQ((cuda::Architectures{{90}, {}}).run_by(100), 0);
}

TEST_F(CudaDevice, ThatIsTooOldIsListedWithTheReason) {
  bool found = false;
  for (const DeviceDescription& device : devices()) {
    if (device.name != "cuda:1") continue;
    found = true;
    EXPECT_FALSE(device.usable);
    EXPECT_NE(device.reason.find("compute capability 3.5; use a GPU with 7.5 or later"), std::string::npos)
        << device.reason;
  }
  EXPECT_TRUE(found);
  EXPECT_THROW(resolve_device("cuda:1"), Error);
  EXPECT_EQ(resolve_device("auto"), "cuda:0");
}

// The library looks for devices once per process, so that this test needs its own process.
TEST_F(CudaDevice, ThatIsTheFirstUsableOneIsAuto) {
  setenv("FAKE_CUDA_OLD", "0", 1);
  EXPECT_EXIT(std::exit(resolve_device("auto") == "cuda:1" ? 0 : 1), testing::ExitedWithCode(0), "");
  unsetenv("FAKE_CUDA_OLD");
}

// The fake device has as much shared memory as one of capability 12.0; the kernels were compiled for 9.0.
TEST_F(CudaDevice, WithLittleSharedMemoryIsNotGivenKernelsThatTakeMore) {
  const auto tuned_steps = [] {
    Pipeline pipeline("prehn-window");
    pipeline.set("cost.window_width", "31");
    pipeline.set("cost.window_height", "31");
    const Plan plan(pipeline, {.size = {640, 480}, .channels = 3, .range = {0, 64}, .region = {}}, {"cuda:0", 0});
    const auto steps = plan.steps();
    return std::count_if(steps.begin(), steps.end(),
                         [](const PlanStep& step) { return step.stage == "window_sad_wta_cuda"; });
  };
  EXPECT_EQ(tuned_steps(), 1);
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  setenv("FAKE_CUDA_LOCAL_KIB", "99", 1);
  EXPECT_EXIT(std::exit(tuned_steps() == 0 ? 0 : 1), testing::ExitedWithCode(0), "");
  unsetenv("FAKE_CUDA_LOCAL_KIB");
}

TEST_F(CudaDevice, WithoutMemoryIsOneError) {
  const Plan planned = plan();
  fail("cuMemAlloc", out_of_memory);
  expect_error(ErrorCategory::memory, " of memory left", [&] { Matcher matcher(planned); });
  fail("cuMemHostAlloc", out_of_memory);
  expect_error(ErrorCategory::memory, "page-locked", [&] { Matcher(planned).match(pair()); });
}

// The fake device has 1 GiB of memory.
TEST_F(CudaDevice, WithLittleMemoryDoesLargeImagesInStripes) {
  const auto planned = [](Size size) {
    return Plan(Pipeline("sgm"), {.size = size, .range = {0, 256}, .region = {}}, {"cuda:0", 0});
  };
  EXPECT_EQ(planned({640, 480}).stripe_rows(), 0);
  const Plan large = planned({2880, 1980});
  EXPECT_GT(large.stripe_rows(), 0);
  EXPECT_LE(large.workspace_bytes(), std::size_t{1} << 30);
  const auto tuned = [](const PlanStep& step) { return step.stage == "sgm_wta_cuda"; };
  EXPECT_TRUE(std::ranges::any_of(large.steps(), tuned)) << "stripes go to the tuned kernels";
  expect_error(ErrorCategory::memory, "'cuda:0' has 921.5 MiB available", [&] { planned({20000, 20000}); });
}

TEST_F(CudaDevice, LeavesTheMemoryThatOtherProgramsUse) {
  const auto planned = [] {
    return Plan(Pipeline("sgm"), {.size = {640, 480}, .range = {0, 256}, .region = {}}, {"cuda:0", 0});
  };
  const std::size_t whole = planned().workspace_bytes();
  set_free_memory(whole / 2);
  const Plan beside_others = planned();
  set_free_memory(std::size_t{1} << 30);
  EXPECT_GT(beside_others.stripe_rows(), 0);
  EXPECT_LE(beside_others.workspace_bytes(), whole / 2);
  EXPECT_EQ(planned().workspace_bytes(), whole);
}

TEST_F(CudaDevice, TakesItsMemoryFromTheCallers) {
  std::map<std::uint64_t, std::size_t> given;
  const auto pool = [&](std::uint64_t shift) {
    return DeviceAllocator{[&given, shift](std::size_t bytes) -> std::uint64_t {
                             const auto memory =
                                 reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
                             given[memory + shift] = bytes;
                             return memory + shift;
                           },
                           [&given, shift](std::uint64_t memory) {
                             EXPECT_EQ(given.erase(memory), 1u);
                             std::free(reinterpret_cast<void*>(memory - shift));
                           }};
  };
  use_allocator("cuda:0", pool(0));
  const int of_driver = calls("cuMemAlloc");
  {
    Matcher matcher(plan());
    std::size_t bytes = 0;
    for (const auto& [memory, size] : given) bytes += size;
    EXPECT_GE(bytes + plan().staging_bytes(), plan().workspace_bytes());
    matcher.match(pair());
    EXPECT_EQ(calls("cuMemAlloc"), of_driver);
    use_allocator("cuda:0", {});  // memory that is already allocated is released with its own allocator
    Matcher of_the_driver(plan());
    EXPECT_GT(calls("cuMemAlloc"), of_driver);
  }
  EXPECT_TRUE(given.empty());
  const auto make_by = [&](DeviceAllocator allocator) {
    use_allocator("cuda:0", std::move(allocator));
    try {
      Matcher matcher(plan());
    } catch (...) {
      use_allocator("cuda:0", {});
      throw;
    }
  };
  expect_error(ErrorCategory::memory, " of memory left", [&] {
    make_by({[](std::size_t) { return std::uint64_t{0}; }, [](std::uint64_t) {}});
  });
  expect_error(ErrorCategory::call, "multiple of 256", [&] { make_by(pool(8)); });
  EXPECT_TRUE(given.empty());
  EXPECT_THROW(use_allocator("cuda:0", {[](std::size_t) { return std::uint64_t{0}; }, {}}), Error);
  EXPECT_THROW(use_allocator("cpu", pool(0)), Error);
}

// A device has only one context, so that this test needs its own process.
TEST_F(CudaDevice, WorksInTheCallersContext) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto works = [&] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    use_cuda_context("cuda:0", reinterpret_cast<void* (*)()>(dlsym(driver, "fake_cuda_callers_context"))());
    Matcher(plan()).match(pair());
    return calls("cuCtxPushCurrent of the caller's") > 10 && calls("cuDevicePrimaryCtxRetain") == 0;
  };
  EXPECT_EXIT(std::exit(works() ? 0 : 1), testing::ExitedWithCode(0), "");
  Matcher matcher(plan());  // from this line on, the device has its own context
  int other = 0;
  expect_error(ErrorCategory::call, "already in use", [&] { use_cuda_context("cuda:0", &other); });
  EXPECT_THROW(use_cuda_context("cuda:0", nullptr), Error);
  EXPECT_THROW(use_cuda_context("cpu", &other), Error);
}

TEST_F(CudaDevice, ThatIsLostIsOneError) {
  for (const char* call :
       {"cuLaunchKernel", "cuGraphLaunch", "cuEventSynchronize", "cuMemcpy2DAsync", "cuEventRecord"}) {
    SCOPED_TRACE(call);
    Matcher matcher(plan());
    matcher.match(pair());
    fail(call, call == std::string("cuLaunchKernel") ? lost : illegal_address);
    expect_error(ErrorCategory::device, "CUDA_ERROR_OF_A_TEST", [&] { matcher.match(pair()); });
  }
}

// In a group, the other devices match the pairs of the lost device.
TEST_F(CudaDevice, ThatIsLostLeavesItsPairsToOthers) {
  Problem problem = Problem::of(pair(), {0, 16});
  problem.batch = 2;
  const std::vector<Device> devices{{.name = "cuda:0"}, {.name = "cpu"}};
  MatcherGroup group(Pipeline("banz-sgm"), problem, devices);
  fail("cuLaunchKernel", lost);
  const Matched expected = match(pair(), {0, 16}, Pipeline("banz-sgm"), {.name = "cpu"});
  std::array<Matched, 9> results;
  const StereoPair given = pair();
  std::vector<Ticket> tickets;
  for (Matched& result : results) tickets.push_back(group.enqueue(given, result));
  for (std::size_t i = 0; i < results.size(); ++i) {
    group.wait(tickets[i]);
    EXPECT_TRUE(test::same_bits(results[i].disparity.view(), expected.disparity)) << i;
  }
  const std::vector<LostDevice> gone = group.lost();
  ASSERT_LE(gone.size(), 1u);
  for (const LostDevice& device : gone) EXPECT_EQ(device.name, "cuda:0");
  fail("nothing", 0);
}

// A group's results are page-locked by its first device. The library looks for devices once per process, so that this
// test needs its own process.
TEST_F(CudaDevice, CopiesMemoryThatAnotherDevicePageLockedWithoutStaging) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  setenv("FAKE_CUDA_OLD", "-1", 1);
  const auto staging_buffers = [&] {
    const Matcher first(plan());
    Matcher second(Plan(Pipeline("banz-sgm"), Problem::of(pair(), {0, 16}), {"cuda:1", 0}));
    Matched result = first.make_result();
    const int before = calls("cuMemHostAlloc");
    second.match(pair(), result);
    return calls("cuMemHostAlloc") - before;
  };
  EXPECT_EXIT(std::exit(staging_buffers()), testing::ExitedWithCode(2), "") << "for the two images of the pair only";
  unsetenv("FAKE_CUDA_OLD");
}

TEST_F(CudaDevice, ThatIsLostLastIsTheErrorOfItsPairs) {
  MatcherGroup group(Pipeline("banz-sgm"), Problem::of(pair(), {0, 16}), std::vector<Device>{{.name = "cuda:0"}});
  fail("cuLaunchKernel", lost);
  expect_error(ErrorCategory::device, "CUDA_ERROR_OF_A_TEST", [&] {
    Matched result;
    const StereoPair given = pair();
    group.wait(group.enqueue(given, result));
  });
  ASSERT_EQ(group.lost().size(), 1u);
  Matched result;
  EXPECT_THROW(group.enqueue(pair(), result), Error);
}

// The pairs in flight fail in the order of submission, and later pairs also fail.
TEST_F(CudaDevice, ThatIsLostIsTheErrorOfAllPairsOfAnAsyncMatcher) {
  AsyncMatcher matcher(plan(2));
  fail("cuLaunchKernel", lost);
  std::vector<int> order;
  const Image<std::uint8_t> small({10, 10}, 1, 0);
  for (int i = 0; i < 5; ++i)
    matcher.submit(i == 1 ? StereoPair{small, small, {}, {}} : pair(),
                   [&, i](const Matched&, std::exception_ptr error) {
                     order.push_back(i);
                     EXPECT_TRUE(error) << i;
                   });
  matcher.wait();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
  fail("nothing", 0);
  expect_error(ErrorCategory::device, "CUDA_ERROR_OF_A_TEST", [&] { matcher.submit(pair()).get(); });
}

TEST_F(CudaDevice, AKernelThatDoesNotLoadIsOneError) {
  // Loaded modules stay loaded, so this plan uses stages that no other test in this file uses.
  const Plan other(Pipeline("sgm"), Problem::of(pair(), {0, 16}), {"cuda:0", 0});
  fail("cuModuleLoadData", no_binary);
  expect_error(ErrorCategory::unsupported, "this build has no kernels for the device",
               [&] { Matcher(other).match(pair()); });
  EXPECT_NO_THROW(Matcher(other).match(pair()));
}

TEST_F(CudaDevice, InTheSteadyStateMakesNothingAndDoesNotWait) {
  Matcher matcher(plan(3));
  std::vector<Matched> results(3);
  std::vector<Ticket> tickets(3);
  const auto run = [&](int frames) {
    for (int i = 0; i < frames; ++i) {
      matcher.wait(tickets[i % 3]);
      tickets[i % 3] = matcher.enqueue(pair(), results[i % 3]);
    }
  };
  const char* makers[] = {"cuMemAlloc",         "cuMemHostAlloc",     "cuStreamCreate",   "cuEventCreate",
                          "cuStreamEndCapture", "cuGraphInstantiate", "cuModuleLoadData", "cuModuleGetFunction"};
  run(9);
  std::vector<int> before;
  for (const char* maker : makers) before.push_back(calls(maker));
  const int launched = calls("cuLaunchKernel"), replayed = calls("cuGraphLaunch");
  run(30);
  for (std::size_t i = 0; i < std::size(makers); ++i) EXPECT_EQ(calls(makers[i]), before[i]) << makers[i];
  EXPECT_EQ(calls("cuLaunchKernel"), launched);
  EXPECT_EQ(calls("cuGraphLaunch"), replayed + 30);

  for (const Ticket ticket : tickets) matcher.wait(ticket);
  const int waits = calls("cuEventSynchronize") + calls("cuStreamSynchronize");
  for (int i = 0; i < 3; ++i) tickets[i] = matcher.enqueue(pair(), results[i]);
  EXPECT_EQ(calls("cuEventSynchronize") + calls("cuStreamSynchronize"), waits);
}

TEST_F(CudaDevice, ReportsItsPropertiesAndDefaultsForTheRest) {
  const gpu::Properties& p = gpu::device("cuda:0").properties();
  EXPECT_EQ(p.cuda_capability, 90);
  EXPECT_EQ(p.multiprocessors, 132);
  EXPECT_EQ(p.threads_per_multiprocessor, 2048);
  EXPECT_EQ(p.warp_size, 32);
  EXPECT_EQ(p.local_bytes, std::size_t{227} << 10);
  EXPECT_EQ(p.local_bytes_per_multiprocessor, std::size_t{228} << 10);
  EXPECT_EQ(p.cache_bytes, gpu::Properties{}.cache_bytes);
  EXPECT_TRUE(p.has_dpx() && p.has_bulk_copies() && p.has_early_start());
}

// Attributes must not change later, because other threads may be launching the function.
TEST_F(CudaDevice, SetsAttributesOfAFunctionWhenItIsLoaded) {
  const auto match = [&](const char* window) {
    Pipeline pipeline("prehn-window");
    pipeline.set("cost.window_width", window);
    pipeline.set("cost.window_height", window);
    Matcher(Plan(pipeline, Problem::of(pair(), {0, 16}), {"cuda:0", 0})).match(pair());
  };
  const int before = calls("cuFuncSetAttribute");
  match("25");
  const int loaded = calls("cuFuncSetAttribute");
  EXPECT_GT(loaded, before);
  match("31");  // this window requires more shared memory
  EXPECT_EQ(calls("cuFuncSetAttribute"), loaded);
}

TEST_F(CudaDevice, LetsKernelsStartEarlyThatAskForIt) {
  Matcher matcher(plan());
  const int early = calls("early"), all = calls("cuLaunchKernel");
  matcher.match(pair());
  EXPECT_GT(calls("early"), early);
  EXPECT_GT(calls("cuLaunchKernel") - all, calls("early") - early);  // only some kernels start early
}

// The kernels were compiled for 9.0, for which the waits of early kernels were verified.
TEST_F(CudaDevice, StartsNoKernelEarlyOnALaterGenerationThanThatOfTheCode) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  setenv("FAKE_CUDA_CAPABILITY", "100", 1);
  const auto starts_none = [&] {
    Matcher matcher(plan());
    matcher.match(pair());
    return calls("early") == 0 && calls("cuLaunchKernel") > 0;
  };
  EXPECT_EXIT(std::exit(starts_none() ? 0 : 1), testing::ExitedWithCode(0), "");
  unsetenv("FAKE_CUDA_CAPABILITY");
}

TEST_F(CudaDevice, WithoutTunedKernelsSaysSo) {
  const auto kernels = [] {
    for (const DeviceDescription& device : devices())
      if (device.name == "cuda:0")
        for (const auto& [property, value] : device.properties)
          if (property == "kernels") return value;
    return std::string();
  };
  EXPECT_EQ(kernels(), "");
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  setenv("FAKE_CUDA_CAPABILITY", "75", 1);
  EXPECT_EXIT(
      std::exit(kernels().starts_with("portable; the faster tuned kernels need compute capability 8.0") ? 0 : 1),
      testing::ExitedWithCode(0), "");
  unsetenv("FAKE_CUDA_CAPABILITY");
}

TEST_F(CudaDevice, StartsNoKernelEarlyWhereFramesAreInFlightTogether) {
  Matcher matcher(plan(2));
  const int early = calls("early"), all = calls("cuLaunchKernel");
  matcher.match(pair());
  EXPECT_EQ(calls("early"), early);
  EXPECT_GT(calls("cuLaunchKernel"), all);
}

TEST_F(CudaDevice, WaitsForTheCallersStreamAndLetsItWait) {
  Matcher matcher(plan());
  const DeviceImage l("cuda:0", AnyImageView(left)), r("cuda:0", AnyImageView(right));
  const DeviceImage disparity("cuda:0", left.size(), PixelType::f32), validity("cuda:0", left.size());
  const int before = calls("cuStreamWaitEvent");
  matcher.wait(matcher.enqueue({l, r, {}, {}}, {disparity, validity, {}, {}}, std::uint64_t{0}));
  EXPECT_EQ(calls("cuStreamWaitEvent"), before + 2);
}

TEST_F(CudaDevice, MemoryOfTheHostIsRejected) {
  Matcher matcher(plan());
  const DeviceImage l("cuda:0", AnyImageView(left)), r("cuda:0", AnyImageView(right));
  const DeviceImage disparity("cuda:0", left.size(), PixelType::f32), validity("cuda:0", left.size());
  const auto error_of = [&](const DevicePair& in, const DeviceMatched& out) -> std::string {
    try {
      matcher.wait(matcher.enqueue(in, out));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const DevicePair in{l, r, {}, {}};
  const DeviceMatched out{disparity, validity, {}, {}};
  EXPECT_EQ(error_of(in, out), "");
  DevicePair of_host = in;
  of_host.left.memory = reinterpret_cast<std::uint64_t>(left.row(0));
  EXPECT_NE(error_of(of_host, out).find("the left image is not memory of cuda:0"), std::string::npos);
  DeviceMatched to_host = out;
  Image<float> map(left.size());
  to_host.disparity.memory = reinterpret_cast<std::uint64_t>(map.row(0));
  EXPECT_NE(error_of(in, to_host).find("the output 'disparity' is not memory of cuda:0"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::cuda_device_test
