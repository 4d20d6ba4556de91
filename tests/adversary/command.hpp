// Makes the same call through files and the command.
#pragma once

#include <string>

#include "adversary/call.hpp"

namespace stereopsis::adversary {

// Returns whether files can hold the call's images and options can express its settings.
bool can_go_through_command(const Call&);

inline const std::string refused = "refused";

// Returns the first difference between the command's files for the first pair and the expected result; empty: none.
// `refused` is set if the command rejects the call with a sentence and writes nothing.
std::string through_command(const std::string& command, const Call&, const std::string& device,
                            const Matched& expected);

}  // namespace stereopsis::adversary
