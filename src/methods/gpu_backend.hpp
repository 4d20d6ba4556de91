// The stages on a GPU: everything is enqueued, and only the delivery of the results waits.
#pragma once

#include <vector>

#include "device/gpu/device.hpp"
#include "methods/run.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/sgm_wta/sgm_wta_cuda.hpp"
#endif
#include "stages/grey/grey.hpp"
#include "stages/hsv/hsv.hpp"

namespace stereopsis {

class GpuBackend {
 public:
  GpuBackend() = default;  // only counts the memory that a run takes
  GpuBackend(gpu::Span workspace, gpu::Queue& queue) : queue_(&queue), workspace_(workspace) {}
  GpuBackend(const GpuBackend&) = delete;
  GpuBackend& operator=(const GpuBackend&) = delete;
  // Where a run was broken off, copies may still read and write the caller's images.
  ~GpuBackend() {
    if (!pending_) return;
    try {
      queue_->wait();
    } catch (const Error&) {  // the one that broke it off says more
    }
  }

  std::size_t bytes() const { return most_used_; }
  // What is given back may be handed out at once: the queue keeps the order.
  std::size_t used() const { return used_; }
  void give_back(std::size_t used) { used_ = used; }
  std::vector<StageTime> times;

  gpu::Span memory(std::size_t bytes) {
    const gpu::Span piece{workspace_.memory, static_cast<std::int64_t>(used_), bytes};
    used_ += (bytes + 255) / 256 * 256;
    most_used_ = std::max(most_used_, used_);
    return piece;
  }
  template <class T>
  gpu::View<T> image(Size size, int channels = 1) {
    constexpr std::int64_t line = 128 / sizeof(T);
    const std::int64_t pitch = (static_cast<std::int64_t>(size.width) * channels + line - 1) / line * line;
    const gpu::Array<T> pixels = memory(sizeof(T) * pitch * size.height).template as<T>();
    return {pixels.memory, pixels.offset, size.width, size.height, channels, pitch};
  }

  template <class T>
  Inputs<T, gpu::View> inputs(const StereoPair& pair) {
    const Size size = pair.left.size();
    const auto left = image<T>(size, pair.left.channels), right = image<T>(size, pair.left.channels);
    // Room for masks is there whether they are given or not.
    const auto mask_left = image<std::uint8_t>(size), mask_right = image<std::uint8_t>(size);
    const auto masks = (pair.mask_left.empty() ? 0 : 1) + (pair.mask_right.empty() ? 0 : 1);
    stage("upload", (2.0 * sizeof(T) * pair.left.channels + masks) * size.width * size.height, [&] {
      queue_->upload(pair.left.as<T>(), left);
      queue_->upload(pair.right.as<T>(), right);
      if (!pair.mask_left.empty()) queue_->upload(pair.mask_left, mask_left);
      if (!pair.mask_right.empty()) queue_->upload(pair.mask_right, mask_right);
    });
    const gpu::View<const std::uint8_t> none;
    return {left, right, pair.mask_left.empty() ? none : mask_left, pair.mask_right.empty() ? none : mask_right};
  }
  OutputsOf<gpu::View> outputs(const Outputs& out) {
    const Size size = out.disparity.size();
    OutputsOf<gpu::View> there{image<float>(size), image<std::uint8_t>(size), {}, {}};
    if (out.right.width > 0) there.right = image<float>(size);
    if (out.confidence.width > 0) there.confidence = image<float>(size);
    return there;
  }
  void deliver(const OutputsOf<gpu::View>& there, const Outputs& out) {
    const double maps = 1 + (out.right.empty() ? 0 : 1) + (out.confidence.empty() ? 0 : 1);
    stage("download", (4 * maps + 1) * out.disparity.width * out.disparity.height, [&] {
      queue_->download(there.disparity, out.disparity);
      queue_->download(there.validity, out.validity);
      if (!out.right.empty()) queue_->download(there.right, out.right);
      if (!out.confidence.empty()) queue_->download(there.confidence, out.confidence);
    });
    if (counts_only()) return;
    pending_ = false;
    queue_->wait();
    for (std::size_t i = 0; i < times.size(); ++i) times[i].ms = queue_->ms_between(marks_[i], marks_[i + 1]);
  }

  // Enqueues what f enqueues, unless the memory is only being counted.
  template <class F>
  void stage(const char* name, double bytes, F&& f) {
    if (counts_only()) return;
    if (!pending_) {
      queue_->start_marks();
      marks_ = {queue_->mark()};
    }
    pending_ = true;
    f();
    marks_.push_back(queue_->mark());
    times.push_back({name, 0, bytes});
  }

