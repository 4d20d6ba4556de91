// Ends a call in an orderly way on SIGINT (Ctrl-C), SIGTERM and SIGHUP. Partially written files are removed, and
// complete files stay. A line reports the progress, and the exit code is 128 + the signal's number (130, 143, 129).
#pragma once

#include <filesystem>

namespace stereopsis::command {

// Must be called before any other thread exists.
void watch_for_interrupts();

// Removes this file or folder, if it still exists, when the call is interrupted.
void remove_if_interrupted(const std::filesystem::path& file);

}  // namespace stereopsis::command
