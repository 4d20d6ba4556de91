// The stages that pipelines are made of, by the slot that they fill.
#pragma once

#include <string>
#include <vector>

namespace stereopsis {

// A slot, and what may fill it.
struct SlotChoices {
  std::string slot;  // "cost", …, as in `cost.stage`; or "refinements", a list of which there may be many
  std::vector<std::string> stages;  // what may fill it; "none" where it may be empty
};

// Of all slots, in the order of the taxonomy.
std::vector<SlotChoices> slot_choices();

}  // namespace stereopsis
