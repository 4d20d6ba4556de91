// The stages on a GPU: everything is enqueued, and nothing waits.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "device/gpu/device.hpp"
#include "methods/run.hpp"
#include "methods/workspace.hpp"
#ifdef STEREOPSIS_CUDA
#include "fused/asw_separable_wta/asw_separable_wta_cuda.hpp"
#include "fused/guided_wta/guided_wta_cuda.hpp"
#include "fused/left_right_median/left_right_median.hpp"
#include "fused/sgm_wta/sgm_wta_cuda.hpp"
#include "fused/support_weight_wta/support_weight_wta_cuda.hpp"
#include "fused/window_sad_wta/window_sad_wta_cuda.hpp"
#include "fused/zncc_wta/zncc_wta_cuda.hpp"
#endif
#include "stages/downsample/downsample.hpp"
#include "stages/grey/grey.hpp"
#include "stages/hsv/hsv.hpp"
#include "stages/lab/lab.hpp"
#include "stages/rgb/rgb.hpp"
#include "stereopsis/device_image.hpp"

namespace stereopsis {

// The images of a run that matter to what is enqueued: a run with the same ones enqueues the same.
struct DeviceFrame {
  bool on_device = false;  // else they are the host's, and masks[i] says whether there is one
  std::array<bool, 2> masks{};
  DevicePair pair;
  DeviceMatched out;

  bool operator==(const DeviceFrame&) const = default;
};

class GpuBackend {
 public:
  // count: only counts the memory that a run takes. run: enqueues everything. record: records what lies between the
  // transfers, for replay: the transfers, and what was recorded between them.
  enum class Mode { count, run, record, replay };

  // For a device of this compute capability; 0: of OpenCL.
  explicit GpuBackend(int cuda_capability) : cuda_capability_(cuda_capability) {}
  GpuBackend(Mode mode, gpu::Span workspace, gpu::Queue& queue, const DeviceFrame& images)
      : mode_(mode),
        queue_(&queue),
        images_(&images),
        cuda_capability_(queue.cuda_capability()),
        workspace_(workspace) {}
  GpuBackend(const GpuBackend&) = delete;
  GpuBackend& operator=(const GpuBackend&) = delete;
  // Where a run was broken off, copies may still read and write the caller's images.
  ~GpuBackend() {
    try {
      if (recording_) queue_->end_recording();
      if (pending_) queue_->wait();
    } catch (const Error&) {  // the one that broke it off says more
    }
  }
  // All is enqueued: what is in work is the caller's to wait for.
  void keep() { pending_ = false; }

  void take_times(std::span<const std::unique_ptr<gpu::Event>> marks, std::vector<StageTime>& stages) {
    marks_ = marks;
    stages_ = &stages;
    stages.clear();
  }
  void replays(gpu::Graph& graph) { graph_ = &graph; }
  std::unique_ptr<gpu::Graph> recorded() { return std::move(recorded_); }

  int stripe_rows = 0;         // of stripes that semi-global matching is done in; 0: the whole image
  Maps<gpu::View> maps_there;  // of a rectification

  // Of the rectified pixels `shown`.
  Maps<gpu::View> maps(const RectificationMaps&, const Rect& shown) const {
    return {maps_there.left.crop(shown), maps_there.right.crop(shown)};
  }

  std::size_t bytes() const { return most_used_; }
  // What is given back may be handed out at once: the queue keeps the order.
  std::size_t used() const { return used_; }
  void give_back(std::size_t used) { used_ = used; }

