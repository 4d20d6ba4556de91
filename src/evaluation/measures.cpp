#include <cmath>
#include <limits>

#include "evaluation/checks.hpp"
#include "evaluation/quantile.hpp"
#include "stereopsis/evaluation.hpp"

namespace stereopsis {
namespace {

constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

void check_value(const char* name, float value, int x, int y) {
  if (std::isfinite(value) && std::abs(static_cast<double>(value)) > largest_disparity)
    throw Error(ErrorCategory::call,
                text("the ", name, " at x = ", x, ", y = ", y, " is ", value,
                     "; it must be within ±1000000 pixels, so check its scale and its byte order"));
}

// Calls f(disparity, truth) for every counted pixel, in double precision.
template <class F>
void for_each_counted(ImageView<const float> disparity, ImageView<const float> truth,
                      ImageView<const std::uint8_t> mask, F&& f) {
  check_plane("disparity", disparity);
  check_plane("truth", truth, disparity.size());
  check_mask_of(disparity.size(), mask);
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x)
      if (std::isfinite(truth(x, y)) && counts(mask, x, y)) {
        check_value("disparity", disparity(x, y), x, y);
        check_value("ground truth", truth(x, y), x, y);
        f(static_cast<double>(disparity(x, y)), static_cast<double>(truth(x, y)));
      }
}

double percent(long long part, long long whole) { return whole == 0 ? no_figure : 100.0 * part / whole; }

// The input of the measures: the errors of the valid pixels, and the number of invalid pixels.
struct Tally {
  std::vector<double> errors;
  long long d1 = 0;  // number of valid pixels that are errors by the definition of KITTI 2015
  long long invalid = 0;

  void add(double disparity, double truth) {
    if (!std::isfinite(disparity)) {
      ++invalid;
      return;
    }
    const double error = std::abs(disparity - truth);
    errors.push_back(error);
    d1 += error > 3 && error > 0.05 * std::abs(truth);
  }
};

Measures measure(Tally tally) {
  const auto valid = static_cast<long long>(tally.errors.size());
  Measures m;
  m.counted = valid + tally.invalid;
  const auto bad = [&](double threshold) {
    return percent(tally.invalid + std::ranges::count_if(tally.errors, [=](double e) { return e > threshold; }),
                   m.counted);
  };
  m.bad05 = bad(0.5);
  m.bad10 = bad(1);
  m.bad20 = bad(2);
  m.bad40 = bad(4);
  m.out3 = bad(3);
  m.d1 = percent(tally.invalid + tally.d1, m.counted);
  m.density = percent(valid, m.counted);
  m.avgerr = m.rms = m.a90 = m.a95 = m.a99 = no_figure;
  if (valid == 0) return m;

  double sum = 0, squares = 0;
  for (const double error : tally.errors) {
    sum += error;
    squares += error * error;
  }
  m.avgerr = sum / valid;
  m.rms = std::sqrt(squares / valid);
  m.a90 = quantile(tally.errors, 90);
  m.a95 = quantile(tally.errors, 95);
  m.a99 = quantile(tally.errors, 99);
  return m;
}

}  // namespace

Evaluation evaluate(ImageView<const float> disparity, ImageView<const float> truth,
                    ImageView<const std::uint8_t> mask) {
  Tally tally;
  for_each_counted(disparity, truth, mask, [&](double d, double t) { tally.add(d, t); });
  Evaluation evaluation;
  evaluation.all = measure(tally);
  tally.invalid = 0;
  evaluation.valid = measure(std::move(tally));
  return evaluation;
}

double bad_pixels(ImageView<const float> disparity, ImageView<const float> truth, ImageView<const std::uint8_t> mask,
                  double threshold) {
  check_threshold(threshold);
  long long bad = 0, counted = 0;
  for_each_counted(disparity, truth, mask, [&](double d, double t) {
    ++counted;
    bad += !(std::abs(d - t) <= threshold);  // an error of NaN counts as bad
  });
  return percent(bad, counted);
}

Image<std::uint8_t> nonoccluded(ImageView<const float> truth_left, ImageView<const float> truth_right) {
  check_plane("left truth", truth_left);
  check_plane("right truth", truth_right, truth_left.size());
  const auto agrees = [&](int x, int y) {
    const double left = truth_left(x, y);
    if (!std::isfinite(left)) return false;
    const double seen = x - std::floor(left + 0.5);
    if (seen < 0 || seen >= truth_right.width) return false;
    // The comparison is false if the disparity is unknown.
    return std::abs(left - truth_right(static_cast<int>(seen), y)) <= 1;
  };
  Image<std::uint8_t> mask(truth_left.size());
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) mask(x, y) = agrees(x, y) ? 255 : 0;
  return mask;
}

}  // namespace stereopsis
