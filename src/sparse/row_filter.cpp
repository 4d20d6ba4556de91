// Estimates the alignments of a sequence: a Kalman filter over the terms of row differences, in which only the offset
// changes from pair to pair.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "sparse/row_motion.hpp"
#include "sparse/rows.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis {
namespace {

using namespace sparse;

// Standard deviations, in pixels: of terms of which nothing is known, of their changes from pair to pair, and of the
// offset around its mean as long as few pairs are known. The offset has a model of its own.
constexpr Terms at_start = {40, 40, 40, 40, 20}, change = {0, 0.01, 0.01, 0.01, 0.05};
constexpr double offset_at_start = 1;
constexpr double trust =
    0.5;  // the deviations of a fit are this part of the true ones, because errors of tracks are related
// A coefficient that is further away than this from its prediction belongs to other cameras.
constexpr double most_deviations = 6, most_apart = 0.1;
// Shutters are out of step if the offsets of this many pairs jump by this standard deviation, in pixels, and if the motion
// explains this share of their variance.
constexpr int least_pairs = 20;
constexpr double least_jumps = 0.05, least_share = 0.5;
constexpr int most_pairs = 50;                              // pairs from which the mean of the offset is taken
constexpr double rms_to_stop = RowEstimate::least_rms / 2;  // rows that were aligned are aligned down to this value

double square(double value) { return value * value; }

Matrix<all_terms> information_of(const RowMeasurement& pair) {
  Matrix<all_terms> information = pair.information;
  for (Terms& row : information)
    for (double& value : row) value *= square(trust);
  return information;
}

// The coefficients of the plane that the terms cause in a pair whose disparities have the plane `disparities`.
struct Planes {
  std::array<double, plane_terms> values, deviations;

  Planes(const Terms& terms, const Matrix<all_terms>& covariance, const std::array<double, plane_terms>& disparities) {
    for (std::size_t i = 0; i < plane_terms; ++i) {
      Terms factors{};
      factors[i] = 1;
      factors[plane_terms] = disparities[i];
      values[i] = product(factors, terms);
      deviations[i] = std::sqrt(std::max(product(factors, product(covariance, factors)), 0.0));
    }
  }

  static RowAlignment on_grid(const std::array<double, plane_terms>& v) {
    return {to_grid(v[0]), to_grid(v[1]), to_grid(v[2]), to_grid(v[3])};
  }
};

// Returns whether an alignment differs by more than the deviation from the one that is shown.
bool is_other(const RowAlignment& shown, const RowAlignment& now, const RowAlignment& deviation) {
  return RowAlignment{now.offset - shown.offset, now.roll - shown.roll, now.zoom - shown.zoom,
                      now.keystone - shown.keystone}
             .rms() > deviation.rms();
}

// Returns whether two alignments differ visibly.
bool differ(const RowAlignment& a, const RowAlignment& b) {
  constexpr int samples = 16;
  constexpr double visible = 0.05;  // px
  double sum = 0;
  for (int j = 0; j < samples; ++j)
    for (int i = 0; i < samples; ++i) {
      const double s = (i + 0.5) / samples - 0.5, t = (j + 0.5) / samples - 0.5;
      sum += square(a.at(s, t) - b.at(s, t));
    }
  return sum > square(samples * visible);
}

// Returns the estimate of a pair with a field, from this pair alone: its plane depends on its waves.
RowEstimate estimate_alone(const RowMeasurement& pair, const RowAlignment& shown) {
  const Matrix<all_terms> covariance = inverse(sum(information_of(pair), inverse(covariance_of(at_start))));
  const Planes planes(pair.terms, covariance, pair.disparities);
  RowAlignment now = Planes::on_grid(planes.values);
  now.field = pair.field;
  RowEstimate e;
  e.plane = differ(shown, now) ? now : shown;
  e.deviation = Planes::on_grid(planes.deviations);
  e.tracks = pair.tracks;
  e.remaining = pair.remaining;
  if (e.tracks >= RowEstimate::enough_tracks)
    e.reason = e.deviation.rms() > RowEstimate::most_deviation ? NoAlignment::uncertain : NoAlignment::none;
  if (e.reason == NoAlignment::none) e.alignment = e.plane;
  return e;
}

// Returns whether a pair has rows that the earlier ones do not predict. The offset may be any.
bool are_of_other_cameras(const Planes& predicted, const Planes& measured) {
  for (std::size_t i = 1; i < plane_terms; ++i) {
    const double deviation = std::sqrt(square(predicted.deviations[i]) + square(measured.deviations[i]));
    if (std::abs(predicted.values[i] - measured.values[i]) > most_deviations * deviation + most_apart) return true;
  }
  return false;
}

}  // namespace