  gpu::Span memory(std::size_t bytes) {
    const gpu::Span piece{workspace_.memory, static_cast<std::int64_t>(used_), bytes};
    used_ += (bytes + 255) / 256 * 256;
    most_used_ = std::max(most_used_, used_);
    if (mode_ != Mode::count) check_end(used_, workspace_.bytes);
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
    if (mode_ != Mode::count && images_->on_device) return begin_stages(inputs_there<T>(images_->pair));
    const Size size = pair.left.size();
    const auto left = image<T>(size, pair.left.channels), right = image<T>(size, pair.left.channels);
    // Room for masks is there whether they are given or not.
    const auto mask_left = image<std::uint8_t>(size), mask_right = image<std::uint8_t>(size);
    const auto masks = (pair.mask_left.empty() ? 0 : 1) + (pair.mask_right.empty() ? 0 : 1);
    transfer("upload", (2.0 * sizeof(T) * pair.left.channels + masks) * size.width * size.height, [&] {
      queue_->upload(pair.left.as<T>(), left);
      queue_->upload(pair.right.as<T>(), right);
      if (!pair.mask_left.empty()) queue_->upload(pair.mask_left, mask_left);
      if (!pair.mask_right.empty()) queue_->upload(pair.mask_right, mask_right);
    });
    const gpu::View<const std::uint8_t> none;
    return begin_stages(Inputs<T, gpu::View>{left, right, pair.mask_left.empty() ? none : mask_left,
                                             pair.mask_right.empty() ? none : mask_right});
  }
  OutputsOf<gpu::View> outputs(const Outputs& out) {
    if (mode_ != Mode::count && images_->on_device) {
      const DeviceMatched& there = images_->out;
      return {.disparity = as<float>(there.disparity),
              .validity = as<std::uint8_t>(there.validity),
              .right = as<float>(there.right),
              .confidence = as<float>(there.confidence),
              .depth = as<float>(there.depth),
              .points = as<float>(there.points),
              .uncertainty = as<float>(there.uncertainty)};
    }
    OutputsOf<gpu::View> there;
    for_each_output(there, out, [&]<class T>(gpu::View<T>& here, const ImageView<T>& wanted) {
      if (wanted.width > 0) here = image<T>(wanted.size(), wanted.channels);
    });
    return there;
  }
  void deliver(const OutputsOf<gpu::View>& there, const Outputs& out) {
    if (mode_ == Mode::count) return;
    end_stages();
    if (images_->on_device) return;
    double bytes = 0;
    for_each_output(there, out, [&]<class T>(const gpu::View<T>&, const ImageView<T>& wanted) {
      bytes += static_cast<double>(sizeof(T)) * wanted.channels * wanted.width * wanted.height;
    });
    transfer("download", bytes, [&] {
      for_each_output(there, out, [&]<class T>(const gpu::View<T>& here, const ImageView<T>& wanted) {
        if (!wanted.empty()) queue_->download(here, wanted);
      });
    });
  }

