// The options of regions without contrast: --mask-black and --measure-constant.
#pragma once

#include "command/options.hpp"
#include "jobs/constant_settings.hpp"

namespace stereopsis::command {

struct ConstantOptions : jobs::ConstantSettings {
  void add_to(Command& command);
  void check() const;
};

}  // namespace stereopsis::command
