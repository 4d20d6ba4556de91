// The command as the front end of a run: option names, and text on stderr.
#pragma once

#include <string>
#include <vector>

#include "jobs/front_end.hpp"

namespace stereopsis::command {

class Progress;

class CommandFrontEnd : public jobs::FrontEnd {
 public:
  std::string spelled(std::string_view setting) const override;
  void warning(const std::string& sentence) override;
  void remark(const std::string& sentence) override;
  void detail(const std::string& sentence) override;
  void failure(const std::string& sentence) override;
  void progress(std::size_t done) override;

  // Shows progress by this bar, which must exist during the run.
  void set_bar(Progress& bar) { bar_ = &bar; }

  // Returns the warnings so far, for the report.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::string> warnings_;
  Progress* bar_ = nullptr;
};

// The spelling of options, for sentences.
const jobs::SettingNames& option_names();

}  // namespace stereopsis::command
