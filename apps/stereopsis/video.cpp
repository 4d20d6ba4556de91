// Opens the module that decodes and encodes videos when the first video is used: OpenCV's videoio brings some 200
// libraries, which would double the time that every other call takes to start.
#include "command/video.hpp"

#include <fmt/core.h>

#include "device/system/system.hpp"
#include "stereopsis/error.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

fs::path& module_folder() {
  static fs::path folder = system::program_file().parent_path();
  return folder;
}

// Returns the function of the module with this name and type.
template <class Function>
Function* function(const char* name) {
  static void* const module = [] {
    std::error_code ignored;
    fs::path file = (module_folder() / STEREOPSIS_VIDEO_MODULE).lexically_normal();
    if (const fs::path beside = module_folder() / file.filename(); fs::exists(beside, ignored)) file = beside;
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

// A video that gets its name when it is complete.
class WholeVideo : public VideoFile {
 public:
  WholeVideo(fs::path file, double rate) : file_(std::move(file)), rate_(rate) {}
  ~WholeVideo() override {
    writer_.reset();
    std::error_code ignored;
    if (!unfinished_.empty()) fs::remove(unfinished_, ignored);
  }

  void append(ImageView<const std::uint8_t> frame) override {
    if (!writer_) {
      unfinished_ = unfinished_file(file_);
      create_(file_, unfinished_, rate_, writer_);
    }
    writer_->append(frame);
  }

  void finish() override {
    if (!writer_) return;
    writer_->finish();
    finish_file(unfinished_, file_);
  }

 private:
  const fs::path file_;
  const double rate_;
  CreateVideoByModule* const create_ = function<CreateVideoByModule>("stereopsis_create_video");
  fs::path unfinished_;
  std::shared_ptr<VideoFile> writer_;
};

}  // namespace

void look_for_video_module_in(const fs::path& folder) { module_folder() = folder; }

std::shared_ptr<Video> open_video(const fs::path& file) {
  std::shared_ptr<Video> video;
  function<OpenVideoByModule>("stereopsis_open_video")(file, video);
  return video;
}

std::shared_ptr<VideoFile> create_video(const fs::path& file, double rate) {
  return std::make_shared<WholeVideo>(file, rate);
}

}  // namespace stereopsis::command
