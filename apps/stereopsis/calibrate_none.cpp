// `calibrate` in a build without OpenCV: reports what is missing.
#include "command/calibrate.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command::calibrating {

void calibrate(const Call&) {
  throw Error(
      ErrorCategory::unsupported,
      "calibrate requires OpenCV, and this build was made without it; calibrate in Python with stereopsis.calibrate, "
      "which uses the installed cv2, or build with OpenCV: apt-get install libopencv-dev && ./dev build (and "
      "libopencv-contrib-dev for charuco boards)");
}

}  // namespace stereopsis::command::calibrating
