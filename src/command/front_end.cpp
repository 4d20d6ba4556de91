#include "command/front_end.hpp"

#include <algorithm>

#include "command/progress.hpp"
#include "command/terminal.hpp"

namespace stereopsis::command {

CommandFrontEnd::CommandFrontEnd() = default;
CommandFrontEnd::~CommandFrontEnd() = default;

std::string CommandFrontEnd::spelled(std::string_view setting) const {
  if (setting == "disparity") return "-o";
  if (setting == "left_images") return "LEFT";
  if (setting == "right_images") return "RIGHT";
  std::string option = "--" + std::string(setting);
  std::ranges::replace(option, '_', '-');
  return option;
}

void CommandFrontEnd::warning(const std::string& sentence) {
  warnings_.push_back(sentence);
  command::warn("warning: {}", sentence);
}

void CommandFrontEnd::remark(const std::string& sentence) { command::remark("{}", sentence); }
void CommandFrontEnd::detail(const std::string& sentence) { command::detail("{}", sentence); }

void CommandFrontEnd::failure(const std::string& sentence) { command::warn("{}", sentence); }

void CommandFrontEnd::begin(std::size_t frames, const std::string& advice) {
  advice_ = advice;
  bar_ = std::make_unique<Progress>(frames, "frames", advice_.c_str());
}

void CommandFrontEnd::end() { bar_.reset(); }

void CommandFrontEnd::progress(std::size_t done) {
  if (bar_) bar_->update(done);
}

const jobs::SettingNames& option_names() {
  static const CommandFrontEnd names;
  return names;
}

}  // namespace stereopsis::command
