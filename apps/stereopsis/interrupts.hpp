// SIGINT (Ctrl-C), SIGTERM and SIGHUP end a call at once, in order: files that are being written go, what is whole stays, a
// line says how far the call was, and the exit code is 128 + the signal's number (130, 143, 129).
#pragma once

namespace stereopsis::command {

// Makes a write fail, where SIGPIPE (nobody reads) and SIGXFSZ (the limit on the size of files, `ulimit -f`) would end the
// process and leave temporary files. Call it before anything is written.
void turn_signals_of_writing_into_errors();

// Before any other thread is there.
void watch_for_interrupts();

}  // namespace stereopsis::command
