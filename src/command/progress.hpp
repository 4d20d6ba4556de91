// The progress of a long call: a bar on stderr if that is a terminal, and the message of an interrupted call.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "command/common.hpp"

namespace stereopsis::command {

// At most one object exists at a time.
class Progress {
 public:
  // `unit` is what is counted: "frames". `hint` is for a user who interrupts the call: "--resume goes on from there".
  Progress(std::size_t total, const char* unit, const char* hint = "");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t finished);

  // Hides the bar for a line of text, until it is drawn again.
  static void hide();
  // Returns "3 of 10 frames done", or an empty string if nothing is running.
  static std::string state();

 private:
  void draw();  // requires the lock
  void tick();

  const std::size_t total_;
  const char* const unit_;
  const char* const hint_;
  const bool shown_;
  std::size_t finished_ = 0;
  bool drawn_ = false, over_ = false;
  Stopwatch watch_;
  std::mutex mutex_;
  std::condition_variable end_;
  std::thread ticker_;  // redraws the bar, even while nothing finishes
};

}  // namespace stereopsis::command
