// `calibrate` in a build without OpenCV: it says what is missing.
#include "commands.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {

void add_calibrate(CLI::App& application) {
  Command command(application, "calibrate", "Two cameras from views of a board (needs OpenCV, not in this build)");
  command.allow_extras();
  command.callback([] {
    throw Error(ErrorCategory::unsupported,
                "calibrate needs OpenCV, which this build was made without; install libopencv-dev (for charuco boards "
                "libopencv-contrib-dev too) and build again");
  });
}

}  // namespace stereopsis::command
