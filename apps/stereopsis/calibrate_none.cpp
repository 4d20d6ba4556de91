// `calibrate` in a build without OpenCV: reports what is missing.
#include "calibrate.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command::calibrating {

void calibrate(const Call&) {
  throw Error(
      ErrorCategory::unsupported,
      "calibrate needs OpenCV, which this build was made without; calibrate in Python, by a cv2 of your own: "
      "stereopsis.calibrate; or in the sources: apt-get install libopencv-dev && ./dev build (for charuco boards "
      "libopencv-contrib-dev too)");
}

}  // namespace stereopsis::command::calibrating
