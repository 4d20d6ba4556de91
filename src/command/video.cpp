#include "command/video.hpp"

#include <fmt/core.h>

#include "command/opencv.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

// A video that gets its name when it is complete.
class WholeVideo : public jobs::VideoFile {
 public:
  WholeVideo(fs::path file, double rate)
      : file_(std::move(file)), rate_(rate), opencv_(opencv(fmt::format("the video {}", file_.string()))) {}
  ~WholeVideo() override {
    writer_.reset();
    std::error_code ignored;
    if (!unfinished_.empty()) fs::remove(unfinished_, ignored);
  }

  void append(ImageView<const std::uint8_t> frame) override {
    if (!writer_) {
      unfinished_ = unfinished_file(file_);
      writer_ = opencv_.create_video(file_, unfinished_, rate_);
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
  const OpenCv& opencv_;
  fs::path unfinished_;
  std::shared_ptr<jobs::VideoFile> writer_;
};

}  // namespace

std::shared_ptr<Video> open_video(const fs::path& file) {
  return opencv(fmt::format("the video {}", file.string())).open_video(file);
}

std::shared_ptr<jobs::VideoFile> create_video(const fs::path& file, double rate) {
  return std::make_shared<WholeVideo>(file, rate);
}

}  // namespace stereopsis::command
