// Passes resources of the caller to the C interface: a oneTBB arena, and, on a driver made for tests, CUDA memory and a
// context.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <cstdlib>

#include "c_matching.hpp"

namespace stereopsis {
namespace {

class CResources : public test::CMatching {
 protected:
  void SetUp() override {
    driver_ = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(driver_, nullptr);
    calls = function<int(const char*)>("fake_cuda_calls");
    ASSERT_NE(calls, nullptr)
        << "libcuda.so.1 is not the one that is made for tests; run it by ctest, which finds that first";
    test::CMatching::SetUp();
  }

  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(driver_, name));
  }

  int (*calls)(const char*) = nullptr;

 private:
  void* driver_ = nullptr;
};

TEST_F(CResources, AnArenaDoesTheWork) {
  tbb::task_arena arena(1);
  sp_matcher *in_arena = nullptr, *by_itself = nullptr;
  arena.execute([&] { ASSERT_EQ(make("cpu", SP_CALLERS_ARENA, &in_arena), SP_OK) << sp_last_error(); });
  ASSERT_EQ(make("cpu", 1, &by_itself), SP_OK) << sp_last_error();
  // Memory goes by the arena's threads.
  sp_plan of_arena{.struct_size = sizeof of_arena}, of_itself{.struct_size = sizeof of_itself};
  ASSERT_EQ(sp_matcher_plan(in_arena, &of_arena), SP_OK);
  ASSERT_EQ(sp_matcher_plan(by_itself, &of_itself), SP_OK);
  EXPECT_EQ(of_arena.workspace_bytes, of_itself.workspace_bytes);
  ASSERT_EQ(match(by_itself), SP_OK) << sp_last_error();
  const Image<float> expected = map;
  ASSERT_EQ(match(in_arena), SP_OK) << sp_last_error();
  EXPECT_TRUE(test::same_bits(map.view(), expected.view()));
  sp_matcher* refused = nullptr;
  expect_refused(make("cpu", -2, &refused), SP_ERROR_CALL, "SP_CALLERS_ARENA");
  EXPECT_EQ(sp_matcher_destroy(in_arena), SP_OK);
  EXPECT_EQ(sp_matcher_destroy(by_itself), SP_OK);
}

// The caller's allocator, with the number of bytes that are allocated at present.
struct Pool {
  long given = 0, calls = 0;
  bool empty = false;
};
std::uint64_t allocate(std::size_t bytes, void* user) {
  Pool& pool = *static_cast<Pool*>(user);
  if (pool.empty) return 0;
  ++pool.given, ++pool.calls;
  return reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
}
void release(std::uint64_t memory, void* user) {
  --static_cast<Pool*>(user)->given;
  std::free(reinterpret_cast<void*>(memory));
}

TEST_F(CResources, MemoryOfADeviceComesFromTheCallers) {
  Pool pool;
  sp_allocator allocator{.struct_size = sizeof allocator, .allocate = allocate, .release = release, .user = &pool};
  ASSERT_EQ(sp_use_allocator("cuda:0", &allocator), SP_OK) << sp_last_error();
  const int of_driver = calls("cuMemAlloc");
  sp_matcher *matcher = nullptr, *refused = nullptr;
  ASSERT_EQ(make("cuda:0", 0, &matcher), SP_OK) << sp_last_error();
  EXPECT_EQ(match(matcher), SP_OK) << sp_last_error();
  EXPECT_GT(pool.given, 0);
  EXPECT_EQ(calls("cuMemAlloc"), of_driver);
  pool.empty = true;
  expect_refused(make("cuda:0", 0, &refused), SP_ERROR_MEMORY, " of memory left");
  EXPECT_EQ(refused, nullptr);

  ASSERT_EQ(sp_use_allocator("cuda:0", nullptr), SP_OK) << sp_last_error();
  const long before = pool.calls;
  sp_matcher* of_the_driver = nullptr;
  ASSERT_EQ(make("cuda:0", 0, &of_the_driver), SP_OK) << sp_last_error();
  EXPECT_GT(calls("cuMemAlloc"), of_driver);
  EXPECT_EQ(pool.calls, before);
  EXPECT_EQ(sp_matcher_destroy(of_the_driver), SP_OK);
  EXPECT_EQ(sp_matcher_destroy(matcher), SP_OK);
  EXPECT_EQ(pool.given, 0);  // all memory was released by its own allocator

  allocator.release = nullptr;
  expect_refused(sp_use_allocator("cuda:0", &allocator), SP_ERROR_CALL,
                 "allocator.allocate or allocator.release is null");
  allocator.struct_size = 8;
  expect_refused(sp_use_allocator("cuda:0", &allocator), SP_ERROR_CALL, "struct_size");
  expect_refused(sp_use_allocator("cpu", nullptr), SP_ERROR_UNSUPPORTED, "'cpu'");
}

// A device has one context, so that the test runs in a process of its own.
TEST_F(CResources, ADeviceIsWorkedOnInTheCallersContext) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto works = [&] {
    void* context = function<void*()>("fake_cuda_callers_context")();
    sp_matcher* matcher = nullptr;
    return sp_use_cuda_context("cuda:0", context) == SP_OK && make("cuda:0", 0, &matcher) == SP_OK &&
           match(matcher) == SP_OK && calls("cuCtxPushCurrent of the caller's") > 10 &&
           calls("cuDevicePrimaryCtxRetain") == 0;
  };
  EXPECT_EXIT(std::_Exit(works() ? 0 : 1), testing::ExitedWithCode(0), "");
  sp_matcher* matcher = nullptr;
  ASSERT_EQ(make("cuda:0", 0, &matcher), SP_OK) << sp_last_error();  // from here on it has its own
  int other = 0;
  expect_refused(sp_use_cuda_context("cuda:0", &other), SP_ERROR_CALL, "already in use");
  expect_refused(sp_use_cuda_context("cuda:0", nullptr), SP_ERROR_CALL, "null");
  expect_refused(sp_use_cuda_context("cpu", &other), SP_ERROR_UNSUPPORTED, "'cpu'");
  EXPECT_EQ(sp_matcher_destroy(matcher), SP_OK);
}

}  // namespace
}  // namespace stereopsis
