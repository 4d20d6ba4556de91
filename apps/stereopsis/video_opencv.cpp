// Decodes and encodes videos with OpenCV's videoio, in the module for OpenCV.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/videoio.hpp>
#include <opencv2/videoio/registry.hpp>

#include "device/system/system.hpp"
#include "opencv_parts.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

// The decoders write to standard error; the error that is thrown says enough.
void silence() {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  system::set_environment("OPENCV_FFMPEG_LOGLEVEL", "-8");
}

class OpenCvVideo : public Video {
 public:
  explicit OpenCvVideo(std::filesystem::path file) : file_(std::move(file)) {
    silence();
    open();
    if (!capture_.isOpened())
      throw Error(ErrorCategory::format,
                  fmt::format("{} cannot be decoded as a video; convert it to H.264 in MP4, or write the frames as PNG "
                              "files",
                              file_.string()));
    rate_ = capture_.get(cv::CAP_PROP_FPS);
    if (!(rate_ > 0)) rate_ = 30;
    size_ = count();
  }

  std::size_t size() const override { return size_; }
  double rate() const override { return rate_; }

  AnyImage read(std::size_t frame) override {
    const std::lock_guard lock(mutex_);
    cv::Mat pixels;
    if (!move_to(frame) || !capture_.read(pixels) || pixels.type() != CV_8UC3)
      throw Error(
          ErrorCategory::format,
          fmt::format("frame {} of {} cannot be decoded; the video is damaged or cut off", frame, file_.string()));
    ++next_;
    Image<std::uint8_t> image(pixels.cols, pixels.rows, 3);
    for (int y = 0; y < pixels.rows; ++y)
      for (int x = 0; x < pixels.cols; ++x)
        for (int c = 0; c < 3; ++c) image(x, y, c) = pixels.ptr(y)[3 * x + 2 - c];  // OpenCV's order is BGR
    return image;
  }

 private:
  // Containers announce estimates, and some announce nothing: counts the frames if the last one is not where it should
  // be.
  std::size_t count() {
    const double announced = capture_.get(cv::CAP_PROP_FRAME_COUNT);
    if (announced >= 1 && move_to(static_cast<std::size_t>(announced) - 1) && capture_.grab()) {
      ++next_;
      if (!capture_.grab()) return next_;
    }
    reopen();
    while (capture_.grab()) ++next_;
    if (next_ == 0)
      throw Error(ErrorCategory::format, fmt::format("{} has no frame that can be decoded; the video is damaged or cut "
                                                     "off",
                                                     file_.string()));
    return next_;
  }

  // Skips a few frames by decoding them, which is faster than to seek.
  bool move_to(std::size_t frame) {
    constexpr std::size_t few = 32;
    if (frame < next_) reopen();
    if (frame > next_ + few) {
      if (!capture_.set(cv::CAP_PROP_POS_FRAMES, static_cast<double>(frame))) return false;
      next_ = frame;
    }
    for (; next_ < frame; ++next_)
      if (!capture_.grab()) return false;
    return true;
  }

  void reopen() {
    open();
    next_ = 0;
  }

  // Other decoders than FFmpeg are tried only where OpenCV lacks it: they take a name for a pattern of images.
  void open() {
    const auto decoders = cv::videoio_registry::getStreamBackends();
    const bool has_ffmpeg = std::find(decoders.begin(), decoders.end(), cv::CAP_FFMPEG) != decoders.end();
    capture_.open(file_.string(), has_ffmpeg ? cv::CAP_FFMPEG : cv::CAP_ANY);
  }

  const std::filesystem::path file_;
  cv::VideoCapture capture_;
  double rate_ = 0;
  std::size_t size_ = 0, next_ = 0;  // the frame that is decoded next
  std::mutex mutex_;
};

class OpenCvVideoFile : public jobs::VideoFile {
 public:
  OpenCvVideoFile(std::filesystem::path file, std::filesystem::path unfinished, double rate)
      : file_(std::move(file)), unfinished_(std::move(unfinished)), rate_(rate) {
    silence();
  }

  void append(ImageView<const std::uint8_t> frame) override {
    // Codecs subsample the colours, so an odd last row or column is repeated.
    const cv::Size size(frame.width + frame.width % 2, frame.height + frame.height % 2);
    if (!writer_.isOpened()) open(size);
    cv::Mat pixels(size, CV_8UC3);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < 3; ++c)
          pixels.ptr(y)[3 * x + 2 - c] = frame(std::min(x, frame.width - 1), std::min(y, frame.height - 1), c);
    writer_.write(pixels);
  }

  void finish() override { writer_.release(); }

 private:
  // H.264 where OpenCV's FFmpeg has an encoder for it, else MPEG-4, which every build has.
  void open(cv::Size size) {
    for (const int code : {cv::VideoWriter::fourcc('a', 'v', 'c', '1'), cv::VideoWriter::fourcc('m', 'p', '4', 'v'),
                           cv::VideoWriter::fourcc('M', 'J', 'P', 'G')})
      if (writer_.open(unfinished_.string(), code, rate_, size)) return;
    throw Error(ErrorCategory::unsupported,
                fmt::format("OpenCV has no encoder for {}; use .mp4 or .avi, or write a pattern such as color%03d.png",
                            file_.string()));
  }

  const std::filesystem::path file_, unfinished_;  // the name, and the name until the file is complete
  const double rate_;
  cv::VideoWriter writer_;
};

}  // namespace

std::shared_ptr<Video> open_opencv_video(const std::filesystem::path& file) {
  return std::make_shared<OpenCvVideo>(file);
}

std::shared_ptr<jobs::VideoFile> create_opencv_video(const std::filesystem::path& file,
                                                     const std::filesystem::path& unfinished, double rate) {
  return std::make_shared<OpenCvVideoFile>(file, unfinished, rate);
}

}  // namespace stereopsis::command