  template <class T>
  void grey(gpu::View<const T> image, gpu::View<const std::uint8_t> mask, gpu::View<T> out,
            gpu::View<std::uint8_t> usable) {
    grey::gpu(image, mask, out, usable, *queue_);
  }
  template <class T>
  void grey8(gpu::View<const T> image, int bit_depth, gpu::View<std::uint8_t> out) {
    grey::gpu8(image, bit_depth, out, *queue_);
  }
  template <class T>
  void rank(const rank::Parameters& p, gpu::View<const T> image, gpu::View<std::uint8_t> out) {
    rank::gpu(p, image, out, *queue_);
  }
  template <class T, class Word>
  void census(const census::Parameters& p, gpu::View<const T> image, gpu::View<Word> out) {
    census::gpu(p, image, out, *queue_);
  }
  template <class T>
  void census_gradient(gpu::View<const T> image, gpu::View<const std::uint8_t> image8, gpu::View<std::uint32_t> out) {
    census_gradient::gpu(image, image8, out, *queue_);
  }
  template <class Kind>
  std::size_t sgm_wta_bytes(const sgm_wta::Parameters& p, const Kind& kind, Size size, int disparities) {
    sgm::check(p.sgm, kind.max_cost());
    std::size_t bytes = sgm_wta::gpu_workspace_bytes(size, disparities);
#ifdef STEREOPSIS_CUDA
    // Which of the two runs, the device tells.
    if (sgm_wta::cuda_serves(p, kind, disparities))
      bytes = std::max(bytes, sgm_wta::cuda_workspace_bytes(p, kind, size, disparities));
#endif
    return bytes;
  }
  template <class Kind>
  void sgm_wta(const sgm_wta::Parameters& p, const sgm_wta::Input<Kind, gpu::View>& in,
               const wta::OutputOf<gpu::View>& out, gpu::Span workspace) {
#ifdef STEREOPSIS_CUDA
    if (sgm_wta::cuda_runs_on(*queue_) && sgm_wta::cuda_serves(p, in.source.kind, in.disparities))
      return sgm_wta::cuda(p, in, out, workspace, *queue_);
#endif
    sgm_wta::gpu(p, in, out, workspace, *queue_);
  }
  template <class T>
  void hsv(const cost::Weighting& w, gpu::View<const T> image, int bit_depth, gpu::View<const std::uint8_t> mask,
           gpu::View<std::uint32_t> words, gpu::View<std::uint8_t> usable) {
    hsv::gpu(w, image, bit_depth, mask, words, usable, *queue_);
  }
  std::size_t window_sad_wta_bytes(Size size, int disparities) { return window_sad_wta::gpu_workspace_bytes(size, disparities); }
  void window_sad_wta(const window_sad_wta::Parameters& p, const window_sad_wta::Input<gpu::View>& in,
                      const wta::OutputOf<gpu::View>& out, gpu::Span workspace) {
    window_sad_wta::gpu(p, in, out, workspace, *queue_);
  }
  void left_right(const left_right::Parameters& p, gpu::View<const float> right, gpu::View<float> disparity,
                  gpu::View<std::uint8_t> validity) {
    left_right::gpu(p, right, disparity, validity, *queue_);
  }
  std::size_t speckle_bytes(Size size) { return speckle::gpu_scratch_bytes(size); }
  void speckle(const speckle::Parameters& p, gpu::View<float> disparity, gpu::View<std::uint8_t> validity,
               gpu::Span scratch) {
    speckle::gpu(p, disparity, validity, scratch, *queue_);
  }
  void median(const median::Parameters& p, gpu::View<const float> in, gpu::View<float> out) {
    median::gpu(p, in, out, *queue_);
  }
  std::size_t fill_bytes(const fill::Parameters& p, Size size) { return fill::gpu_scratch_bytes(p, size); }
  void fill(const fill::Parameters& p, const fill::InputOf<gpu::View>& in, gpu::View<float> filled,
            gpu::View<std::uint8_t> validity, gpu::Span scratch) {
    fill::gpu(p, in, filled, validity, scratch, *queue_);
  }

 private:
  bool counts_only() const { return queue_ == nullptr; }

  gpu::Queue* queue_ = nullptr;
  gpu::Span workspace_;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
  bool pending_ = false;
  std::vector<int> marks_;
};

}  // namespace stereopsis
