// Passes the caller's CUDA memory and context to the C interface, on a real GPU. The driver is opened at run time, as
// in the library.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "c_matching.hpp"
#include "device/system/system.hpp"

namespace stereopsis {
namespace {

// The caller's memory, and how much of it is given at the moment.
struct Pool {
  int (*allocate)(std::uint64_t*, std::size_t);
  int (*release)(std::uint64_t);
  long given = 0;
};
std::uint64_t allocate(std::size_t bytes, void* user) {
  Pool& pool = *static_cast<Pool*>(user);
  std::uint64_t memory = 0;
  if (pool.allocate(&memory, bytes) != 0) return 0;
  ++pool.given;
  return memory;
}
void release(std::uint64_t memory, void* user) {
  Pool& pool = *static_cast<Pool*>(user);
  if (pool.release(memory) == 0) --pool.given;
}

class CGpu : public test::CMatching {
 protected:
  void SetUp() override {
    test::CMatching::SetUp();
    if (!is_usable("cuda:0")) GTEST_SKIP() << "no CUDA device";
    driver_ = system::open_library(system::cuda_driver);
    ASSERT_EQ(function<int(unsigned)>("cuInit")(0), 0);
    expected = matched("cpu");
  }
  void TearDown() override {
    if (driver_ != nullptr) {
      EXPECT_EQ(sp_use_allocator("cuda:0", nullptr), SP_OK) << sp_last_error();
    }
    test::CMatching::TearDown();
  }

  static bool is_usable(const std::string& name) {
    std::size_t count = 0;
    EXPECT_EQ(sp_device_count(&count), SP_OK);
    for (std::size_t i = 0; i < count; ++i) {
      sp_device device{.struct_size = sizeof device};
      EXPECT_EQ(sp_device_get(i, &device), SP_OK);
      if (name == device.name) return device.usable != 0;
    }
    return false;
  }

  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(system::find_function(driver_, name));
  }
  Image<float> matched(const char* device) {
    sp_matcher* matcher = nullptr;
    EXPECT_EQ(make(device, 0, &matcher), SP_OK) << sp_last_error();
    EXPECT_EQ(match(matcher), SP_OK) << sp_last_error();
    EXPECT_EQ(sp_matcher_destroy(matcher), SP_OK);
    return map;
  }
  // A new context, which is current.
  void* context() const {
    void* made = nullptr;
    int device = 0;
    function<int(int*, int)>("cuDeviceGet")(&device, 0);
    function<int(void**, unsigned, int)>("cuCtxCreate_v2")(&made, 0, device);
    return made;
  }

  Image<float> expected;

 private:
  void* driver_ = nullptr;
};

TEST_F(CGpu, MemoryComesFromTheCallersPool) {
  Pool pool{function<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2"), function<int(std::uint64_t)>("cuMemFree_v2")};
  const sp_allocator allocator{
      .struct_size = sizeof allocator, .allocate = allocate, .release = release, .user = &pool};
  ASSERT_EQ(sp_use_allocator("cuda:0", &allocator), SP_OK) << sp_last_error();
  sp_matcher* matcher = nullptr;
  ASSERT_EQ(make("cuda:0", 0, &matcher), SP_OK) << sp_last_error();
  EXPECT_GT(pool.given, 0);
  EXPECT_EQ(match(matcher), SP_OK) << sp_last_error();
  EXPECT_TRUE(test::same_bits(map.view(), expected.view()));
  EXPECT_EQ(sp_matcher_destroy(matcher), SP_OK);
  EXPECT_EQ(pool.given, 0);
}

// A device has one context: in a process of its own.
TEST_F(CGpu, WorkIsDoneInTheCallersContext) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto works = [&] {
    void *own = context(), *current = nullptr;
    if (own == nullptr || sp_use_cuda_context("cuda:0", own) != SP_OK) return false;
    const Image<float> found = matched("cuda:0");
    function<int(void**)>("cuCtxGetCurrent")(&current);
    return test::same_bits(found.view(), expected.view()) && current == own;
  };
  EXPECT_EXIT(std::_Exit(works() ? 0 : 1), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stereopsis
