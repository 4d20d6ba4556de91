// Confidence of a disparity map that any method has computed (Prehn 2007, section 5.3.2). The measures use a window of
// N pixels around p. S(d) is the window sum of stages/window_sad at the disparity d = ⌊D(p) + ½⌋ of the map:
//
//   pkr     Δ / (Δ + N |d₂ − d|)           Δ = max(0, S(d₂) − S(d)), d₂ the best of d ± 1, d ± 2: slope of the peak
//   fd      F / (F + 8 N)                  F = Σ |c − c̄| over pixels and bytes, c̄ the rounded mean: texture
//   msm     8 N / (8 N + S(d))             how well the match fits
//   msm_fd  msm · fd
//
// The thesis defines the raw measures, and states that the final map lies in [0, 1], but does not define the
// normalisation. In this stage, each confidence is ½ where the raw measure is a fixed number of grey levels per pixel:
// 1 for the slope, 8 for the texture and 8 for the difference. A monotone normalisation changes the values, but not the
// order of the pixels. Quotients are rounded to float. The confidence of an invalid pixel is 0.
//
// Input: prepared colours of both views, float disparity. Output: float in [0, 1].
// Required input: the window, in the right view displaced by the disparities.
// Cost: 1 (msm) to 5 (pkr) window sums per pixel.
#pragma once

#include "stages/shared/stage.hpp"
#include "stages/shared/windows.hpp"

namespace stereopsis::window_confidence {

enum class Measure { msm_fd, msm, fd, pkr };
constexpr auto names_of(Measure) {
  return std::array{std::pair{Measure::msm_fd, "msm_fd"}, std::pair{Measure::msm, "msm"}, std::pair{Measure::fd, "fd"},
                    std::pair{Measure::pkr, "pkr"}};
}

struct Parameters {
  static constexpr const char* stage = "window_confidence";
  Measure measure = Measure::msm_fd;
  window_sad::Parameters matching = {};  // window and weights of the matching cost

  static void describe(auto& p, auto&& visit) {
    visit("measure", p.measure, any, "measure from which confidence is computed");
  }
};

void oracle(const Parameters&, const window_sad::Window&, const window_sad::Source<ImageView>&,
            ImageView<const float> disparity, ImageView<float> confidence);
void cpu(const Parameters&, const window_sad::Window&, const window_sad::Source<ImageView>&,
         ImageView<const float> disparity, ImageView<float> confidence, Threads&);
void gpu(const Parameters&, const window_sad::Window&, const window_sad::Source<gpu::View>&,
         gpu::View<const float> disparity, gpu::View<float> confidence, gpu::Queue&);

}  // namespace stereopsis::window_confidence
