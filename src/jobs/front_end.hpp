// The program that starts a run: it prints what the run reports, and spells the names of settings in sentences. A run
// never prints.
#pragma once

#include <cstddef>
#include <string>

#include "jobs/setting_names.hpp"

namespace stereopsis::jobs {

class FrontEnd : public SettingNames {
 public:
  // A doubt about the input or the results, which belongs into the report. Only the thread of the run calls it.
  virtual void warning(const std::string& sentence) = 0;
  // A failure that the run survives: a frame with keep_going, or a device that the others replace.
  virtual void failure(const std::string& sentence) = 0;
  // A note that may interest the user, and one that interests few users.
  virtual void remark(const std::string& sentence) = 0;
  virtual void detail(const std::string& sentence) = 0;
  // The matching of frames begins and ends. `advice` is for a user who interrupts the run; empty if there is none.
  virtual void begin(std::size_t frames, const std::string& advice) = 0;
  virtual void end() = 0;
  // Frames that are done, failed ones excluded.
  virtual void progress(std::size_t done) = 0;
};

}  // namespace stereopsis::jobs
