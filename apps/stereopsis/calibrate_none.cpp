// `calibrate` in a build without OpenCV: it says what is missing.
#include "commands.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {

void add_calibrate(CLI::App& application) {
  auto* app =
      application.add_subcommand("calibrate", "Two cameras from views of a board (needs OpenCV, not in this build)");
  app->allow_extras();
  app->callback([] {
    throw Error(ErrorCategory::unsupported,
                "calibrate needs OpenCV, which this build was made without; install libopencv-dev (for charuco boards "
                "libopencv-contrib-dev too) and build again");
  });
}

}  // namespace stereopsis::command
