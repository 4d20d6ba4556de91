#include "interrupts.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "progress.hpp"
#include "stereopsis/io.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

// Signals that the caller ignores (as nohup does) remain ignored.
bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

[[noreturn]] void end_call(int signal) {
  abandon_writing();
  const std::string state = Progress::state();
  write_message(fmt::format("ended by {}; {}",
                            signal == SIGINT    ? "SIGINT"
                            : signal == SIGTERM ? "SIGTERM"
                                                : "SIGHUP",
                            state.empty() ? "nothing is left half written" : state));
  _exit(128 + signal);
}

}  // namespace

void turn_signals_of_writing_into_errors() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

// A separate thread receives the signals, because it may call any function; all later threads inherit the mask.
void watch_for_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    if (sigwait(&signals, &signal) == 0) end_call(signal);
  }).detach();
}

}  // namespace stereopsis::command
