// Opens the module that decodes and encodes videos when the first video is used: OpenCV's videoio brings some 200
// libraries, which would double the time that every other call takes to start.
#include "video.hpp"

#include <fmt/core.h>

#include "device/system/system.hpp"
#include "interrupts.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

// Returns the function of the module with this name and type.
template <class Function>
Function* function(const char* name) {
  static void* const module = [] {
    std::error_code ignored;
    const fs::path program = system::program_file();
    fs::path file = (program.parent_path() / STEREOPSIS_VIDEO_MODULE).lexically_normal();
    if (const fs::path beside = program.parent_path() / file.filename(); fs::exists(beside, ignored)) file = beside;
    void* const opened = system::open_library(file.string().c_str());
    if (opened == nullptr)
      throw Error(
          ErrorCategory::unsupported,
          fmt::format("videos require {}, which cannot be loaded; install it with OpenCV's videoio, or write the "
                      "frames as PNG files",
                      file.string()));
    return opened;
  }();
  return reinterpret_cast<Function*>(system::find_function(module, name));
}

}  // namespace

std::shared_ptr<Video> open_video(const fs::path& file) {
  std::shared_ptr<Video> video;
  function<OpenVideoByModule>("stereopsis_open_video")(file, video);
  return video;
}

std::shared_ptr<VideoFile> create_video(const fs::path& file, double rate) {
  remove_if_interrupted(unfinished_video(file));
  std::shared_ptr<VideoFile> video;
  function<CreateVideoByModule>("stereopsis_create_video")(file, rate, video);
  return video;
}

}  // namespace stereopsis::command
