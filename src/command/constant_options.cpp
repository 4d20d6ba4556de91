#include "command/constant_options.hpp"

namespace stereopsis::command {

void ConstantOptions::add_to(Command& command) {
  command.integer("--mask-black", black, 0, 255, "LEVEL",
                  "Largest value of black regions at the border, which are masked, in 8-bit units [0; 2 for JPEG and "
                  "videos]");
  command.flag("--measure-constant", measure,
               "Measure black regions at the border, and pixels without contrast, like all others");
}

void ConstantOptions::check() const {
  if (measure && black)
    refuse("--mask-black applies to regions that --measure-constant does not mask; leave one of the two options out");
}

}  // namespace stereopsis::command
