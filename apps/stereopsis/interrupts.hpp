// SIGINT (Ctrl-C), SIGTERM and SIGHUP end a call at once, in order: files that are being written go, what is whole stays, a
// line says how far the call was, and the exit code is 128 + the signal's number (130, 143, 129).
#pragma once

namespace stereopsis::command {

// Before any other thread is there.
void watch_for_interrupts();

}  // namespace stereopsis::command
