// Ends a call in an orderly way on SIGINT (Ctrl-C), SIGTERM and SIGHUP. Partially written files are removed, and
// complete files stay. A line reports the progress, and the exit code is 128 + the signal's number (130, 143, 129).
#pragma once

namespace stereopsis::command {

// Makes a write fail where SIGPIPE (no reader) or SIGXFSZ (the limit on file sizes, `ulimit -f`) would end the process
// and leave temporary files. Call this function before anything is written.
void turn_signals_of_writing_into_errors();

// Must be called before any other thread exists.
void watch_for_interrupts();

}  // namespace stereopsis::command