RowEstimate RowFilter::next(const RowMeasurement& pair) {
  if (pair.size != size_) start(pair.size);
  if (!pair.field.empty()) {
    const RowEstimate e = estimate_alone(pair, shown_);
    shown_ = e.plane;
    is_aligned_ = e.alignment.has_value();
    return e;
  }
  predict();
  if (pairs_ > 0) {
    const Matrix<all_terms> alone = inverse(sum(information_of(pair), inverse(covariance_of(at_start))));
    if (are_of_other_cameras(Planes(terms_, covariance_, pair.disparities),
                             Planes(pair.terms, alone, pair.disparities)))
      start(pair.size);
  }
  update(pair);
  follow(pair);
  return estimate(pair);
}

void RowFilter::start(Size size) {
  *this = {};
  size_ = size;
  covariance_ = covariance_of(at_start);
}

// Predicts the terms of the next pair. Its offset is one of those of the earlier pairs.
void RowFilter::predict() {
  if (pairs_ == 0) return;
  covariance_ = sum(covariance_, covariance_of(change));
  for (std::size_t i = 0; i < all_terms; ++i) covariance_[0][i] = covariance_[i][0] = 0;
  covariance_[0][0] = (pairs_ * variance_of_offset_ + square(offset_at_start)) / (pairs_ + 1);
  terms_[0] = mean_offset_;
}

// Joins the prediction and the measurement, with weights that follow from their covariances.
void RowFilter::update(const RowMeasurement& pair) {
  join(terms_, covariance_, pair.terms, information_of(pair));

  pairs_ = std::min(pairs_ + 1, most_pairs);
  const double apart = terms_[0] - mean_offset_;
  mean_offset_ += apart / pairs_;
  variance_of_offset_ += (apart * (terms_[0] - mean_offset_) - variance_of_offset_) / pairs_;
}

// Notes the offset of the pair before, at which the images moved by the mean of the motions before and after it.
void RowFilter::follow(const RowMeasurement& pair) {
  Motions& m = motions_;
  const std::optional<double> motion = vertical_motion(m.profile, pair.profile);
  if (motion && m.last) {
    const double at_pair = (*motion + *m.last) / 2;
    ++m.count;
    m.motion += at_pair;
    m.offsets += m.offset;
    m.motion_squared += square(at_pair);
    m.offset_squared += square(m.offset);
    m.product += at_pair * m.offset;
  }
  m.profile = pair.profile;
  m.last = pair.tracks >= RowEstimate::enough_tracks ? motion : std::nullopt;
  m.offset = terms_[0];
}

std::optional<ShutterDelay> RowFilter::shutters() const {
  const Motions& m = motions_;
  if (m.count < least_pairs) return {};
  const double of_motion = m.motion_squared - square(m.motion) / m.count,
               of_offset = m.offset_squared - square(m.offsets) / m.count,
               of_both = m.product - m.motion * m.offsets / m.count;
  if (of_motion <= 0 || of_offset <= 0) return {};
  const double delay = of_both / of_motion, correlation = of_both / std::sqrt(of_motion * of_offset);
  const double jumps = std::abs(delay) * std::sqrt(of_motion / m.count);
  if (square(correlation) < least_share || jumps < least_jumps) return {};
  return ShutterDelay{.pairs = delay, .correlation = correlation, .count = m.count};
}

std::string ShutterDelay::sentence() const {
  const auto rounded = [](double value, double steps) { return std::round(value * steps) / steps; };
  return text("the offset of the rows follows the vertical motion of the images (correlation ",
              rounded(correlation, 100), " over ", count, " pairs): the right image is taken ",
              rounded(std::abs(pairs), 1000), " of the time between two pairs ", pairs > 0 ? "later" : "earlier",
              " than the left one; trigger both cameras at the same time");
}

RowEstimate RowFilter::estimate(const RowMeasurement& pair) {
  const Planes planes(terms_, covariance_, pair.disparities);
  RowEstimate e;
  e.deviation = Planes::on_grid(planes.deviations);
  if (const RowAlignment now = Planes::on_grid(planes.values);
      !shown_.field.empty() || is_other(shown_, now, e.deviation))
    shown_ = now;
  e.plane = shown_;
  e.tracks = pair.tracks;
  e.remaining = pair.remaining;
  is_known_ |= e.tracks >= RowEstimate::enough_tracks && e.deviation.rms() <= RowEstimate::most_deviation;
  const double rms = shown_.rms(), least = is_aligned_ ? rms_to_stop : RowEstimate::least_rms;
  if (!is_known_ || e.deviation.rms() > std::max(RowEstimate::most_deviation, rms / 2))
    e.reason = e.tracks < RowEstimate::enough_tracks ? NoAlignment::few_tracks : NoAlignment::uncertain;
  else
    e.reason = rms < least ? NoAlignment::rows_agree : NoAlignment::none;
  is_aligned_ = e.reason == NoAlignment::none;
  if (is_aligned_) e.alignment = shown_;
  return e;
}

}  // namespace stereopsis
