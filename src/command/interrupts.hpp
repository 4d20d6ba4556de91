// Ends a call in an orderly way on SIGINT (Ctrl-C), SIGTERM and SIGHUP. Partially written files are removed, and
// complete files stay. A line reports the progress, and the exit code is 128 + the signal's number (130, 143, 129).
#pragma once

#include <filesystem>

namespace stereopsis::command {

void watch_for_interrupts();

// Never returns if the process is being ended by a signal: the failures that this causes are not reported.
void stay_if_interrupted();

// Removes this file or folder, if it still exists, when the call is interrupted.
void remove_if_interrupted(const std::filesystem::path& file);

}  // namespace stereopsis::command
