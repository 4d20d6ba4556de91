#include "stereopsis/self_test.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <list>
#include <variant>

#include "methods/stage_checks.hpp"

namespace stereopsis {
namespace {

// The bytes of an image's pixels, without what pads its rows.
template <class T>
void append(const Image<T>& image, std::vector<std::byte>& bytes) {
  for (int y = 0; y < image.height(); ++y) {
    const auto* row = reinterpret_cast<const std::byte*>(image.row(y));
    bytes.insert(bytes.end(), row, row + sizeof(T) * image.width() * image.channels());
  }
}

template <class Backend>
class HostTray : public checks::TrayOf<ImageView, HostTray<Backend>> {
 public:
  explicit HostTray(Backend& backend) : backend_(backend) {}

  Backend& backend() { return backend_; }
  template <class T>
  ImageView<const T> put(Image<T> image) {
    return keep(std::move(image)).view();
  }
  template <class T>
  ImageView<T> out(Image<T> image) {
    Image<T>& kept = keep(std::move(image));
    outputs_.push_back([&kept](std::vector<std::byte>& bytes) { append(kept, bytes); });
    return kept.view();
  }
  // Like out(), but what it holds afterwards is nobody's business.
  template <class T>
  ImageView<T> changed(Image<T> image) {
    return keep(std::move(image)).view();
  }
  std::span<std::byte> scratch(std::size_t bytes) {
    memory_ = Image<std::uint8_t>(Size{static_cast<int>(bytes), 1});
    return {reinterpret_cast<std::byte*>(memory_.row(0)), bytes};
  }
  std::vector<std::byte> collect() {
    std::vector<std::byte> bytes;
    for (const auto& output : outputs_) output(bytes);
    return bytes;
  }
  void clear() {
    outputs_.clear();
    images_.clear();
  }

 private:
  using AnyPixels = std::variant<Image<std::uint8_t>, Image<std::uint16_t>, Image<std::uint32_t>, Image<std::uint64_t>,
                                 Image<std::int32_t>, Image<float>>;
  template <class T>
  Image<T>& keep(Image<T> image) {
    return std::get<Image<T>>(images_.emplace_back(std::move(image)));
  }

  Backend& backend_;
  std::list<AnyPixels> images_;
  Image<std::uint8_t> memory_;
  std::vector<std::function<void(std::vector<std::byte>&)>> outputs_;
};

class GpuTray : public checks::TrayOf<gpu::View, GpuTray> {
 public:
  explicit GpuTray(gpu::Device& device)
      : device_(device), queue_(device.make_queue()), backend_(GpuBackend::Mode::run, {}, *queue_, images_) {}

  GpuBackend& backend() { return backend_; }
  template <class T>
  gpu::View<const T> put(const Image<T>& image) {
    return keep(image);
  }
  template <class T>
  gpu::View<T> out(const Image<T>& image) {
    const gpu::View<T> there = keep(image);
    outputs_.push_back([this, there](std::vector<std::byte>& bytes) {
      Image<T> back(there.size(), there.channels);
      queue_->download(there, back.view());
      queue_->wait();
      append(back, bytes);
    });
    return there;
  }
  template <class T>
  gpu::View<T> changed(const Image<T>& image) {
    return keep(image);
  }
  gpu::Span scratch(std::size_t bytes) { return buffers_.emplace_back(device_, bytes).span(); }
  std::vector<std::byte> collect() {
    std::vector<std::byte> bytes;
    for (const auto& output : outputs_) output(bytes);
    return bytes;
  }
  void clear() {
    outputs_.clear();
    buffers_.clear();
  }

 private:
  template <class T>
  gpu::View<T> keep(const Image<T>& image) {
    const ImageView<const T> from = image.view();
    const gpu::Buffer& buffer = buffers_.emplace_back(device_, sizeof(T) * from.pitch * from.height);
    const gpu::View<T> there{buffer.handle(), 0, from.width, from.height, from.channels, from.pitch};
    queue_->upload(from, there);
    queue_->wait();
    return there;
  }

  gpu::Device& device_;
  std::unique_ptr<gpu::Queue> queue_;
  const DeviceFrame images_;
  GpuBackend backend_;
  std::list<gpu::Buffer> buffers_;
  std::vector<std::function<void(std::vector<std::byte>&)>> outputs_;
};

template <class Tray>
std::vector<StageCheck> compare(Tray& tray) {
  OracleBackend oracles{Workspace()};
  HostTray<OracleBackend> expected(oracles);
  checks::run_stages(expected);
  checks::run_stages(tray);
  std::vector<StageCheck> list;
  for (std::size_t i = 0; i < expected.made.size(); ++i) {
    const auto& got = tray.made[i];
    list.push_back({got.stage, got.problem.empty() && got.bytes == expected.made[i].bytes, got.problem});
  }
  return list;
}

}  // namespace

std::vector<StageCheck> check_stages(const Device& device) {
  const std::string name = resolve_device(device.name);
  if (name != "cpu") {
    GpuTray tray(gpu::device(name));
    return compare(tray);
  }
#ifdef STEREOPSIS_SIMD
  Threads threads(device.threads);
  CpuBackend backend(Workspace(), threads);
#else
  OracleBackend backend{Workspace()};
#endif
  HostTray tray(backend);
  return compare(tray);
}

}  // namespace stereopsis
