// The spelling of settings in sentences, which depends on the front end.
#pragma once

#include <string>
#include <string_view>

namespace stereopsis::jobs {

class SettingNames {
 public:
  virtual ~SettingNames() = default;

  // Returns a setting's name as the program's users write it: `min_disparity` is --min-disparity for the command.
  virtual std::string spelled(std::string_view setting) const = 0;
};

}  // namespace stereopsis::jobs
