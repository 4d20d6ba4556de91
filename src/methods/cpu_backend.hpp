// The stages on the CPU: the SIMD engine, or, in a build without it, the oracles (the same bits, slowly).
#pragma once

#include <array>
#include <chrono>
#include <vector>

#include "methods/run.hpp"
#include "methods/workspace.hpp"
#include "stages/downsample/downsample.hpp"
#include "stages/grey/grey.hpp"
#include "stages/hsv/hsv.hpp"
#include "stages/lab/lab.hpp"
#include "stages/rgb/rgb.hpp"
#ifdef STEREOPSIS_SIMD
#include "device/cpu/threads.hpp"
#endif

namespace stereopsis {

// What every backend on the host has: memory, and the time of each stage.
class HostBackend {
 public:
  explicit HostBackend(Workspace workspace) : workspace_(workspace) {}

  // The stages work on the caller's images.
  template <class T>
  Inputs<T, ImageView> inputs(const StereoPair& pair) const {
    return {pair.left.as<T>(), pair.right.as<T>(), pair.mask_left, pair.mask_right};
  }
  Outputs outputs(const Outputs& out) const { return out; }
  void deliver(const Outputs&, const Outputs&) const {}

  template <class T>
  ImageView<T> image(Size size, int channels = 1) {
    return workspace_.image<T>(size, channels);
  }
  // Of the rectified pixels `shown`.
  Maps<ImageView> maps(const RectificationMaps& maps, const Rect& shown) const {
    return {maps.left.view().crop(shown), maps.right.view().crop(shown)};
  }
  // 64 bytes behind a volume may be read.
  template <class T>
  VolumeView<T> volume(Size size, int disparities) {
    const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(size.width) * disparities;
    const auto block = workspace_.memory(sizeof(T) * pitch * size.height + 64);
    return {reinterpret_cast<T*>(block.data()), size.width, size.height, disparities, pitch};
  }
  // What a strip's volumes may take, and what they take a cell: costs, coefficients where they are kept, filtered costs.
  static constexpr double strip_bytes() { return 256.0 * (1 << 20); }
  static constexpr std::array<double, 3> bytes_per_cell() { return {1, 0, 4}; }
  template <class Kind>
  static constexpr bool tunes_filter = false;
  std::span<std::byte> memory(std::size_t bytes) { return workspace_.memory(bytes); }
  std::size_t bytes() const { return workspace_.bytes(); }
  std::size_t used() const { return workspace_.used(); }
  void give_back(std::size_t used) { workspace_.give_back(used); }

  // Runs f, unless the workspace is only being counted.
  template <class F>
  void stage(const char* name, const Work& work, F&& f) {
    if (workspace_.counts_only()) return;
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    times.push_back({name, elapsed.count(), work.bytes, work.paths, work.counts, work.others});
  }

  std::vector<StageTime> times;
  int stripe_rows = 0;  // of stripes that semi-global matching is done in; 0: the whole image

 private:
  Workspace workspace_;
};

class OracleBackend : public HostBackend {
 public:
  using HostBackend::HostBackend;

