#include "command/opencv.hpp"

#include <fmt/core.h>

#include <mutex>
#include <optional>

#include "command/python_package.hpp"
#include "device/system/system.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

std::optional<OpenCv>& provided() {
  static std::optional<OpenCv> opencv;
  return opencv;
}

// Opens the module. Returns the reason if that fails, else an empty text.
std::string open_module(OpenCv& opencv) {
  const fs::path file = (system::program_file().parent_path() / STEREOPSIS_OPENCV_MODULE).lexically_normal();
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return fmt::format(
        "this installation lacks the module {}; install the package stereopsis-opencv beside the package stereopsis, "
        "or "
        "run apt-get install libopencv-dev and build again",
        file.string());
  void* const module = system::open_library(file.string().c_str());
  if (module == nullptr)
    return fmt::format("{} cannot be loaded ({}); run apt-get install libopencv-dev, or build again", file.string(),
                       system::why_not_opened());
  const auto version =
      reinterpret_cast<OpenCvModuleVersion*>(system::find_function(module, "stereopsis_opencv_version"));
  const auto table = reinterpret_cast<OpenCvModuleTable*>(system::find_function(module, "stereopsis_opencv_table"));
  if (version == nullptr || table == nullptr || std::string(version()) != STEREOPSIS_VERSION)
    return fmt::format("the module {} is of another version than this program, {}; install both again", file.string(),
                       STEREOPSIS_VERSION);
  table(opencv);
  return {};
}

}  // namespace

void provide_opencv(OpenCv opencv) { provided() = std::move(opencv); }

const OpenCv& opencv(const std::string& purpose) {
  if (provided()) return *provided();
  static std::once_flag once;
  static OpenCv opened;
  static std::string missing;
  std::call_once(once, [] { missing = open_module(opened); });
  if (missing.empty()) return opened;
  hand_on_if_started_by_python();
  throw Error(ErrorCategory::unsupported, fmt::format("{} requires OpenCV: {}", purpose, missing));
}

}  // namespace stereopsis::command
