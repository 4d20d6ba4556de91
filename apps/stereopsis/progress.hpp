// A progress bar on stderr, where that is a terminal; nothing elsewhere.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "common.hpp"

namespace stereopsis::command {

class Progress {
 public:
  Progress(std::size_t total, const char* unit)
      : total_(total), unit_(unit), shown_(total > 1 && isatty(STDERR_FILENO)) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t finished) {
    if (!shown_) return;
    constexpr std::size_t width = 30;
    const std::size_t filled = width * finished / total_;
    const double seconds = watch_.ms() / 1000;
    const double rate = seconds > 0 ? static_cast<double>(finished) / seconds : 0;
    const double left = rate > 0 ? static_cast<double>(total_ - finished) / rate : 0;
    fmt::print(stderr, "\r[{:<{}}] {}/{} {}  {:.1f}/s  {:.0f} s left \x1b[K", std::string(filled, '='), width, finished,
               total_, unit_, rate, left);
    std::fflush(stderr);
  }
  // For a line of text in between, and at the end.
  void clear() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  std::size_t total_;
  const char* unit_;
  bool shown_;
  Stopwatch watch_;
};

}  // namespace stereopsis::command
