// Rigs from scenes: cameras that were turned are found from rendered pairs.
#include "stereopsis/rig_refinement.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "geometry/rotations.hpp"
#include "stereopsis/error.hpp"
#include "support/rigs.hpp"

namespace stereopsis::rig_refinement_test {
namespace {

constexpr Size size = {320, 240};
constexpr double degree = 0.017453292519943295;

// Smooth noise with several frequencies.
class Noise {
 public:
  explicit Noise(unsigned seed) {
    std::mt19937 random(seed);
    for (double& v : values_) v = static_cast<double>(random() % 1000) / 1000;
  }
  double operator()(double x, double y) const { return 0.5 * octave(x, y) + 0.5 * octave(2.3 * x + 5, 2.3 * y + 9); }

 private:
  double octave(double x, double y) const {
    const int u = static_cast<int>(std::floor(x)), v = static_cast<int>(std::floor(y));
    const auto smooth = [](double t) { return t * t * (3 - 2 * t); };
    const double fx = smooth(x - u), fy = smooth(y - v);
    const auto at = [&](int i, int j) { return values_[static_cast<std::size_t>((i & 63) * 64 + (j & 63))]; };
    return (at(u, v) * (1 - fx) + at(u + 1, v) * fx) * (1 - fy) +
           (at(u, v + 1) * (1 - fx) + at(u + 1, v + 1) * fx) * fy;
  }
  std::array<double, 64 * 64> values_{};
};

// Panels at random places and depths before a slanted wall; lengths are in mm. A flat scene has the wall only.
class Room {
 public:
  explicit Room(unsigned seed, bool flat = false) : noise_(seed), is_flat_(flat) {
    std::mt19937 random(seed);
    const auto in = [&](double low, double high) {
      return low + (high - low) * static_cast<double>(random() % 1000) / 999;
    };
    for (int i = 0; i < 4 && !flat; ++i) {
      const double z = in(1200, 1800) + 700 * i;
      panels_.push_back({z, in(-0.4, 0.4) * z, in(-0.3, 0.3) * z, in(0.1, 0.2) * z, in(0.1, 0.2) * z});
    }
  }

  // Returns the grey level on a ray from (origin, 0, 0).
  double operator()(const Vector3& ray, double origin) const {
    const double x = ray[0] / ray[2], y = ray[1] / ray[2];
    double depth = is_flat_ ? 4000 : (6000 - 0.2 * origin) / (1 + 0.2 * x + 0.4 * y);
    for (const Panel& p : panels_)
      if (p.depth < depth && std::abs(origin + x * p.depth - p.x) < p.half_width &&
          std::abs(y * p.depth - p.y) < p.half_height)
        depth = p.depth;
    const double texel = 0.02 * depth;
    return 255 * noise_((origin + x * depth) / texel + depth, y * depth / texel);
  }

 private:
  struct Panel {
    double depth, x, y, half_width, half_height;
  };
  Noise noise_;
  bool is_flat_;
  std::vector<Panel> panels_;
};

struct Rendered {
  StereoCalibration truth;
  std::vector<std::pair<AnyImage, AnyImage>> pairs;

