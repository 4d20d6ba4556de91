// The choice of processors for a thread; Workers uses it for the thread of each device.
#pragma once

#include <string>

namespace stereopsis {

// Moves the calling thread to the processors to which the GPU is attached, so that the thread allocates pinned memory
// near the GPU. Does nothing for the CPU, and if the system does not report these processors.
void move_near(const std::string& device);

}  // namespace stereopsis
