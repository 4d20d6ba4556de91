// How far a long call is: a bar on stderr, where that is a terminal, and what an interrupted call says.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "common.hpp"

namespace stereopsis::command {

// One at a time.
class Progress {
 public:
  // `unit` is what is counted: "frames". `hint` is for who interrupts it: "--resume goes on from there".
  Progress(std::size_t total, const char* unit, const char* hint = "");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t finished);

  // Takes the bar away, for a line of text, until it is drawn again.
  static void hide();
  // "3 of 10 frames done"; empty where nothing is under way.
  static std::string state();

 private:
  void draw();  // with the lock
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
  std::thread ticker_;  // draws a bar on, also while nothing is finished
};

}  // namespace stereopsis::command