  template <class T>
  void grey(ImageView<const T> image, ImageView<const std::uint8_t> mask, ImageView<T> out,
            ImageView<std::uint8_t> usable) {
    grey::oracle(image, mask, out, usable);
  }
  template <class T>
  void grey8(ImageView<const T> image, int bit_depth, ImageView<std::uint8_t> out) {
    grey::oracle8(image, bit_depth, out);
  }
  template <class T>
  void remap(const remap::InputOf<T, ImageView>& in, const remap::OutputOf<T, ImageView>& out) {
    remap::oracle(in, out);
  }
  void triangulate(const triangulate::Parameters& p, ImageView<const float> disparity, const triangulate::Output& out) {
    triangulate::oracle(p, disparity, out);
  }
  template <class T>
  void rank(const rank::Parameters& p, ImageView<const T> image, ImageView<std::uint8_t> out) {
    rank::oracle(p, image, out);
  }
  template <class T, class Word>
  void census(const census::Parameters& p, ImageView<const T> image, ImageView<Word> out) {
    census::oracle(p, image, out);
  }
  template <class T>
  void census_gradient(ImageView<const T> image, ImageView<const std::uint8_t> image8, ImageView<std::uint32_t> out) {
    census_gradient::oracle(image, image8, out);
  }
  // The volume of sums.
  template <class Kind>
  std::size_t sgm_wta_bytes(const sgm_wta::Parameters& p, const Kind& kind, Size size, int disparities) {
    sgm::check(p.sgm, kind.max_cost());
    return sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities;
  }
  template <class Kind>
  void sgm_wta(const sgm_wta::Parameters& p, const sgm_wta::Input<Kind>& in, const wta::Output& out,
               std::span<std::byte> memory) {
    const Size size = in.source.left.size();
    const VolumeView<std::uint16_t> sums{reinterpret_cast<std::uint16_t*>(memory.data()), size.width, size.height,
                                         in.disparities, static_cast<std::ptrdiff_t>(size.width) * in.disparities};
    sgm::oracle(p.sgm, in.source, in.guide, in.select.min_disparity, sums);
    wta::oracle(p.select, in.select, sums, out);
  }
  template <class T>
  void rgb(ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask, ImageView<std::uint32_t> words,
           ImageView<std::uint8_t> usable) {
    rgb::oracle(image, bit_depth, mask, words, usable);
  }
  void lab(ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> words) { lab::oracle(rgb, words); }
  std::size_t support_weight_wta_bytes(const support_weight_wta::Parameters&, Size, int) { return 0; }
  void support_weight_wta(const support_weight_wta::Parameters& p, const support_weight_wta::Input& in,
                          const wta::Output& out, std::span<std::byte>) {
    support_weight_wta::oracle(p, in, out);
  }
  template <class T>
  void hsv(const cost::Weighting& w, ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask,
           ImageView<std::uint32_t> words, ImageView<std::uint8_t> usable) {
    hsv::oracle(w, image, bit_depth, mask, words, usable);
  }
  // The volume of sums.
  std::size_t window_sad_wta_bytes(const window_sad_wta::Parameters&, Size size, int disparities, const wta::Output&) {
    return sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities;
  }
  void window_sad_wta(const window_sad_wta::Parameters& p, const window_sad_wta::Input<ImageView>& in,
                      const wta::Output& out, std::span<std::byte> memory) {
    const Size size = in.source.left.size();
    const VolumeView<std::uint16_t> sums{reinterpret_cast<std::uint16_t*>(memory.data()), size.width, size.height,
                                         in.disparities, static_cast<std::ptrdiff_t>(size.width) * in.disparities};
    window_sad::oracle(p.window, in.source, in.select.min_disparity, sums);
    wta::oracle(p.select, in.select, sums, out);
  }
  template <class T>
  void downsample(int factor, ImageView<const T> image, ImageView<T> out) {
    downsample::oracle(factor, image, out);
  }
  void pyramid(const pyramid::Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
               const pyramid::Input<ImageView>& in, const pyramid::Output<ImageView>& out) {
    pyramid::oracle(p, window, select, in, out);
  }
  void confidence(const confidence::Parameters& p, const window_sad::Window& window,
                  const window_sad::Source<ImageView>& source, ImageView<const float> disparity, ImageView<float> out) {
    confidence::oracle(p, window, source, disparity, out);
  }
  void repair(const repair::Parameters& p, const repair::MapsOf<ImageView>& maps) { repair::oracle(p, maps); }
  template <class T>
  void reduce(const reduce::Parameters& p, ImageView<const T> grey, ImageView<const std::uint8_t> mask,
              ImageView<T> reduced, ImageView<std::uint8_t> usable) {
    reduce::oracle(p, grey, mask, reduced, usable);
  }
  void scale(const reduce::Parameters& p, ImageView<float> disparity) { reduce::scale_oracle(p, disparity); }
  void upsample(const upsample::Parameters& p, const upsample::Input& in, const upsample::Output& out) {
    upsample::oracle(p, in, out);
  }
  template <class T>
  void samples(ImageView<const T> grey, int bit_depth, ImageView<std::int16_t> out) {
    zncc::samples_oracle(grey, bit_depth, out);
  }
  // The volume of costs.
  std::size_t zncc_wta_bytes(const zncc_wta::Parameters&, Size size, int, int disparities, bool) {
    zncc_wta::check(disparities);
    return sizeof(std::uint16_t) * size.width * static_cast<std::size_t>(size.height) * disparities;
  }
  void zncc_wta(const zncc_wta::Parameters& p, const zncc_wta::Input<>& in, const wta::Output& out,
                std::span<std::byte> memory) {
    const Size size = in.left.size();
    const VolumeView<std::uint16_t> costs{reinterpret_cast<std::uint16_t*>(memory.data()), size.width, size.height,
                                          in.disparities, static_cast<std::ptrdiff_t>(size.width) * in.disparities};
    zncc::oracle(p.zncc, in.left, in.right, in.select.min_disparity, costs);
    wta::oracle(p.select, in.select, costs, out);
    zncc::mark_flat_oracle(p.zncc, in.left, out.validity);
  }
  void propagation(const propagation::Parameters& p, const propagation::MapsOf<ImageView>& maps) {
    propagation::oracle(p, maps);
  }
  void colour_gradient(ImageView<const std::uint8_t> image, ImageView<const std::uint8_t> grey,
                       ImageView<std::uint64_t> out) {
    colour_gradient::oracle(image, grey, out);
  }
  template <class Kind>
  std::size_t cost_volume_bytes(const Kind&, int, int) {
    return 0;
  }
  template <class Kind>
  void cost_volume(const cost::Source<Kind>& source, int min_disparity, VolumeView<std::uint8_t> costs,
                   std::span<std::byte>) {
    cost_volume::oracle(source, min_disparity, costs);
  }
  std::size_t guided_bytes(const guided::Parameters&, Size, int, int) { return 0; }
  void guided(const guided::Parameters& p, ImageView<const std::uint8_t> guide, VolumeView<const std::uint8_t> costs,
              guided::Rows rows, VolumeView<float> filtered, std::span<std::byte>) {
    guided::oracle(p, guide, costs, rows, filtered);
  }
  void wta(const wta::Parameters& p, const wta::Input& in, VolumeView<const float> costs, const wta::Output& out,
           wta::Reference reference) {
    wta::oracle(p, in, costs, out, reference);
  }
  void halve(ImageView<const std::uint8_t> image, ImageView<std::uint8_t> halved) {
    cross_scale::oracle_halve(image, halved);
  }
  void combine(const cross_scale::Level& level, float weight, float coarse_weight, VolumeView<const float> coarse,
               VolumeView<float> costs) {
    cross_scale::oracle_combine(level, weight, coarse_weight, coarse, costs);
  }
  void weighted_median(const weighted_median::Parameters& p, const weighted_median::Input& in,
                       ImageView<float> filtered) {
    weighted_median::oracle(p, in, filtered);
  }
  void left_right(const left_right::Parameters& p, ImageView<const float> right, ImageView<float> disparity,
                  ImageView<std::uint8_t> validity) {
    left_right::oracle(p, right, disparity, validity);
  }
  std::size_t speckle_bytes(Size) { return 0; }
  void speckle(const speckle::Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity,
               std::span<std::byte>) {
    speckle::oracle(p, disparity, validity);
  }
  static constexpr bool joins(const left_right::Parameters&, const median::Parameters&) { return false; }
  template <class... Anything>
  static void left_right_median(const Anything&...) {}
  void median(const median::Parameters& p, ImageView<const float> in, ImageView<float> out) {
    median::oracle(p, in, out);
  }
  std::size_t fill_bytes(const fill::Parameters& p, Size) {
    fill::check(p);
    return 0;
  }
  void fill(const fill::Parameters& p, const fill::Input& in, ImageView<float> filled, ImageView<std::uint8_t> validity,
            std::span<std::byte>) {
    fill::oracle(p, in, filled, validity);
  }
};

#ifdef STEREOPSIS_SIMD
class CpuBackend : public HostBackend {
 public:
  CpuBackend(Workspace workspace, Threads& threads) : HostBackend(workspace), threads_(threads) {}

