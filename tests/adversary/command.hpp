// The same call, by files and the command.
#pragma once

#include <string>

#include "adversary/call.hpp"

namespace stereopsis::adversary {

// Whether files can hold its images, and options say all of it.
bool can_go_through_command(const Call&);

inline const std::string refused = "refused";

// The first difference of what the command writes of the first pair; empty: none. `refused` where it refuses the call in a
// sentence and writes nothing.
std::string through_command(const std::string& command, const Call&, const std::string& device,
                            const Matched& expected);

}  // namespace stereopsis::adversary
