// Stages of the caller's as entries: they are in no registry, since their parameters, the caller's functions, have no
// names.
#pragma once

#include "graph/descriptor.hpp"
#include "stereopsis/user_stage.hpp"

namespace stereopsis::user_stage {

// Returns the entry for the caller's stages in `slot`; null if the slot allows none. Its parameters are a UserStage.
const StageDescriptor* entry_of(Slot);

// Refuses what a stage of that slot can't have.
void check(const UserStage&, Slot);

// The part of its input that one of the caller's needs; none of another stage.
std::optional<Rect> required_input(const StageParameters&, const Rect& output);

}  // namespace stereopsis::user_stage
