// Stage descriptors for user-defined stages. The descriptors are not in the registry, because their parameters,
// functions of the caller, have no names.
#pragma once

#include "graph/descriptor.hpp"
#include "stereopsis/user_stage.hpp"

namespace stereopsis::user_stage {

// Returns the descriptor for user-defined stages in `slot`; null if the slot does not support them. The parameters of
// the descriptor are a UserStage.
const StageDescriptor* entry_of(Slot);

// Throws Error(call) if the stage has a member that its slot does not allow.
void check(const UserStage&, Slot);

// Returns the input that a user-defined stage requires, or nothing for other stages.
std::optional<Rect> required_input(const StageParameters&, const Rect& output);

}  // namespace stereopsis::user_stage
