#include "stereopsis/roofs.hpp"

#include <algorithm>
#include <array>

#include "device/cpu/roofs.hpp"
#include "device/gpu/device.hpp"

namespace stereopsis {
namespace {

// Equal to the constants in roofs.cl.
constexpr double chains = 8, steps = 256;

// Returns the instructions per second of a kernel of roofs.cl, which executes `instructions` per step, chain and item.
double rate_of(gpu::Device& device, const char* kernel, double instructions) {
  constexpr int items = 256, most_groups = 16384;
  const gpu::Buffer out(device, sizeof(std::uint32_t) * most_groups * items);
  const auto queue = device.make_queue();
  const auto start = device.make_event(true), end = device.make_event(true);
  const auto seconds = [&](int groups) {
    queue->record(*start);
    queue->launch({"roofs", kernel, "any"}, {groups, 1, items, 1}, out.span().as<std::uint32_t>(), 3);
    queue->record(*end);
    end->wait();
    return 1e-3 * end->ms_since(*start);
  };
  // The number of groups doubles until a run keeps the device busy for 1 ms. The first run is not timed, because it
  // loads the kernel.
  int groups = 64;
  seconds(groups);
  while (groups < most_groups && seconds(groups) < 1e-3) groups *= 4;
  double best = 0;
  for (int run = 0; run < 3; ++run)
    if (const double s = seconds(groups); s > 0)
      best = std::max(best, instructions * chains * steps * groups * items / s);
  return best;
}

}  // namespace

Roofs measure_roofs(const Device& device) {
  const std::string name = resolve_device(device.name);
  if (name == "cpu") return measure_cpu_roofs(device.threads);
  gpu::Device& there = gpu::device(name);
  return {gpu::measure_copy_bandwidth(there), rate_of(there, "path_operations", 2), rate_of(there, "popcounts", 1),
          rate_of(there, "operations", 4)};
}

const char* to_string(Bound bound) {
  constexpr std::array names = {"memory", "arithmetic", "latency"};
  return names[static_cast<std::size_t>(bound)];
}

Roof roof_of(const StageTime& stage, const Roofs& roofs) {
  const auto ms = [](double amount, double rate) { return rate > 0 ? 1e3 * amount / rate : 0; };
  const double memory = ms(stage.bytes, roofs.bytes);
  const double arithmetic = ms(stage.path_operations, roofs.path_operations) + ms(stage.popcounts, roofs.popcounts) +
                            ms(stage.operations, roofs.operations);
  return {std::max(memory, arithmetic), memory >= arithmetic ? Bound::memory : Bound::arithmetic};
}

Roof roof_of(std::span<const StageTime> stages, const Roofs& roofs) {
  Roof all;
  double largest = 0;
  for (const StageTime& stage : stages) {
    const Roof roof = roof_of(stage, roofs);
    all.ms += roof.ms;
    if (roof.ms <= largest) continue;
    largest = roof.ms;
    all.bound = roof.bound;
  }
  return all;
}

Bound bound_of(const StageTime& stage, const Roofs& roofs) {
  constexpr double slack = 2.5;
  const Roof roof = roof_of(stage, roofs);
  return stage.ms > slack * roof.ms ? Bound::latency : roof.bound;
}

}  // namespace stereopsis
