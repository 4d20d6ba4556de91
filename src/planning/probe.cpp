#include "planning/probe.hpp"

#include <cstring>

#include "device/gpu/device.hpp"

namespace stereopsis::probe {
namespace {

// Calls copy(from, to, bytes) for the costs of each pixel. The arguments are addresses, or offsets in the memory of the
// two images.
template <class F>
void for_each_pixel(const Shape& s, F&& copy) {
  const AnyView costs = s.input("costs"), probed = s.output("probed");
  const auto& pixels = s.as<Parameters>().pixels;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::int64_t from = costs.offset + pixels[i].y * costs.pitch + std::int64_t{pixels[i].x} * costs.disparities;
    const std::int64_t to = probed.offset + static_cast<std::int64_t>(i) * probed.pitch;
    const int bytes = bytes_of(costs.element);
    copy(from * bytes, to * bytes, static_cast<std::size_t>(costs.disparities) * bytes);
  }
}

template <On on>
void on_host(const Call<on>& c) {
  for_each_pixel(c, [&](std::int64_t from, std::int64_t to, std::size_t bytes) {
    std::memcpy(reinterpret_cast<std::byte*>(c.output("probed").memory) + to,
                reinterpret_cast<const std::byte*>(c.input("costs").memory) + from, bytes);
  });
}

}  // namespace

const StageDescriptor& entry() {
  static const StageDescriptor probe{
      .slot = Slot::internal,
      .name = "probe",
      .title = "probe",
      .ports = {in_volume("costs", {}), out("probed", Element::same)},
      .functions = {on_host<On::oracle>, on_host<On::cpu>,
                    [](const Call<On::gpu>& c) {
                      for_each_pixel(c, [&](std::int64_t from, std::int64_t to, std::size_t bytes) {
                        c.worker().copy({c.input("costs").memory, from}, {c.output("probed").memory, to}, bytes);
                      });
                    }},
      .work = [](const Shape& s) { return Work{.bytes = 2 * s.output("probed").bytes()}; }};
  return probe;
}

}  // namespace stereopsis::probe
