#include "geometry/rig_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/rotations.hpp"

namespace stereopsis {
namespace {

using sparse::NormalEquations;

enum Term : std::size_t { pitch, yaw, roll, zoom, slant };
constexpr double radians = std::numbers::pi / 180;

// Standard deviations in degrees: of rotations at the start, and of their changes from pair to pair. The yaw is known
// worst, and changes all disparities.
constexpr double turned_at_start = 1, usual_change = 0.001, usual_change_of_yaw = 0.0001;
// Standard deviations of given rigs: of the ratio of the focal lengths, and of the direction of the baseline.
constexpr double usual_zoom = 0.002, usual_slant = 0.3 * radians;
constexpr double not_shown = 40;  // standard deviation of terms that the tracks of a pair do not show, in pixels
constexpr double trust = 0.5;     // the deviations of a fit are this part of the true ones, as in RowFilter
constexpr int least_tracks = RowEstimate::enough_tracks;
constexpr double most_remaining = 0.5;  // spread of the tracks of a pair that shows the rig, in pixels

// Pairs: from which an estimate is used, that confirm a jump, between corrections, over which the scatter is estimated.
constexpr int enough_pairs = 5;
constexpr std::size_t between_corrections = 10;
constexpr double scatter_pairs = 20;
// A pair shows a jump if a term differs by this many deviations, and rows by so many pixels.
constexpr double jump_deviations = 6, jump_rows = 0.3;
// A correction requires that the angle differs by this many deviations, and moves rows or disparities by so many pixels.
constexpr double least_deviations = 4, least_rows = 0.05, least_shift = 0.25;
constexpr double most_rows_at_start =
    0.3;                               // root mean square of the rows of a given rig that is not corrected, in pixels
constexpr double behind_infinity = 1;  // pixels by which disparities of far points may be too small

double square(double v) { return v * v; }
constexpr std::array angles = {&RigTurn::pitch, &RigTurn::yaw, &RigTurn::roll};

RigTurn turn_of(const std::array<double, RigFilter::terms>& v) { return {v[pitch], v[yaw], v[roll]}; }

}  // namespace

RigFilter::RigFilter(const Rig& rig) : rig_(rig) {
  constexpr double step = 0.01;
  const double w = rig.size.width, h = rig.size.height, degree = rig.focal * radians;
  for (const std::size_t term : {pitch, yaw, roll}) {
    RigTurn turn;
    turn.*angles[term] = step;
    const Vector rows = rows_of(turn);
    for (std::size_t i = 0; i < terms; ++i) to_rows_[i][term] = rows[i] / step;
  }
  to_rows_[2][zoom] = to_rows_[4][slant] = 1;
  to_rows_[0][slant] = -(rig.cx_left - rig.cx_right) / w;  // a rotation alone moves points at infinity
  prior_ = {turned_at_start, turned_at_start, turned_at_start, usual_zoom * h, usual_slant * w};
  change_ = {usual_change, usual_change_of_yaw, usual_change, 0.01 * prior_[zoom], 0.01 * prior_[slant]};
  const Vector one_pixel = {1 / degree, 4 * rig.focal / (w * h * radians), 2 / (w * radians), 0, 0};
  for (const std::size_t term : {pitch, yaw, roll}) {
    tolerance_[term] = jump_rows * one_pixel[term];
    least_[term] = least_rows * one_pixel[term];
    scatter_[term] = square(least_[term]);
  }
  least_[yaw] = least_shift / degree;
  estimate_.covariance = sparse::covariance_of(prior_);
}

// A jump turns a camera, and leaves the other terms as they are.
RigFilter::Estimate RigFilter::turned_anyhow() const {
  Estimate jump = estimate_;
  jump.pairs = 0;
  for (const std::size_t i : {pitch, yaw, roll}) {
    for (std::size_t j = 0; j < terms; ++j) jump.covariance[i][j] = jump.covariance[j][i] = 0;
    jump.covariance[i][i] = square(prior_[i]);
  }
  return jump;
}

// Samples at these places have the mean square of an image, so that the terms are those of a plane through it.
std::array<double, RigFilter::terms> RigFilter::rows_of(const RigTurn& turn) const {
  const double place = 1 / std::sqrt(12.0);
  const Matrix3 rotation = rotation_by({turn.pitch * radians, turn.yaw * radians, turn.roll * radians});
  std::array<double, terms> found{};
  for (const double u : {-place, place})
    for (const double v : {-place, place}) {
      const double x = (u + 0.5) * rig_.size.width - 0.5, y = (v + 0.5) * rig_.size.height - 0.5;
      const Vector3 ray =
          stereopsis::turned(rotation, {(x - rig_.cx_right) / rig_.focal, (y - rig_.cy) / rig_.focal, 1});
      const double rows = rig_.focal * ray[1] / ray[2] + rig_.cy - y;
      found[0] += rows / 4, found[1] += 3 * u * rows, found[2] += 3 * v * rows, found[3] += 36 * u * v * rows;
    }
  return found;
}

RigFilter::Seen RigFilter::seen_in(const RowMeasurement& rows, const RigTurn& applied) const {
  Vector measured = rows.terms;
  const Vector before = sparse::product(to_rows_, Vector{applied.pitch, applied.yaw, applied.roll, 0, 0});
  for (std::size_t i = 0; i < terms; ++i) measured[i] += before[i];
  Matrix normal{}, information{};
  Vector right{};
  for (std::size_t i = 0; i < terms; ++i)
    for (std::size_t j = 0; j < terms; ++j) {
      right[i] += to_rows_[j][i] * measured[j];
      for (std::size_t k = 0; k < terms; ++k) {
        normal[i][j] += to_rows_[k][i] * to_rows_[k][j];
        for (std::size_t l = 0; l < terms; ++l)
          information[i][j] += square(trust) * to_rows_[k][i] * rows.information[k][l] * to_rows_[l][j];
      }
    }
  for (std::size_t i = 0; i < terms; ++i) information[i][i] += square(1 / not_shown);
  return {NormalEquations<terms>(normal).solution(right), sparse::inverse(information),
          rows.far * rig_.size.width - (rig_.cx_left - rig_.cx_right) - rig_.focal * radians * applied.yaw};
}

// Returns whether the rows of a pair may be those of the estimate, with the scatter of the pairs so far.
bool RigFilter::fits(const Estimate& estimate, const Seen& seen) const {
  for (const std::size_t i : {pitch, yaw, roll}) {
    const double deviation = std::sqrt(estimate.covariance[i][i] + seen.covariance[i][i] + scatter_[i]);
    if (std::abs(seen.values[i] - estimate.values[i]) > jump_deviations * deviation + tolerance_[i]) return false;
  }
  return true;
}

void RigFilter::update(Estimate& estimate, const Seen& seen) const {
  Matrix covariance = seen.covariance;
  for (std::size_t i = 0; i < terms; ++i) covariance[i][i] += scatter_[i];
  sparse::join(estimate.values, estimate.covariance, seen.values, sparse::inverse(covariance));
  ++estimate.pairs;
}

// Differences of successive pairs show their scatter, whatever the drift is.
void RigFilter::note_scatter(const Seen& seen) {
  if (last_)
    for (const std::size_t i : {pitch, yaw, roll}) {
      constexpr double most = 9;  // single pairs may be wrong
      const double known = seen.covariance[i][i], apart = square(seen.values[i] - (*last_)[i]) / 2;
      scatter_[i] = std::max(
          0.0, scatter_[i] + (std::min(apart, most * (known + scatter_[i])) - known - scatter_[i]) / scatter_pairs);
    }
  last_ = seen.values;
}

std::vector<RigNews> RigFilter::next(const std::optional<RowMeasurement>& rows, const RigTurn& applied) {
  std::vector<RigNews> news;
  for (Estimate* const e : {&estimate_, jump_ ? &*jump_ : nullptr})
    if (e != nullptr && e->pairs > 0) e->covariance = sparse::sum(e->covariance, sparse::covariance_of(change_));
  ++unseen_;
  // The plane of rows that have a field depends on their waves, so that it does not show the rig.
  if (rows && rows->field.empty() && rows->tracks >= least_tracks && rows->remaining <= most_remaining)
    follow(seen_in(*rows, applied), news);
  if (unseen_ >= RigTracker::pairs_to_lose && !is_lost_) {
    is_lost_ = true;
    news.push_back({.kind = RigNews::Kind::lost, .pair = pair_});
  }
  ++pair_, ++since_corrected_;
  return news;
}

// Adds a pair to the estimate, or to that of a jump, which replaces the estimate once enough pairs confirm it.
void RigFilter::follow(const Seen& seen, std::vector<RigNews>& news) {
  const bool is_first = estimate_.pairs == 0;
  if (is_first || fits(estimate_, seen)) {
    jump_.reset();
    note_scatter(seen);
    update(estimate_, seen);
  } else {
    if (!jump_ || !fits(*jump_, seen)) {
      Vector apart = seen.values;
      for (std::size_t i = 0; i < terms; ++i) apart[i] -= estimate_.values[i];
      if (!jump_) news.push_back({.kind = RigNews::Kind::jumped, .pair = pair_, .turn = turn_of(apart)});
      jump_ = turned_anyhow();
      last_.reset();
    }
    update(*jump_, seen);
    if (jump_->pairs < enough_pairs) return;
    estimate_ = *std::exchange(jump_, std::nullopt);
    since_corrected_ = between_corrections;
  }
  unseen_ = 0;
  if (is_lost_) news.push_back({.kind = RigNews::Kind::found, .pair = pair_});
  is_lost_ = false;
  if (estimate_.pairs >= enough_pairs && since_corrected_ >= between_corrections) correct(seen, news);
}

// Small errors of the given rig are left to the alignment of rows. Its yaw is not judged, because errors of lenses show the
// same rows.
RigFilter::Estimate RigFilter::start_of_corrections() const {
  Estimate start = estimate_;
  const Vector rows = rows_of({estimate_.values[pitch], 0, estimate_.values[roll]});
  const bool is_wrong = RowAlignment{rows[0], rows[1], rows[2], rows[3]}.rms() > most_rows_at_start;
  for (const std::size_t i : {pitch, yaw, roll}) {
    if (is_wrong && i != yaw) start.values[i] = start.covariance[i][i] = 0;
  }
  return start;
}

// Corrects the angles that differ clearly from those that are corrected already.
void RigFilter::correct(const Seen& seen, std::vector<RigNews>& news) {
  if (!start_) start_ = start_of_corrections();
  RigTurn by, deviation;
  for (const std::size_t i : {pitch, yaw, roll}) {
    deviation.*angles[i] = std::sqrt(estimate_.covariance[i][i] + start_->covariance[i][i]);
    const double apart = estimate_.values[i] - start_->values[i] - turn_.*angles[i];
    if (std::abs(apart) > std::max(least_[i], least_deviations * deviation.*angles[i])) by.*angles[i] = apart;
  }
  if (by.yaw != 0) {
    const bool is_behind = seen.far + rig_.focal * radians * (turn_.yaw + by.yaw) < -behind_infinity;
    if (is_behind && !has_refused_yaw_)
      news.push_back(
          {.kind = RigNews::Kind::unconfirmed, .pair = pair_, .turn = {.yaw = by.yaw}, .deviation = deviation});
    has_refused_yaw_ = is_behind;
    if (is_behind) by.yaw = 0;
  }
  if (by == RigTurn()) return;
  for (const std::size_t i : {pitch, yaw, roll}) turn_.*angles[i] += by.*angles[i];
  since_corrected_ = 0;
  news.push_back({.kind = RigNews::Kind::corrected, .pair = pair_, .turn = by, .deviation = deviation});
}

}  // namespace stereopsis
