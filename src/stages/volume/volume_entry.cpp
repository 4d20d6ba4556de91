// It runs nothing: the composer puts the caller's volume in the place of costs.
#include "stages/entry.hpp"
#include "stages/volume/volume.hpp"

namespace stereopsis::volume {
namespace {

const Entry entry{.slot = Slot::cost,
                  .name = "volume",
                  .title = "cost volume",
                  .parameters = Parameters{},
                  .ports = [](const StageParameters&, const PairInfo&) { return Ports{}; },
                  .units = [](const StageParameters& p) { return CostUnits{.largest = p.as<Parameters>().largest}; }};

}  // namespace

void join(Registry& registry) { registry.add(entry); }

}  // namespace stereopsis::volume
