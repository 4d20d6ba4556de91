// The command as the front end of a run: option names, and text on stderr.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobs/front_end.hpp"

namespace stereopsis::command {

class Progress;

class CommandFrontEnd : public jobs::FrontEnd {
 public:
  CommandFrontEnd();
  ~CommandFrontEnd() override;

  std::string spelled(std::string_view setting) const override;
  void warning(const std::string& sentence) override;
  void remark(const std::string& sentence) override;
  void detail(const std::string& sentence) override;
  void failure(const std::string& sentence) override;
  void progress(std::size_t done) override;
  void begin(std::size_t frames, const std::string& advice) override;
  void end() override;

  // Returns the warnings so far, for the report.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::string> warnings_;
  std::string advice_;             // declared before the bar, which refers to it
  std::unique_ptr<Progress> bar_;  // while frames are matched
};

// The spelling of options, for sentences.
const jobs::SettingNames& option_names();

}  // namespace stereopsis::command
