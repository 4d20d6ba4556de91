// The subcommands. Each function adds its subcommand to the application; the callback does the work and throws on
// failure.
#pragma once

#include "command/options.hpp"

namespace stereopsis::command {

void add_match(CLI::App& application);
void add_evaluate(CLI::App& application);
void add_methods(CLI::App& application);
void add_devices(CLI::App& application);
void add_conformance(CLI::App& application);
void add_bench(CLI::App& application);
void add_synth(CLI::App& application);
void add_check(CLI::App& application);
void add_calibrate(CLI::App& application);
void add_rectify(CLI::App& application);
void add_cloud(CLI::App& application);

// Thrown by a callback whose answer is "no": the command has printed the reason, and exits with code 1.
struct CheckFailed {};

}  // namespace stereopsis::command
