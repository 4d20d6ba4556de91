// The command as a function, for the program `stereopsis` and for programs that provide methods from outside the library.
#pragma once

namespace stereopsis::command {

// Runs `stereopsis SUBCOMMAND …`: prints results on stdout, messages and progress on stderr, and one sentence if the call
// fails. Returns the exit code: 0 for success, 1 for a failure, 2 for a wrong call. A process calls it once, because it
// handles the signals that end the process.
int run(int argc, char** argv);

}  // namespace stereopsis::command
