#include "command/intensity_options.hpp"

namespace stereopsis::command {

void IntensityOptions::add_to(Command& command) {
  command.integer("--bit-depth", bit_depth, 9, 16, "BITS",
                  "Number of significant low-order bits in 16-bit images [from the file]");
  command.number("--black", black, -1e9, 1e9, "V",
                 "Value of black in float and 16-bit images, such as 29000 in thermal images [0]");
  command.number("--white", white, 1e-6, 1e9, "V",
                 "Value of white in float and 16-bit images, such as 1 [255; of 16-bit images, the largest value]");
}

}  // namespace stereopsis::command
