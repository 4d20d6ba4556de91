#include "command/interrupts.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "command/outside_methods.hpp"
#include "command/progress.hpp"
#include "command/terminal.hpp"
#include "device/system/system.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

std::atomic<bool> is_interrupted = false;
std::mutex unfinished_mutex;
std::vector<std::filesystem::path> unfinished;

void remove_unfinished() {
  unfinished_mutex.lock();  // never released
  std::error_code ignored;
  for (const std::filesystem::path& file : unfinished) std::filesystem::remove_all(file, ignored);
}

}  // namespace

void remove_if_interrupted(const std::filesystem::path& file) {
  const std::lock_guard lock(unfinished_mutex);
  unfinished.push_back(file);
}

void stay_if_interrupted() {
  while (is_interrupted) std::this_thread::sleep_for(std::chrono::hours(1));
}

void watch_for_interrupts() {
  system::on_interrupt([](const char* name, int exit_code) {
    is_interrupted = true;
    abandon_writing();
    remove_unfinished();
    end_outside_methods();
    const std::string state = Progress::state();
    write_message(fmt::format("ended by {}; {}", name, state.empty() ? "nothing is left half written" : state));
    std::_Exit(exit_code);
  });
}

}  // namespace stereopsis::command
