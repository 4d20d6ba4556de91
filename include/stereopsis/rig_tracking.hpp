// Follows a rig that moves while it runs: the rotation of the right camera, estimated from the pairs themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/rectification.hpp"
#include "stereopsis/rows.hpp"

namespace stereopsis {

// A rotation of the right camera about the axes of its rectified image, in degrees.
struct RigTurn {
  double pitch = 0;  // about x: rows move
  double yaw = 0;    // about y: disparities move
  double roll = 0;   // about z

  // Returns the largest of the three angles.
  double most() const { return std::max({std::abs(pitch), std::abs(yaw), std::abs(roll)}); }
  bool operator==(const RigTurn&) const = default;
};

// An event of a RigTracker.
struct RigNews {
  // The kinds of events.
  enum class Kind {
    corrected,    // a correction follows
    jumped,       // the rows of this pair are not those of the pairs before; corrected if the next pairs confirm it
    lost,         // no pair has shown the rig for RigTracker::pairs_to_lose pairs
    found,        // this pair shows the rig again
    unconfirmed,  // rows show a yaw, but with it points would be behind infinity, so that it is not corrected
  };

  Kind kind = Kind::corrected;  // kind of the event
  std::size_t pair = 0;         // number of the pair that shows it, from 0
  RigTurn turn = {};            // size of the correction, or of the jump
  RigTurn deviation = {};       // standard deviation of the angles after the correction

  // Returns whether the user should look at the cameras.
  bool is_warning() const { return kind == Kind::jumped || kind == Kind::lost; }
  // Returns one sentence, without the name of the pair.
  std::string sentence() const;
};

// Returns the name of a kind, such as "corrected".
const char* to_string(RigNews::Kind kind);

// Estimates by how much the right camera of a rig has turned, from the rows of the pairs of a sequence, and gives each pair
// the maps with which it should be rectified. A filter keeps what lasts; offsets that jump from pair to pair belong to the
// alignment of rows. The left images and the rig stay as they are, so that results of all pairs can be compared.
//
// Corrections are changes since the first pairs. If the rows of these differ by less than 0.3 px, that is left to the
// alignment of rows, and their yaw is that of the given rig, because errors of lenses show the same rows.
//
// A pair has the maps that follow from the pairs up to `delay` pairs before it, whatever the time, so that results can
// be repeated. Several threads may use a tracker. New maps are computed by a thread of the tracker.
class RigTracker {
 public:
  static constexpr std::size_t delay = 8;           // pairs from an estimate to the first pair that uses it
  static constexpr std::size_t pairs_to_lose = 30;  // pairs without the rig until the tracker has lost it
  // The rows of one of so many pairs are sufficient, if they are not measured for other purposes.
  static constexpr std::size_t one_of = 4;

  // `cameras`: the raw cameras, or cameras_of() the rig of rectified pairs. Throws the errors of rectification_maps().
  explicit RigTracker(const StereoCalibration& cameras);
  ~RigTracker();

  // Returns the maps of a pair, and waits until add() was called for all pairs up to `delay` pairs before it. The right
  // images of pairs that are corrected may lack pixels, even if those of the first pairs are complete.
  std::shared_ptr<const RectificationMaps> maps_for(std::size_t pair);
  // Notes the rows of a pair that was rectified by these maps; nothing if they were not measured. Must be called once for
  // each pair, in any order.
  void add(std::size_t pair, std::optional<RowMeasurement> rows);

  // Returns the number of pairs from the first one on whose rows were added.
  std::size_t pairs() const;
  // Returns the events since the last call.
  std::vector<RigNews> news();
  // Returns the rotation since the start that is known now.
  RigTurn turn() const;
  // Returns the corrected cameras. The rectified left images and the rig are those of the given cameras.
  StereoCalibration calibration() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns cameras whose right camera is turned. The rectified left images and the rig stay as they are.
StereoCalibration turned(const StereoCalibration& cameras, const RigTurn& by);

}  // namespace stereopsis
