#include "device/cpu/roofs.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "device/cpu/has_simd.hpp"
#include "device/cpu/threads.hpp"
#include "stereopsis/roofs.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/roofs.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int chains = 8, steps = 20000;

// Runs f repeatedly on eight independent vectors. Returns the number of lanes of a vector; `depends` receives a value
// that depends on all results.
template <class D, class F>
std::size_t run_chains(D d, std::uint64_t& depends, F&& f) {
  using T = hn::TFromD<D>;
  auto a = hn::Iota(d, T{1}), b = hn::Iota(d, T{2}), c = hn::Iota(d, T{3}), e = hn::Iota(d, T{4});
  auto g = hn::Iota(d, T{5}), h = hn::Iota(d, T{6}), i = hn::Iota(d, T{7}), j = hn::Iota(d, T{8});
  for (int step = 0; step < steps; ++step) {
    a = f(a), b = f(b), c = f(c), e = f(e);
    g = f(g), h = f(h), i = f(i), j = f(j);
  }
  const auto all = hn::Xor(hn::Xor(hn::Xor(a, b), hn::Xor(c, e)), hn::Xor(hn::Xor(g, h), hn::Xor(i, j)));
  depends += hn::GetLane(all);
  return hn::Lanes(d);
}

// Returns the number of instructions × lanes that one thread executes.
double path_operations(std::uint64_t& depends) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto by = hn::Set(d, static_cast<std::uint8_t>(3 + depends % 2)), limit = hn::Set(d, std::uint8_t{200});
  return 2.0 * chains * steps * run_chains(d, depends, [&](auto v) { return hn::Min(hn::SaturatedAdd(v, by), limit); });
}
double popcounts(std::uint64_t& depends) {
  const hn::ScalableTag<std::uint32_t> d;
  return 1.0 * chains * steps * run_chains(d, depends, [&](auto v) { return hn::PopulationCount(v); });
}
double operations(std::uint64_t& depends) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto by = hn::Set(d, static_cast<std::uint32_t>(3 + depends % 2)), limit = hn::Set(d, 200u);
  return 2.0 * chains * steps * run_chains(d, depends, [&](auto v) { return hn::Min(hn::Add(v, by), limit); });
}

}  // namespace stereopsis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis {

HWY_EXPORT(path_operations);
HWY_EXPORT(popcounts);
HWY_EXPORT(operations);

namespace {

// Returns the best rate of several runs of f on every thread; f returns the amount of work that it did.
template <class F>
double rate(Threads& threads, F&& f) {
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    std::vector<double> done(static_cast<std::size_t>(threads.count()));
    const auto start = std::chrono::steady_clock::now();
    threads.each([&](int i) { done[i] = f(i); });
    const std::chrono::duration<double> s = std::chrono::steady_clock::now() - start;
    double all = 0;
    for (const double amount : done) all += amount;
    best = std::max(best, all / s.count());
  }
  return best;
}

double copy_rate(Threads& threads) {
  constexpr std::size_t bytes = std::size_t{32} << 20;  // bytes per thread, more than its share of the caches
  const auto all = bytes * threads.count();
  std::vector<std::byte> from(all, std::byte{1}), to(all, std::byte{2});
  return rate(threads, [&](int i) {
    std::memcpy(to.data() + i * bytes, from.data() + i * bytes, bytes);
    return 2.0 * bytes;
  });
}

}  // namespace

Roofs measure_cpu_roofs(int count) {
  if (!has_simd()) return {};
  Threads threads(count);
  std::vector<std::uint64_t> depends(static_cast<std::size_t>(threads.count()) * 8);  // one cache line per thread
  const auto of = [&](auto function) { return rate(threads, [&](int i) { return function(depends[8 * i]); }); };
  return {copy_rate(threads), of(HWY_DYNAMIC_DISPATCH(path_operations)), of(HWY_DYNAMIC_DISPATCH(popcounts)),
          of(HWY_DYNAMIC_DISPATCH(operations))};
}

}  // namespace stereopsis
#endif
