#include "command/progress.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>

#include "command/terminal.hpp"
#include "device/system/system.hpp"

namespace stereopsis::command {
namespace {

// The running one. Interrupts read it from another thread.
std::mutex current_mutex;
Progress* current = nullptr;

constexpr double quiet_ms = 1000;  // faster work needs no bar

}  // namespace

Progress::Progress(std::size_t total, const char* unit, const char* hint)
    : total_(total), unit_(unit), hint_(hint), shown_(system::is_terminal(stderr) && verbosity() != Verbosity::quiet) {
  {
    const std::lock_guard lock(current_mutex);
    current = this;
  }
  if (shown_) ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(current_mutex);
    current = nullptr;
  }
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  end_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::update(std::size_t finished) {
  const std::lock_guard lock(mutex_);
  finished_ = finished;
  if (shown_) draw();
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, std::chrono::milliseconds(500), [this] { return over_; })) draw();
}

void Progress::draw() {
  const double seconds = watch_.ms() / 1000;
  if (1000 * seconds < quiet_ms) return;
  drawn_ = true;
  if (total_ == 1) {
    fmt::print(stderr, "\rrunning for {:.0f} s \x1b[K", seconds);
  } else {
    constexpr std::size_t width = 30;
    const double rate = static_cast<double>(finished_) / seconds;
    const std::string left =
        finished_ > 0 ? fmt::format("  {:.1f}/s  {:.0f} s left", rate, static_cast<double>(total_ - finished_) / rate)
                      : "";
    fmt::print(stderr, "\r[{:<{}}] {}/{} {}{} \x1b[K", std::string(width * finished_ / total_, '='), width, finished_,
               total_, unit_, left);
  }
  std::fflush(stderr);
}

void Progress::hide() {
  const std::lock_guard current_lock(current_mutex);
  if (current == nullptr) return;
  const std::lock_guard lock(current->mutex_);
  if (current->drawn_) fmt::print(stderr, "\r\x1b[K");
  current->drawn_ = false;
}

std::string Progress::state() {
  const std::lock_guard current_lock(current_mutex);
  if (current == nullptr) return "";
  const std::lock_guard lock(current->mutex_);
  const Progress& p = *current;
  return fmt::format("{} of {} {} done{}{}", p.finished_, p.total_, p.unit_, *p.hint_ != 0 ? "; " : "", p.hint_);
}

}  // namespace stereopsis::command
