// Where a thread runs: Workers uses it for the thread of each device.
#pragma once

#include <string>

namespace stereopsis {

// Moves the calling thread to the processors that the GPU is attached to, so that the pinned memory it allocates lies
// there. Does nothing for the CPU, and where the system does not say which processors these are.
void move_near(const std::string& device);

}  // namespace stereopsis