  // Enqueues or records what f enqueues.
  template <class F>
  void stage(const char* name, const Work& work, F&& f) {
    if (mode_ == Mode::run || mode_ == Mode::record) timed(name, work, f);
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
  void remap(const remap::InputOf<T, gpu::View>& in, const remap::OutputOf<T, gpu::View>& out) {
    remap::gpu(in, out, *queue_);
  }
  void triangulate(const triangulate::Parameters& p, gpu::View<const float> disparity,
                   const triangulate::OutputOf<gpu::View>& out) {
    triangulate::gpu(p, disparity, out, *queue_);
  }
  template <class T>
  void rank(const rank::Parameters& p, gpu::View<const T> image, gpu::View<std::uint8_t> out) {
    rank::gpu(p, image, out, *queue_);
  }
  template <class T>
  void rank(const rank::Parameters& p, const std::array<gpu::View<const T>, 2>& images,
            const std::array<gpu::View<std::uint8_t>, 2>& out) {
    rank::gpu(p, images, out, *queue_);
  }
  template <class T, class Word>
  void census(const census::Parameters& p, const std::array<gpu::View<const T>, 2>& images,
              const std::array<gpu::View<Word>, 2>& out) {
    census::gpu(p, images, out, *queue_);
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
#ifdef STEREOPSIS_CUDA
    if (is_tuned(p, kind, size, disparities))
      return sgm_wta::cuda_workspace_bytes(p, kind, size, disparities,
                                           sgm_wta::cuda_is_compact(cuda_capability_, stripe_rows));
#endif
    return sgm_wta::gpu_workspace_bytes(p, size, disparities, stripe_rows);
  }
  template <class Kind>
  void sgm_wta(const sgm_wta::Parameters& p, const sgm_wta::Input<Kind, gpu::View>& in,
               const wta::OutputOf<gpu::View>& out, gpu::Span workspace) {
    sgm_wta::Input<Kind, gpu::View> striped = in;
    striped.stripe_rows = stripe_rows;
#ifdef STEREOPSIS_CUDA
    if (is_tuned(p, in.source.kind, in.source.left.size(), in.disparities))
      return sgm_wta::cuda(p, striped, out, workspace, *queue_);
#endif
    sgm_wta::gpu(p, striped, out, workspace, *queue_);
  }
  template <class T>
  void rgb(gpu::View<const T> image, int bit_depth, gpu::View<const std::uint8_t> mask, gpu::View<std::uint32_t> words,
           gpu::View<std::uint8_t> usable) {
    rgb::gpu(image, bit_depth, mask, words, usable, *queue_);
  }
  void lab(gpu::View<const std::uint32_t> rgb, gpu::View<std::uint32_t> words) { lab::gpu(rgb, words, *queue_); }
  std::size_t support_weight_wta_bytes(const support_weight_wta::Parameters& p, Size size, int disparities) {
    const std::size_t portable = support_weight_wta::gpu_workspace_bytes(p, size, disparities);
#ifdef STEREOPSIS_CUDA
    // Masks, known at the run, decide whether the tuned ones serve.
    if (cuda_capability_ >= 80)
      return std::max({portable, support_weight_wta::cuda_workspace_bytes(p, size, disparities),
                       asw_separable_wta::cuda_workspace_bytes(p, size, disparities)});
#endif
    return portable;
  }
  void support_weight_wta(const support_weight_wta::Parameters& p, const support_weight_wta::InputOf<gpu::View>& in,
                          const wta::OutputOf<gpu::View>& out, gpu::Span workspace) {
#ifdef STEREOPSIS_CUDA
    if (cuda_capability_ >= 80 && support_weight_wta::cuda_serves(p, in, out))
      return support_weight_wta::cuda(p, in, out, workspace, *queue_);
    if (cuda_capability_ >= 80 && asw_separable_wta::cuda_serves(p, in, out))
      return asw_separable_wta::cuda(p, in, out, workspace, *queue_);
#endif
    support_weight_wta::gpu(p, in, out, workspace, *queue_);
  }
  template <class T>
  void hsv(const cost::Weighting& w, gpu::View<const T> image, int bit_depth, gpu::View<const std::uint8_t> mask,
           gpu::View<std::uint32_t> words, gpu::View<std::uint8_t> usable) {
    hsv::gpu(w, image, bit_depth, mask, words, usable, *queue_);
  }
  std::size_t window_sad_wta_bytes([[maybe_unused]] const window_sad_wta::Parameters& p, Size size, int disparities,
                                   [[maybe_unused]] const wta::OutputOf<gpu::View>& out) {
#ifdef STEREOPSIS_CUDA
    if (window_sad_wta::cuda_serves_unmasked(cuda_capability_, p, disparities, out))
      return window_sad_wta::gpu_workspace_bytes(size, disparities, true);
#endif
    return window_sad_wta::gpu_workspace_bytes(size, disparities);
  }
  void window_sad_wta(const window_sad_wta::Parameters& p, const window_sad_wta::Input<gpu::View>& in,
                      const wta::OutputOf<gpu::View>& out, gpu::Span workspace) {
#ifdef STEREOPSIS_CUDA
    if (window_sad_wta::cuda_serves(cuda_capability_, p, in, out)) return window_sad_wta::cuda(p, in, out, *queue_);
#endif
    window_sad_wta::gpu(p, in, out, workspace, *queue_);
  }
  template <class T>
  void downsample(int factor, gpu::View<const T> image, gpu::View<T> out) {
    downsample::gpu(factor, image, out, *queue_);
  }
  void pyramid(const pyramid::Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
               const pyramid::Input<gpu::View>& in, const pyramid::Output<gpu::View>& out) {
    pyramid::gpu(p, window, select, in, out, *queue_);
  }
  void confidence(const confidence::Parameters& p, const window_sad::Window& window,
                  const window_sad::Source<gpu::View>& source, gpu::View<const float> disparity, gpu::View<float> out) {
    confidence::gpu(p, window, source, disparity, out, *queue_);
  }
  void repair(const repair::Parameters& p, const repair::MapsOf<gpu::View>& maps) { repair::gpu(p, maps, *queue_); }
  template <class T>
  void reduce(const reduce::Parameters& p, gpu::View<const T> grey, gpu::View<const std::uint8_t> mask,
              gpu::View<T> reduced, gpu::View<std::uint8_t> usable) {
    reduce::gpu(p, grey, mask, reduced, usable, *queue_);
  }
  void scale(const reduce::Parameters& p, gpu::View<float> disparity) { reduce::scale_gpu(p, disparity, *queue_); }
  void upsample(const upsample::Parameters& p, const upsample::InputOf<gpu::View>& in,
                const upsample::OutputOf<gpu::View>& out) {
    upsample::gpu(p, in, out, *queue_);
  }
  template <class T>
  void samples(gpu::View<const T> grey, int bit_depth, gpu::View<std::int16_t> out) {
    zncc::samples_gpu(grey, bit_depth, out, *queue_);
  }
  std::size_t zncc_wta_bytes(const zncc_wta::Parameters& p, Size size, int bits, int disparities,
                             [[maybe_unused]] bool wants_confidence) {
#ifdef STEREOPSIS_CUDA
    if (is_tuned(p, bits, disparities, wants_confidence)) return zncc_wta::cuda_workspace_bytes(p, size);
#endif
    return zncc_wta::gpu_workspace_bytes(p, size, bits, disparities);
  }
  void zncc_wta(const zncc_wta::Parameters& p, const zncc_wta::Input<gpu::View>& in,
                const wta::OutputOf<gpu::View>& out, gpu::Span workspace) {
#ifdef STEREOPSIS_CUDA
    if (is_tuned(p, in.bits, in.disparities, !out.confidence.empty()))
      return zncc_wta::cuda(p, in, out, workspace, *queue_);
#endif
    zncc_wta::gpu(p, in, out, workspace, *queue_);
  }
  void propagation(const propagation::Parameters& p, const propagation::MapsOf<gpu::View>& maps) {
    propagation::gpu(p, maps, *queue_);
  }
  template <class T>
  gpu::Volume<T> volume(Size size, int disparities) {
    const std::size_t cells = static_cast<std::size_t>(size.width) * size.height * disparities;
    return {memory(sizeof(T) * cells).template as<T>(), size.width, size.height, disparities};
  }
  // What a strip's volumes may take, and what they take a cell: costs, coefficients where they are kept, filtered costs.
  static constexpr double strip_bytes() { return 1.0 * (1 << 30); }
  static constexpr std::array<double, 3> bytes_per_cell() { return {1, 16, 4}; }
#ifdef STEREOPSIS_CUDA
  template <class Kind>
  static constexpr bool tunes_filter = guided_wta::cuda_has_kind<Kind>;
  using Planes = std::vector<guided_wta::Plane>;

  bool has_tuned_filter(const guided::Parameters& p, Size image) const {
    return guided_wta::cuda_runs_on(cuda_capability_) && guided_wta::cuda_serves(p) &&
           image.height <= gpu::most_cuda_groups_y;
  }
  guided_wta::Plane plane(Size size, int disparities, int first_row, int min_disparity, float weight) {
    return {memory(guided_wta::cuda_plane_bytes(size, disparities)).template as<float>(),
            size.width,
            size.height,
            first_row,
            min_disparity,
            weight};
  }
  // The planes of a strip, and what a portion of the disparities takes before and in a filter, are to fit in these.
  static constexpr std::size_t plane_bytes() { return std::size_t{768} << 20; }
  static constexpr std::size_t portion_bytes() { return std::size_t{768} << 20; }
  static int disparities_at_a_time(Size strip, int channels, int disparities) {
    return guided_wta::cuda_disparities_at_a_time(strip, channels, disparities, portion_bytes());
  }
  static int tallest_strip(Size image, int disparities) {
    return static_cast<int>(plane_bytes() / guided_wta::cuda_plane_bytes({image.width, 1}, disparities));
  }
  std::size_t tuned_filter_bytes(Size strip, int channels, int disparities) {
    return guided_wta::cuda_filter_bytes(strip, channels, disparities_at_a_time(strip, channels, disparities));
  }
  template <class Kind>
  void tuned_filter(const guided::Parameters& p, const cost::Source<Kind, gpu::View>& source, DisparityRange range,
                    gpu::View<const std::uint8_t> guide, guided::Rows rows, const guided_wta::Plane& plane,
                    gpu::Span scratch) {
    guided_wta::cuda_filter(p, source, range.min, range.count,
                            disparities_at_a_time(guide.size(), guide.channels, range.count), guide, rows,
                            {plane.costs.memory, plane.costs.offset}, scratch, *queue_);
  }
  void tuned_select(const wta::Parameters& p, const wta::InputOf<gpu::View>& in, const Planes& planes, int disparities,
                    const wta::OutputOf<gpu::View>& out, wta::Reference reference) {
    guided_wta::cuda_select(p, in, planes, disparities, out, reference, *queue_);
  }
#else
  template <class Kind>
  static constexpr bool tunes_filter = false;
#endif
  void colour_gradient(gpu::View<const std::uint8_t> image, gpu::View<const std::uint8_t> grey,
                       gpu::View<std::uint64_t> out) {
    colour_gradient::gpu(image, grey, out, *queue_);
  }
  template <class Kind>
  std::size_t cost_volume_bytes(const Kind&, int, int) {
    return 0;
  }
  template <class Kind>
  void cost_volume(const cost::Source<Kind, gpu::View>& source, int min_disparity, gpu::Volume<std::uint8_t> costs,
                   gpu::Span) {
    cost_volume::gpu(source, min_disparity, costs, *queue_);
  }
  std::size_t guided_bytes(const guided::Parameters& p, Size size, int channels, int disparities) {
    return guided::gpu_scratch_bytes(p, size, channels, disparities);
  }
  void guided(const guided::Parameters& p, gpu::View<const std::uint8_t> guide, gpu::Volume<const std::uint8_t> costs,
              guided::Rows rows, gpu::Volume<float> filtered, gpu::Span scratch) {
    guided::gpu(p, guide, costs, rows, filtered, scratch, *queue_);
  }
  void wta(const wta::Parameters& p, const wta::InputOf<gpu::View>& in, gpu::Volume<const float> costs,
           const wta::OutputOf<gpu::View>& out, wta::Reference reference) {
    wta::gpu(p, in, costs, out, *queue_, reference);
  }
  void halve(gpu::View<const std::uint8_t> image, gpu::View<std::uint8_t> halved) {
    cross_scale::gpu_halve(image, halved, *queue_);
  }
  void combine(const cross_scale::Level& level, float weight, float coarse_weight, gpu::Volume<const float> coarse,
               gpu::Volume<float> costs) {
    cross_scale::gpu_combine(level, weight, coarse_weight, coarse, costs, *queue_);
  }
  void weighted_median(const weighted_median::Parameters& p, const weighted_median::InputOf<gpu::View>& in,
                       gpu::View<float> filtered) {
    weighted_median::gpu(p, in, filtered, *queue_);
  }
  void left_right(const left_right::Parameters& p, gpu::View<const float> right, gpu::View<float> disparity,
                  gpu::View<std::uint8_t> validity) {
    left_right::gpu(p, right, disparity, validity, *queue_);
  }
#ifdef STEREOPSIS_CUDA
  bool joins(const left_right::Parameters& check, const median::Parameters& filter) const {
    return left_right_median::cuda_serves(cuda_capability_, check, filter);
  }
  void left_right_median(const left_right::Parameters& p, gpu::View<const float> right,
                         gpu::View<const float> disparity, gpu::View<std::uint8_t> validity,
                         gpu::View<float> filtered) {
    left_right_median::cuda(p, right, disparity, validity, filtered, *queue_);
  }
#else
  static constexpr bool joins(const left_right::Parameters&, const median::Parameters&) { return false; }
  template <class... Anything>
  static void left_right_median(const Anything&...) {}
#endif
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
  template <class T>
  static gpu::View<T> as(const DeviceImageView& v) {
    return {v.memory, v.offset, v.width, v.height, v.channels, v.pitch};
  }
  template <class T>
  static Inputs<T, gpu::View> inputs_there(const DevicePair& pair) {
    return {as<const T>(pair.left), as<const T>(pair.right), as<const std::uint8_t>(pair.mask_left),
            as<const std::uint8_t>(pair.mask_right)};
  }

  template <class F>
  void transfer(const char* name, const Work& work, F&& f) {
    if (mode_ == Mode::run || mode_ == Mode::replay) timed(name, work, f);
  }
  // What lies between the transfers.
  template <class In>
  In begin_stages(const In& in) {
    if (mode_ == Mode::record) recording_ = queue_->begin_recording();
    if (mode_ == Mode::record && !recording_) mode_ = Mode::count;  // this device can't
    return in;
  }
  void end_stages() {
    if (mode_ == Mode::replay) queue_->replay(*graph_);
    if (!recording_) return;
    recording_ = false;
    recorded_ = queue_->end_recording();
  }

  template <class F>
  void timed(const char* name, const Work& work, F&& f) {
    pending_ = true;
    if (stages_ == nullptr) return f();
    if (!stages_->empty() && stages_->back().name == name) {  // it goes on
      f();
      StageTime& last = stages_->back();
      last.bytes += work.bytes;
      last.path_operations += work.paths;
      last.popcounts += work.counts;
      last.operations += work.others;
      queue_->record(*marks_[stages_->size()]);
      return;
    }
    if (stages_->size() + 2 > marks_.size())
      throw Error(ErrorCategory::device, "a run has more stages than can be timed; this is a fault of the library");
    if (stages_->empty()) queue_->record(*marks_[0]);
    f();
    stages_->push_back({name, 0, work.bytes, work.paths, work.counts, work.others});
    queue_->record(*marks_[stages_->size()]);
  }

#ifdef STEREOPSIS_CUDA
  bool is_tuned(const zncc_wta::Parameters& p, int bits, int disparities, bool wants_confidence) const {
    return zncc_wta::cuda_runs_on(cuda_capability_) && zncc_wta::cuda_serves(p, bits, disparities, wants_confidence);
  }
  template <class Kind>
  bool is_tuned(const sgm_wta::Parameters& p, const Kind& kind, Size size, int disparities) const {
    const bool whole = stripe_rows == 0 || stripe_rows >= size.height;
    return whole && sgm_wta::cuda_runs_on(cuda_capability_) && sgm_wta::cuda_serves(p, kind, disparities);
  }
#endif

  Mode mode_ = Mode::count;
  gpu::Queue* queue_ = nullptr;
  const DeviceFrame* images_ = nullptr;
  int cuda_capability_ = 0;
  gpu::Span workspace_;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
  bool pending_ = false;
  bool recording_ = false;
  std::unique_ptr<gpu::Graph> recorded_;
  gpu::Graph* graph_ = nullptr;
  std::span<const std::unique_ptr<gpu::Event>> marks_;
  std::vector<StageTime>* stages_ = nullptr;
};

}  // namespace stereopsis