  ReadPair reader() const {
    return [this](std::size_t i, const UsePair& use) { use(pairs[i].first, pairs[i].second); };
  }
};

// Renders pairs of cameras whose right one is turned by `turn` in degrees from the given calibration.
Rendered rendered(const StereoCalibration& given, const Vector3& turn, unsigned pairs, bool flat = false) {
  const Matrix3 by = rotation_by({turn[0] * degree, turn[1] * degree, turn[2] * degree});
  Rendered result{given, {}};
  StereoCalibration& truth = result.truth;
  truth.rotation = product(by, given.rotation);
  truth.translation = turned(by, given.translation);
  truth.right.rectification = product(given.right.rectification, transposed(by));
  for (unsigned i = 0; i < pairs; ++i) {
    const Room room(i + 1, flat);
    const auto seen = [&](const CalibratedCamera& camera, double origin) {
      return AnyImage(test::seen_by(camera, size, [&](const Vector3& ray) { return room(ray, origin); }));
    };
    result.pairs.emplace_back(seen(truth.left, 0), seen(truth.right, given.rig.baseline));
  }
  return result;
}

StereoCalibration plain_cameras() {
  return cameras_of(
      {.focal = 260, .cx_left = 159.5, .cx_right = 159.5, .cy = 119.5, .baseline = 120, .unit = "mm", .size = size});
}

// Returns the rotation by which two calibrations differ, in degrees.
Vector3 apart(const StereoCalibration& a, const StereoCalibration& b) {
  const Vector3 v = axis_and_angle_of(product(a.rotation, transposed(b.rotation)));
  return {v[0] / degree, v[1] / degree, v[2] / degree};
}

std::string described(const RigRefinement& refined) {
  std::ostringstream all;
  all << refined.sentence();
  for (const RigTerm& t : refined.terms) all << "; " << t.name << ' ' << t.correction << " ± " << t.deviation;
  return all.str();
}

TEST(RigRefinement, FindsARotationOfTheRightCamera) {
  for (const Vector3& turn : {Vector3{0.02, 0, 0}, Vector3{-1.5, 0.5, 1}}) {
    const StereoCalibration given = plain_cameras();
    const Rendered scene = rendered(given, turn, 3);
    const RigRefinement refined = refine_rig(given, 3, scene.reader());
    const Vector3 error = apart(refined.calibration, scene.truth);
    EXPECT_NEAR(error[0], 0, 0.02) << described(refined);
    EXPECT_LT(std::abs(error[1]), 3 * refined.terms[1].deviation) << described(refined);
    EXPECT_NEAR(error[2], 0, 0.02);
    EXPECT_LT(refined.rows_after, 0.1);
    EXPECT_GT(refined.rows_before, refined.rows_after - 0.01);
    EXPECT_NEAR(length(refined.calibration.translation), 120, 1e-6);
  }
}

TEST(RigRefinement, UsesTheLensesOfRawCameras) {
  const StereoCalibration given = test::calibration_for(size);
  const Rendered scene = rendered(given, {0.4, 0.2, -0.3}, 3);
  const RigRefinement refined = refine_rig(given, 3, scene.reader());
  const Vector3 error = apart(refined.calibration, scene.truth);
  EXPECT_NEAR(error[0], 0, 0.03) << described(refined);
  EXPECT_NEAR(error[2], 0, 0.03);
  EXPECT_GT(refined.rows_before, 1);
  EXPECT_LT(refined.rows_after, 0.1);
}

TEST(RigRefinement, EstimatesUnknownCameras) {
  const StereoCalibration cameras = plain_cameras();
  const Rendered scene = rendered(cameras, {3, -4, 2}, 1);
  for (const bool knows_focal : {true, false}) {
    const UnknownCameras known{size, knows_focal ? std::optional(260.0) : std::nullopt, {}};
    const RigRefinement found = estimate_rig(known, 1, scene.reader());
    EXPECT_LT(found.rows_after, 0.15) << described(found);
    if (knows_focal) {  // angles are relative to the focal length
      const Vector3 error = apart(found.calibration, scene.truth);
      EXPECT_LT(std::abs(error[0]), 3 * found.terms[0].deviation + 0.05) << described(found);
      EXPECT_LT(std::abs(error[2]), 3 * found.terms[2].deviation + 0.05) << described(found);
    }
    EXPECT_EQ(found.calibration.rig.unit, no_scale);
    EXPECT_NEAR(found.calibration.rig.baseline, 1, 1e-9);
    EXPECT_EQ(found.terms.back().name, std::string(knows_focal ? "k1_right" : "focal"));
  }
  const UnknownCameras known{size, 260, Length{12, "cm"}};
  const RigRefinement found = estimate_rig(known, 1, scene.reader());
  EXPECT_NEAR(found.calibration.rig.baseline, 120, 1e-6);
  EXPECT_EQ(found.calibration.rig.unit, "mm");
}

TEST(RigRefinement, RefusesImpossibleLengths) {
  const ReadPair none = [](std::size_t, const UsePair&) {};
  EXPECT_THROW(estimate_rig({size, -1, {}}, 1, none), Error);
  EXPECT_THROW(estimate_rig({size, {}, Length{0, "m"}}, 1, none), Error);
}

// Returns the message of the Error(format) that a refinement throws; "" if it throws none.
std::string refusal(const StereoCalibration& given, std::size_t pairs, const ReadPair& read) try {
  refine_rig(given, pairs, read);
  return "";
} catch (const Error& error) {
  return error.category() == ErrorCategory::format ? error.what() : "";
}

TEST(RigRefinement, RefusesScenesThatDoNotTell) {
  const StereoCalibration given = plain_cameras();
  const Rendered flat = rendered(given, {0.3, 0, 0}, 2, true);
  EXPECT_NE(refusal(given, 2, flat.reader()).find("near and far points"), std::string::npos);
  const AnyImage black(Image<std::uint8_t>(size, 1, 0));
  EXPECT_NE(
      refusal(given, 2, [&](std::size_t, const UsePair& use) { use(black, black); }).find("only 0 points were found"),
      std::string::npos);
}

}  // namespace
}  // namespace stereopsis::rig_refinement_test