  template <class T>
  void grey(ImageView<const T> image, ImageView<const std::uint8_t> mask, ImageView<T> out,
            ImageView<std::uint8_t> usable) {
    grey::cpu(image, mask, out, usable, threads_);
  }
  template <class T>
  void grey8(ImageView<const T> image, int bit_depth, ImageView<std::uint8_t> out) {
    grey::cpu8(image, bit_depth, out, threads_);
  }
  template <class T>
  void remap(const remap::InputOf<T, ImageView>& in, const remap::OutputOf<T, ImageView>& out) {
    remap::cpu(in, out, threads_);
  }
  void triangulate(const triangulate::Parameters& p, ImageView<const float> disparity, const triangulate::Output& out) {
    triangulate::cpu(p, disparity, out, threads_);
  }
  template <class T>
  void rank(const rank::Parameters& p, ImageView<const T> image, ImageView<std::uint8_t> out) {
    rank::cpu(p, image, out, threads_);
  }
  template <class T, class Word>
  void census(const census::Parameters& p, ImageView<const T> image, ImageView<Word> out) {
    census::cpu(p, image, out, threads_);
  }
  template <class T>
  void census_gradient(ImageView<const T> image, ImageView<const std::uint8_t> image8, ImageView<std::uint32_t> out) {
    census_gradient::cpu(image, image8, out, threads_);
  }
  template <class Kind>
  std::size_t sgm_wta_bytes(const sgm_wta::Parameters& p, const Kind& kind, Size size, int disparities) {
    sgm::check(p.sgm, kind.max_cost());
    return sgm_wta::workspace_bytes(p, kind, size, disparities, threads_.count(), stripe_rows);
  }
  template <class Kind>
  void sgm_wta(const sgm_wta::Parameters& p, const sgm_wta::Input<Kind>& in, const wta::Output& out,
               std::span<std::byte> memory) {
    sgm_wta::Input<Kind> striped = in;
    striped.stripe_rows = stripe_rows;
    sgm_wta::cpu(p, striped, out, memory, threads_);
  }
  template <class T>
  void rgb(ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask, ImageView<std::uint32_t> words,
           ImageView<std::uint8_t> usable) {
    rgb::cpu(image, bit_depth, mask, words, usable, threads_);
  }
  void lab(ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> words) { lab::cpu(rgb, words, threads_); }
  std::size_t support_weight_wta_bytes(const support_weight_wta::Parameters& p, Size size, int disparities) {
    return support_weight_wta::workspace_bytes(p, size, disparities, threads_.count());
  }
  void support_weight_wta(const support_weight_wta::Parameters& p, const support_weight_wta::Input& in,
                          const wta::Output& out, std::span<std::byte> memory) {
    support_weight_wta::cpu(p, in, out, memory, threads_);
  }
  template <class T>
  void hsv(const cost::Weighting& w, ImageView<const T> image, int bit_depth, ImageView<const std::uint8_t> mask,
           ImageView<std::uint32_t> words, ImageView<std::uint8_t> usable) {
    hsv::cpu(w, image, bit_depth, mask, words, usable, threads_);
  }
  std::size_t window_sad_wta_bytes(const window_sad_wta::Parameters&, Size size, int disparities, const wta::Output&) {
    return window_sad_wta::workspace_bytes(size, disparities, threads_.count());
  }
  void window_sad_wta(const window_sad_wta::Parameters& p, const window_sad_wta::Input<ImageView>& in,
                      const wta::Output& out, std::span<std::byte> memory) {
    window_sad_wta::cpu(p, in, out, memory, threads_);
  }
  template <class T>
  void downsample(int factor, ImageView<const T> image, ImageView<T> out) {
    downsample::cpu(factor, image, out, threads_);
  }
  void pyramid(const pyramid::Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
               const pyramid::Input<ImageView>& in, const pyramid::Output<ImageView>& out) {
    pyramid::cpu(p, window, select, in, out, threads_);
  }
  void confidence(const confidence::Parameters& p, const window_sad::Window& window,
                  const window_sad::Source<ImageView>& source, ImageView<const float> disparity, ImageView<float> out) {
    confidence::cpu(p, window, source, disparity, out, threads_);
  }
  void repair(const repair::Parameters& p, const repair::MapsOf<ImageView>& maps) { repair::cpu(p, maps, threads_); }
  template <class T>
  void reduce(const reduce::Parameters& p, ImageView<const T> grey, ImageView<const std::uint8_t> mask,
              ImageView<T> reduced, ImageView<std::uint8_t> usable) {
    reduce::cpu(p, grey, mask, reduced, usable, threads_);
  }
  void scale(const reduce::Parameters& p, ImageView<float> disparity) { reduce::scale_cpu(p, disparity, threads_); }
  void upsample(const upsample::Parameters& p, const upsample::Input& in, const upsample::Output& out) {
    upsample::cpu(p, in, out, threads_);
  }
  template <class T>
  void samples(ImageView<const T> grey, int bit_depth, ImageView<std::int16_t> out) {
    zncc::samples_cpu(grey, bit_depth, out, threads_);
  }
  std::size_t zncc_wta_bytes(const zncc_wta::Parameters& p, Size size, int bits, int disparities, bool) {
    return zncc_wta::workspace_bytes(p, size, bits, disparities, threads_.count());
  }
  void zncc_wta(const zncc_wta::Parameters& p, const zncc_wta::Input<>& in, const wta::Output& out,
                std::span<std::byte> memory) {
    zncc_wta::cpu(p, in, out, memory, threads_);
  }
  void propagation(const propagation::Parameters& p, const propagation::MapsOf<ImageView>& maps) {
    propagation::cpu(p, maps, threads_);
  }
  void colour_gradient(ImageView<const std::uint8_t> image, ImageView<const std::uint8_t> grey,
                       ImageView<std::uint64_t> out) {
    colour_gradient::cpu(image, grey, out, threads_);
  }
  template <class Kind>
  std::size_t cost_volume_bytes(const Kind& kind, int width, int disparities) {
    return cost_volume::scratch_bytes(kind, width, disparities, threads_.count());
  }
  template <class Kind>
  void cost_volume(const cost::Source<Kind>& source, int min_disparity, VolumeView<std::uint8_t> costs,
                   std::span<std::byte> scratch) {
    cost_volume::cpu(source, min_disparity, costs, scratch, threads_);
  }
  std::size_t guided_bytes(const guided::Parameters& p, Size size, int channels, int) {
    return guided::scratch_bytes(p, size, channels, threads_.count());
  }
  void guided(const guided::Parameters& p, ImageView<const std::uint8_t> guide, VolumeView<const std::uint8_t> costs,
              guided::Rows rows, VolumeView<float> filtered, std::span<std::byte> scratch) {
    guided::cpu(p, guide, costs, rows, filtered, scratch, threads_);
  }
  void wta(const wta::Parameters& p, const wta::Input& in, VolumeView<const float> costs, const wta::Output& out,
           wta::Reference reference) {
    wta::cpu(p, in, costs, out, threads_, reference);
  }
  void halve(ImageView<const std::uint8_t> image, ImageView<std::uint8_t> halved) {
    cross_scale::cpu_halve(image, halved, threads_);
  }
  void combine(const cross_scale::Level& level, float weight, float coarse_weight, VolumeView<const float> coarse,
               VolumeView<float> costs) {
    cross_scale::cpu_combine(level, weight, coarse_weight, coarse, costs, threads_);
  }
  void weighted_median(const weighted_median::Parameters& p, const weighted_median::Input& in,
                       ImageView<float> filtered) {
    weighted_median::cpu(p, in, filtered, threads_);
  }
  void left_right(const left_right::Parameters& p, ImageView<const float> right, ImageView<float> disparity,
                  ImageView<std::uint8_t> validity) {
    left_right::cpu(p, right, disparity, validity, threads_);
  }
  std::size_t speckle_bytes(Size size) { return speckle::scratch_bytes(size); }
  void speckle(const speckle::Parameters& p, ImageView<float> disparity, ImageView<std::uint8_t> validity,
               std::span<std::byte> scratch) {
    speckle::cpu(p, disparity, validity, scratch, threads_);
  }
  static constexpr bool joins(const left_right::Parameters&, const median::Parameters&) { return false; }
  template <class... Anything>
  static void left_right_median(const Anything&...) {}
  void median(const median::Parameters& p, ImageView<const float> in, ImageView<float> out) {
    median::cpu(p, in, out, threads_);
  }
  std::size_t fill_bytes(const fill::Parameters& p, Size size) { return fill::scratch_bytes(p, size); }
  void fill(const fill::Parameters& p, const fill::Input& in, ImageView<float> filled, ImageView<std::uint8_t> validity,
            std::span<std::byte> scratch) {
    fill::cpu(p, in, filled, validity, scratch, threads_);
  }

 private:
  Threads& threads_;
};
#endif

}  // namespace stereopsis
