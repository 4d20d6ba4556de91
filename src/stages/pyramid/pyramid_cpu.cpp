#include "device/cpu/threads.hpp"
#include "stages/pyramid/pyramid.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/pyramid/pyramid_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/shared/window_sum_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::pyramid::HWY_NAMESPACE {

class Rows {
 public:
  Rows(const Parameters& p, const window_sad::Window& window, const wta::Parameters& select, const Input<ImageView>& in,
       const Output<ImageView>& out)
      : p_(p), area_(window.area()), select_(select), in_(in), out_(out), sum_(window, in.reference, in.other) {}

  void run(int first, int last) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < in_.reference.width; ++x) refine(x, y);
  }

 private:
  struct Candidate {
    int disparity = 0, sum = -1;  // a sum of −1 means that there is no candidate
  };

  void refine(int x, int y) {
    if (!in_.mask_reference.empty() && in_.mask_reference(x, y) == 0)
      return set(x, y, invalid_disparity, validity::masked, 0);
    const float above = in_.guess(x / 2, y / 2);
    if (!(above == above)) return set(x, y, invalid_disparity, validity::no_candidate, 0);
    const int guess = std::clamp(2 * static_cast<int>(above), in_.range.min, in_.range.max());
    Candidate best, second, guessed;
    const int first = guess - (p_.range - 1) / 2, last = guess + p_.range / 2;
    for (int block = first; block <= last; block += 4) {
      std::array<int, 4> sums;
      sum_.at(x, y, in_.direction < 0 ? -(block + 3) : block, sums);
      for (int d = block; d <= std::min(block + 3, last); ++d) {
        if (!is_candidate(x, y, d)) continue;
        const Candidate next{d, sums[in_.direction < 0 ? block + 3 - d : d - block]};
        if (d == guess) guessed = next;
        if (best.sum < 0 || next.sum < best.sum) {
          second = best;
          best = next;
        } else if (second.sum < 0 || next.sum < second.sum) {
          second = next;
        }
      }
    }
    if (best.sum < 0) return set(x, y, invalid_disparity, validity::no_candidate, 0);
    const float confidence = second.sum < 0 ? 0.0f : wta::confidence_of(best.sum, second.sum);
    const auto slope = 256 * static_cast<std::int64_t>(second.sum - best.sum);
    const auto least = static_cast<std::int64_t>(p_.keep_256()) * area_ * std::abs(second.disparity - best.disparity);
    if (second.sum >= 0 && slope < least && guessed.sum >= 0) best = guessed;
    set(x, y, static_cast<float>(best.disparity) + offset(x, y, best), 0, confidence);
  }

  int sum(int x, int y, int d) const { return sum_.at(x, y, in_.direction * d); }

  bool is_candidate(int x, int y, int d) const {
    const int there = x + in_.direction * d;
    return d >= in_.range.min && d <= in_.range.max() &&
           (select_.border_candidates || (there >= 0 && there < in_.other.width)) &&
           (in_.mask_other.empty() || in_.mask_other.clamped(there, y) != 0);
  }

  float offset(int x, int y, const Candidate& best) const {
    const int d = best.disparity;
    if (select_.subpixel == wta::Subpixel::none || !is_candidate(x, y, d - 1) || !is_candidate(x, y, d + 1)) return 0;
    const int before = sum(x, y, d - 1), behind = sum(x, y, d + 1);
    return best.sum > before || best.sum > behind ? 0.0f
                                                  : wta::subpixel_offset(select_.subpixel, before, best.sum, behind);
  }

  void set(int x, int y, float disparity, std::uint8_t validity, float confidence) {
    out_.disparity(x, y) = disparity;
    if (!out_.validity.empty()) out_.validity(x, y) = validity;
    if (!out_.confidence.empty()) out_.confidence(x, y) = confidence;
  }

  const Parameters& p_;
  const int area_;
  const wta::Parameters& select_;
  const Input<ImageView>& in_;
  const Output<ImageView>& out_;
  const window_sad::HWY_NAMESPACE::WindowSum sum_;
};

void refine_rows(const Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
                 const Input<ImageView>& in, const Output<ImageView>& out, int first, int last) {
  Rows(p, window, select, in, out).run(first, last);
}

}  // namespace stereopsis::pyramid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::pyramid {

HWY_EXPORT(refine_rows);

void cpu(const Parameters& p, const window_sad::Window& window, const wta::Parameters& select,
         const Input<ImageView>& in, const Output<ImageView>& out, Threads& threads) {
  threads.rows(in.reference.height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(refine_rows)(p, window, select, in, out, first, last);
  });
}

}  // namespace stereopsis::pyramid
#endif
