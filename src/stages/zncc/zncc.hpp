// Zero-mean normalised cross-correlation (Syed, "Calculating ZNCC") of the M×M windows A around a left and a right
// pixel:
//
//   ρ(p, d) = Σ (l − l̄)(r − r̄) / √(Σ (l − l̄)² · Σ (r − r̄)²)
//
// The grey values are first converted to integer samples. All sums over a window are therefore exact, and may be
// computed in any order. 8 bits: v − 128. 16-bit values of depth b: min(v, 2ᵇ − 1) − 2ᵇ⁻¹. Floats: ⌊64 (v − 256) + ½⌋,
// so that the quantum is 1/64 grey level, and values from −256 to 767 are representable. Other values are clamped.
//
// Let N = M², m the mean of the window, rounded to an integer, e = Σ l − N m and c = e / N, which are all small. Then
//
//   Σ (l − l̄)(r − r̄) = F(l, r) = (Σ l r − m Σ r) − c Σ r        Σ (l − l̄)² = V(l) = Σ (l − m)² − c e
//
// The sums that come first are exact integers, and are rounded to float once. All later operations are rounded to
// float:
//
//   i = 1/√V, or 0 for a window without variance, which is exactly N Σ l² = (Σ l)²
//   ρ = (F · i_left) · i_right           m = rint(float(Σ l) · float(1/N)),   c = float(e) · float(1/N)
//   score = the multiple of 2⁻¹⁵ nearest to ρ clamped to 0…1, ties to even
//   cost = 2¹⁵ − 2¹⁵ score, and 65535 (no candidate: wta.hpp) if the score is 0: the windows are not similar at all
//
// Input: samples of both views. Output: 16-bit costs. The borders of the images are replicated, so that the window of a
// right pixel outside its image is defined.
// Required input: (M−1)/2 pixels on each side; in the right view also the range of disparities.
// Cost: two products and four additions per cell for the sums, and about ten operations for ρ, independently of the
// window.
#pragma once

#include <cmath>

#include "stages/shared/stage.hpp"

namespace stereopsis::zncc {

struct Parameters {
  static constexpr const char* stage = "zncc";
  int window = 9;

  int radius() const { return window / 2; }
  int pixels() const { return window * window; }

  static void describe(auto& p, auto&& visit) {
    visit("window", p.window, odd(3, 101).in("pixels"), "side of the square window");
  }
};

inline constexpr std::uint16_t no_cost = 65535;  // value of an absent candidate: wta.hpp

// The statistics of a window that the correlation needs in addition to its samples.
struct Window {
  std::int32_t sum = 0;
  float inverse_root = 0;  // i; 0: no variance

  // The contribution of the left window to F.
  int mean(float one_over_n) const { return static_cast<int>(std::rint(static_cast<float>(sum) * one_over_n)); }
  float fraction(float one_over_n, int n) const { return static_cast<float>(sum - n * mean(one_over_n)) * one_over_n; }
};

Window window_of(std::int64_t sum, std::int64_t squares, int n);

// The largest magnitude of a sample. Sums of 8-bit samples need fewer bits.
inline int largest_sample(int bits) { return bits == 8 ? 128 : 32768; }

// T is uint8_t, uint16_t or float.
template <class T>
void samples_oracle(ImageView<const T> grey, int bit_depth, ImageView<std::int16_t> samples);
template <class T>
void samples_cpu(ImageView<const T> grey, int bit_depth, ImageView<std::int16_t> samples, Threads&);
template <class T>
void samples_gpu(gpu::View<const T> grey, int bit_depth, gpu::View<std::int16_t> samples, gpu::Queue&);

// Computes the costs of the candidates min_disparity + k. `bits` is 8 if the magnitude of samples is at most 128, and
// otherwise 16.
void oracle(const Parameters&, ImageView<const std::int16_t> left, ImageView<const std::int16_t> right,
            int min_disparity, VolumeView<std::uint16_t> costs);
// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
std::size_t scratch_bytes(const Parameters&, int width, int disparities, int threads);
void cpu(const Parameters&, ImageView<const std::int16_t> left, ImageView<const std::int16_t> right, int min_disparity,
         VolumeView<std::uint16_t> costs, std::span<std::byte> scratch, Threads&);
std::size_t gpu_scratch_bytes(const Parameters&, Size);
void gpu(const Parameters&, gpu::View<const std::int16_t> left, gpu::View<const std::int16_t> right, int bits,
         int min_disparity, gpu::Volume<std::uint16_t> costs, gpu::Span scratch, gpu::Queue&);

// Computes the same costs for any rows.
class GpuCosts {
 public:
  GpuCosts(const Parameters&, gpu::View<const std::int16_t> left, gpu::View<const std::int16_t> right, int bits,
           int min_disparity, gpu::Span scratch);
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  // Computes the statistics that the costs of all rows need.
  void describe_windows(gpu::Queue&) const;
  // Computes as many rows as `costs` has, from row `first_row` on.
  void correlate(int first_row, gpu::Volume<std::uint16_t> costs, gpu::Queue&) const;

 private:
  const Parameters p_;
  const gpu::View<const std::int16_t> views_[2];
  const char* const instance_;
  const int min_disparity_;
  gpu::Array<std::int64_t> moments_;
  gpu::Array<std::uint32_t> windows_[2];
  std::size_t scratch_bytes_;
};

// Runs after the selection. A pixel without a candidate becomes ambiguous if its own window has no variance.
void mark_flat_oracle(const Parameters&, ImageView<const std::int16_t> left, ImageView<std::uint8_t> validity);
void mark_flat_cpu(const Parameters&, ImageView<const std::int16_t> left, ImageView<std::uint8_t> validity, Threads&);
void mark_flat_gpu(const Parameters&, gpu::View<const std::int16_t> left, gpu::View<std::uint8_t> validity,
                   gpu::Queue&);

}  // namespace stereopsis::zncc
