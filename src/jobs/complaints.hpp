// Doubts about the pairs of a run: warnings or, in a strict run, errors.
#pragma once

#include <string>

#include "jobs/front_end.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::jobs {

class Complaints {
 public:
  Complaints(bool strict, FrontEnd& front_end) : strict_(strict), front_end_(front_end) {}

  bool strict() const { return strict_; }
  // Reports a problem of a pair or of its values.
  void warn_or_fail(const std::string& complaint) const {
    fail_if_strict(complaint);
    front_end_.warning(complaint);
  }
  // Reports that something could not be judged.
  void note_or_fail(const std::string& reason) const {
    fail_if_strict(reason);
    front_end_.detail(reason);
  }
  // Reports a problem that a strict run allows.
  void warn(const std::string& complaint) const { front_end_.warning(complaint); }

 private:
  void fail_if_strict(const std::string& sentence) const {
    if (strict_) throw Error(ErrorCategory::format, sentence + " (" + front_end_.spelled("strict") + ")");
  }

  const bool strict_;
  FrontEnd& front_end_;
};

}  // namespace stereopsis::jobs
