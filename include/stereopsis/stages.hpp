// The stages that each slot of a pipeline supports.
#pragma once

#include <string>
#include <vector>

namespace stereopsis {

// A slot, and the stages that may fill it.
struct SlotChoices {
  // Name of the slot, such as "cost" in `cost.stage`; or "refinements", of which a pipeline may have several.
  std::string slot;
  std::vector<std::string> stages;  // names of the stages; "none" if the slot may be empty
};

// Returns all slots, in the order of the taxonomy.
std::vector<SlotChoices> slot_choices();

}  // namespace stereopsis
