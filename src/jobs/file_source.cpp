// The pairs of files as a source of a run.
#include <chrono>
#include <future>

#include "stereopsis/run.hpp"

namespace stereopsis {
namespace {

StereoPair views_of(const PairOfImages& images) {
  return {images.left.image, images.right.image, images.left.mask, images.right.mask};
}

}  // namespace

struct FileSource::State {
  explicit State(PairSource files_) : files(std::move(files_)) { read_ahead(); }

  void read_ahead() {
    if (next_read == files.size()) return;
    reading = std::async(std::launch::async, [this, i = next_read++] {
      const auto read = std::make_shared<const PairOfImages>(files.read(i));
      return RunPair{
          .images = views_of(*read), .owner = read, .name = files.name(i), .stamp = static_cast<std::int64_t>(i)};
    });
  }

  PairSource files;
  std::size_t next_read = 0;
  std::future<RunPair> reading;  // declared last, so that it is finished before the files are closed
};

FileSource::FileSource(PairSource files) : state_(std::make_unique<State>(std::move(files))) {}
FileSource::~FileSource() = default;

std::optional<RunPair> FileSource::take() {
  if (!state_->reading.valid()) return {};
  std::future<RunPair> reading = std::move(state_->reading);
  reading.wait();
  state_->read_ahead();
  return reading.get();
}

bool FileSource::is_ready() {
  return !state_->reading.valid() || state_->reading.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace stereopsis
