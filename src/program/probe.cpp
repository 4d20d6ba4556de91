#include "program/probe.hpp"

#include <cstring>

#include "device/gpu/device.hpp"

namespace stereopsis::probe {
namespace {

// Calls copy(from, to, bytes), with the places in the memory of both, for each pixel's costs.
template <class F>
void for_each_pixel(const Shape& s, F&& copy) {
  const AnyView costs = s.operand(0), probed = s.operand(1);
  const int bytes = bytes_of(costs.element);
  const auto& pixels = s.as<Parameters>().pixels;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const AnyView row = costs.rows(pixels[i].y, 1);
    const bool elsewhere = row.last_row != 0 && pixels[i].y == costs.height - 1;
    const std::int64_t at = elsewhere ? 0 : row.offset;
    copy(elsewhere ? row.last_row : row.memory, (at + std::int64_t{pixels[i].x} * costs.disparities) * bytes,
         (probed.offset + static_cast<std::int64_t>(i) * probed.pitch) * bytes,
         static_cast<std::size_t>(costs.disparities) * bytes);
  }
}

template <On on>
void on_host(const Call<on>& c) {
  for_each_pixel(c, [&](std::uint64_t memory, std::int64_t from, std::int64_t to, std::size_t bytes) {
    std::memcpy(reinterpret_cast<std::byte*>(c.operand(1).memory) + to, reinterpret_cast<std::byte*>(memory) + from,
                bytes);
  });
}

}  // namespace

const Entry& entry() {
  static const Entry probe{
      .slot = Slot::part,
      .name = "probe",
      .title = "probe",
      .ports = [](const StageParameters&, const PairInfo&) { return Ports{in_volume("costs", {})}; },
      .functions = {on_host<On::oracle>, on_host<On::cpu>,
                    [](const Call<On::gpu>& c) {
                      for_each_pixel(c,
                                     [&](std::uint64_t memory, std::int64_t from, std::int64_t to, std::size_t bytes) {
                                       c.worker().copy({memory, from}, {c.operand(1).memory, to}, bytes);
                                     });
                    }},
      .work = [](const Shape& s) { return Work{.bytes = 2 * s.operand(1).bytes()}; }};
  return probe;
}

}  // namespace stereopsis::probe
