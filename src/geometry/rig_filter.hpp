// Follows the rotation of the right camera from pair to pair: a Kalman filter over the terms of row differences, beside
// which a second one follows a jump until it is confirmed. RigTracker uses it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "sparse/normal_equations.hpp"
#include "stereopsis/rig_tracking.hpp"

namespace stereopsis {

// Returns the maps of cameras of which only the right one has turned since `before`.
RectificationMaps with_turned_right(const RectificationMaps& before, const StereoCalibration& now);

class RigFilter {
 public:
  explicit RigFilter(const Rig& rig);

  // Notes the next pair, whose right image was turned by `applied`. Returns what it shows.
  std::vector<RigNews> next(const std::optional<RowMeasurement>& rows, const RigTurn& applied);
  // Returns the rotation by which pairs should be corrected now.
  const RigTurn& turn() const { return turn_; }

  // The terms: pitch, yaw and roll in degrees, and two that do not change: the zoom in pixels, and the difference of the
  // rows at a disparity of the image's width, in pixels.
  static constexpr std::size_t terms = 5;
  // Returns the terms of the rows, as RowMeasurement has them, that a small rotation causes.
  std::array<double, terms> rows_of(const RigTurn& turn) const;

 private:
  using Vector = sparse::Vector<terms>;
  using Matrix = sparse::Matrix<terms>;

  // The rig as a pair shows it.
  struct Seen {
    Vector values;
    Matrix covariance;
    double far = 0;  // disparity of far points without a correction, in pixels, less that of infinity
  };
  // The rig as the pairs so far show it.
  struct Estimate {
    Vector values{};
    Matrix covariance{};
    int pairs = 0;
  };

  Seen seen_in(const RowMeasurement& rows, const RigTurn& applied) const;
  Estimate turned_anyhow() const;
  Estimate start_of_corrections() const;
  bool fits(const Estimate& estimate, const Seen& seen) const;
  void update(Estimate& estimate, const Seen& seen) const;
  void note_scatter(const Seen& seen);
  void follow(const Seen& seen, std::vector<RigNews>& news);
  void correct(const Seen& seen, std::vector<RigNews>& news);

  Rig rig_;
  Matrix to_rows_{};  // terms of rows for each term of the rig
  Vector prior_{}, change_{}, tolerance_{}, least_{};
  std::size_t pair_ = 0, unseen_ = 0, since_corrected_ = 0;
  bool is_lost_ = false, has_refused_yaw_ = false;
  Estimate estimate_;
  std::optional<Estimate> start_;  // the rotation that is not corrected
  std::optional<Estimate> jump_;   // the estimate of the last pairs, if they show another rotation
  Vector scatter_{};               // variance of a pair's terms that the tracks do not explain
  std::optional<Vector> last_;     // terms of the pair before
  RigTurn turn_;
};

}  // namespace stereopsis
