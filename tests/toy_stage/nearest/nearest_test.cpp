#include "nearest.hpp"

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::nearest_test {
namespace {

using namespace test;

TEST(Nearest, CpuEqualsOracle) {
  for (const Size size : awkward_sizes) {
    const Map map = random_map(size, 3, -4, 12, 25);
    for_each_engine([&](Threads& threads) {
      expect_map_equals_oracle(
          map, [&](auto d, auto v) { nearest::oracle({3}, d, v); },
          [&](auto d, auto v) { nearest::cpu({3}, d, v, threads); });
    });
  }
}

TEST(Nearest, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      expect_gpu_map_equals_oracle(
          device, queue, random_map(size, 3, -4, 12, 25), [&](auto d, auto v) { nearest::oracle({3}, d, v); },
          [&](auto d, auto v) { nearest::gpu({3}, d, v, queue); });
  });
}

}  // namespace
}  // namespace stereopsis::nearest_test
