// The stages that pipelines are made of, by the slot that they fill.
#pragma once

#include <string>
#include <vector>

namespace stereopsis {

// A slot, and the stages that may fill it.
struct SlotChoices {
  std::string slot;  // "cost", …, as in `cost.stage`; or "refinements", a list of which there may be many
  std::vector<std::string> stages;  // names of the stages; "none" if the slot may be empty
};

// Returns all slots, in the order of the taxonomy.
std::vector<SlotChoices> slot_choices();

}  // namespace stereopsis
