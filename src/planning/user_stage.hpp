// Entries for user-defined stages. They are not in the registry, because their parameters, the caller's functions, have
// no names.
#pragma once

#include "graph/descriptor.hpp"
#include "stereopsis/user_stage.hpp"

namespace stereopsis::user_stage {

// Returns the entry for the caller's stages in `slot`; null if the slot allows none. Its parameters are a UserStage.
const StageDescriptor* entry_of(Slot);

// Throws Error(call) if the stage has a member that its slot does not allow.
void check(const UserStage&, Slot);

// Returns the input that a user-defined stage requires; nothing for other stages.
std::optional<Rect> required_input(const StageParameters&, const Rect& output);

}  // namespace stereopsis::user_stage
