// Judges the pairs of a sequence: which of them are checked, and what is wrong with those that do not fit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "stereopsis/image.hpp"
#include "stereopsis/pair_check.hpp"

namespace stereopsis {

// Kinds of faults of a pair: both images are the same picture, one image is turned, one camera is above the other, the
// images show different scenes, rows do not correspond, disparities are negative, one image is a frame late, both images
// have the same pattern at the same place, many points lie outside the search range, rows differ by a little and were not
// aligned.
enum class PairFaultKind {
  same_picture,
  turned,
  vertical,
  unrelated,
  rows,
  negative,
  late,
  shared_pattern,
  outside_range,
  unaligned
};

// Returns a short name, such as "rows differ".
const char* to_string(PairFaultKind kind);

// A fault of a pair.
struct PairFault {
  PairFaultKind kind;    // the kind of the fault
  std::string sentence;  // says what is wrong; advice may follow after a semicolon
  // The left image seems to be of the right camera or, for `vertical`, of the lower one. For `outside_range`: the points
  // are farther than the range, not nearer.
  bool swapped = false;
};

// Returns the faults of a pair; none if it fits, or is not judged.
std::vector<PairFault> faults_of(const PairReport& report);

// Returns the reason for which a pair is not judged, such as its size; "" if it is judged.
std::string why_not_judged(const PairReport& report);

// Returns the fault of a pair whose image `image` fits `other`, the other camera's image of the frame before.
PairFault late_fault(const std::string& image, const std::string& other);

// Returns whether an eye that is a frame late may be the cause of a fault of this kind.
bool may_be_late(PairFaultKind kind);

// A camera of a pair.
enum class Eye { left, right };

// Returns the image that is a frame late: it fits the other camera's image of the neighbouring frame before it, or the
// other image fits that of the frame after it. Throws as check_pair().
std::optional<Eye> late_eye(const AnyImageView& left, const AnyImageView& right, const AnyImageView& left_of_neighbour,
                            const AnyImageView& right_of_neighbour, bool neighbour_is_before);

// Returns the fault of a pair of a sequence if both cameras show the same pattern at the same place in this frame and in
// a neighbouring one, while the scene moves: a watermark, a time that was drawn over both. Throws as check_pair().
std::optional<PairFault> fixed_pattern_fault(const AnyImageView& left, const AnyImageView& right,
                                             const AnyImageView& left_of_neighbour,
                                             const AnyImageView& right_of_neighbour);

// Decides which pairs of a sequence are checked, and counts the faults. Only one thread may use it at a time.
class PairJudge {
 public:
  // The first pair with a kind of fault, and the number of pairs that have it.
  struct Known {
    PairFaultKind kind;        // the kind of the fault
    std::size_t first, pairs;  // number of the first pair; number of pairs
  };

  // Returns whether pair `number`, from 0, is to be checked, of which the share `measured` (0 to 1) of the usable pixels
  // was measured: the first pair, every 32nd one, and pairs of which much less was measured than of the pairs before
  // them. A sound pair of which little was measured counts at once, so that a dark or noisy sequence is not checked
  // again and again. Once several pairs had faults, no more are checked.
  bool checks(std::size_t number, double measured) const;
  // Returns whether pair `number` is checked whatever was measured, unless no more pairs are checked.
  static bool is_sample(std::size_t number) { return number % sample_step == 0; }
  // Returns whether no more pairs are checked, because too many had faults.
  bool has_given_up() const { return unsound_ >= most_unsound; }

  // Records a pair that has no fault or was not checked, and the share of its pixels that was measured.
  void record_sound(double measured);
  // Returns the faults of a kind that no earlier pair has.
  std::vector<PairFault> record(const std::vector<PairFault>& faults, std::size_t number);

  // Returns the kinds of faults that were recorded.
  const std::vector<Known>& known() const { return known_; }

 private:
  static constexpr std::size_t sample_step = 32, most_unsound = 9;

  std::vector<Known> known_;
  double usual_ = 0;  // the share that is usually measured, of the pairs before; 0 before the first one
  std::size_t unsound_ = 0;
};

}  // namespace stereopsis
