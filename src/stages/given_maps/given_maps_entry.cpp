// Copies maps of the caller, which the refinements then change in place.
#include <cstring>

#include "device/gpu/device.hpp"
#include "graph/registry.hpp"

namespace stereopsis::given_maps {
namespace {

template <On on>
void on_host(const Call<on>& c) {
  for (const char* name : {"disparity", "validity", "confidence"}) {
    const AnyView from = c.input(name), to = c.output(name);
    if (to.empty()) continue;
    const int bytes = bytes_of(to.element);
    for (std::int64_t y = 0; y < to.height; ++y)
      std::memcpy(reinterpret_cast<std::byte*>(to.memory) + (to.offset + y * to.pitch) * bytes,
                  reinterpret_cast<const std::byte*>(from.memory) + (from.offset + y * from.pitch) * bytes,
                  static_cast<std::size_t>(to.width) * bytes);
  }
}

void on_gpu(const Call<On::gpu>& c) {
  for (const char* name : {"disparity", "confidence"})
    if (!c.output(name).empty()) c.worker().copy(c.image<const float>(name), c.image<float>(name));
  c.worker().copy(c.image<const std::uint8_t>("validity"), c.image<std::uint8_t>("validity"));
}

const StageDescriptor entry{
    .slot = Slot::internal,
    .name = "given_maps",
    .title = "given maps",
    .ports = {in("disparity"), out("disparity", Element::f32), in("validity"), out("validity", Element::u8),
              if_there("confidence"), wanted("confidence", Element::f32)},
    .functions = {on_host<On::oracle>, on_host<On::cpu>, on_gpu},
    .facets = {MapCopies{}}};

}  // namespace

void register_stage(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::given_maps
