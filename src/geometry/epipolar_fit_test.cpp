// Cameras that are fitted to points, compared with a bundle adjustment by Ceres.
#include "geometry/epipolar_fit.hpp"

#include <gtest/gtest.h>

#include "support/rigs.hpp"
#include "support/seen_points.hpp"
#ifdef STEREOPSIS_CERES
#include <ceres/ceres.h>
#endif

namespace stereopsis::epipolar_fit_test {
namespace {

using namespace epipolar;

constexpr Size size = {640, 480};
constexpr double noise = 0.1;  // pixels

// Returns random errors of a given calibration, a tenth of those that a refinement expects.
Vector<terms> random_errors(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Vector<terms> errors = usual(&Kind::given);
  for (double& v : errors) v *= 0.1 * normal(random);
  return errors;
}

TEST(EpipolarFit, GoesOnUntilItsStepsAreSmall) {
  const StereoCalibration truth = test::calibration_for(size);
  for (unsigned i = 0; i < 8; ++i) {
    Cameras off(truth);
    off.move(random_errors(i));
    Fit fit(off.rectified(truth), usual(&Kind::given));
    const std::vector<Point> points = test::seen_points(Cameras(truth), {size, 300, 0.1, noise, i});
    fit.solve(points, 1);
    const Vector<terms> found = correction(Cameras(truth), fit.cameras());
    fit.solve(points, 1);
    const Vector<terms> then = correction(Cameras(truth), fit.cameras());
    for (std::size_t k = 0; k < terms; ++k) EXPECT_NEAR(then[k], found[k], 1e-6) << kinds[k].name << " of rig " << i;
  }
}

#ifdef STEREOPSIS_CERES

// The distance between the projection of a point and its place in the right image, in standard deviations. A point is
// on the ray of its left pixel, at the inverse of a depth.
struct Projection {
  const Cameras& cameras;
  const Point& point;

  bool operator()(const double* change, const double* inverse, double* error) const {
    Vector<terms> by;
    std::copy_n(change, terms, by.begin());
    Cameras c = cameras;
    c.move(by);
    const Vector3 ray = c.left_ray(point.left[0], point.left[1]);
    const auto at =
        c.right.project(turned(c.rotation, {ray[0] - *inverse * c.centre[0], ray[1] - *inverse * c.centre[1],
                                            ray[2] - *inverse * c.centre[2]}));
    for (std::size_t i = 0; i < 2; ++i) error[i] = (at[i] - point.right[i]) / point.deviation;
    return true;
  }
};

struct Prior {
  Vector<terms> deviations;

  bool operator()(const double* change, double* error) const {
    for (std::size_t i = 0; i < terms; ++i) error[i] = change[i] / deviations[i];
    return true;
  }
};

// Adjusts the cameras and the depths of all points.
Cameras adjusted(const StereoCalibration& given, const std::vector<Point>& points) {
  using ceres::NumericDiffCostFunction, ceres::CENTRAL;
  Cameras cameras(given);
  Vector<terms> change{};
  std::vector<double> inverse(points.size(), 0.1 / length(cameras.centre));
  // The loss function without a second minimum comes first.
  ceres::CauchyLoss convex(1);
  ceres::TukeyLoss tukey(4.685);
  for (ceres::LossFunction* const loss :
       {static_cast<ceres::LossFunction*>(&convex), static_cast<ceres::LossFunction*>(&tukey)}) {
    ceres::Problem::Options owners;
    owners.loss_function_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
    ceres::Problem problem(owners);
    for (std::size_t i = 0; i < points.size(); ++i)
      problem.AddResidualBlock(
          new NumericDiffCostFunction<Projection, CENTRAL, 2, terms, 1>(new Projection{cameras, points[i]}), loss,
          change.data(), &inverse[i]);
    problem.AddResidualBlock(new NumericDiffCostFunction<Prior, CENTRAL, terms, terms>(new Prior{usual(&Kind::given)}),
                             nullptr, change.data());
    problem.SetManifold(change.data(), new ceres::SubsetManifold(terms, {focal}));
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::DENSE_SCHUR;
    options.max_num_iterations = 100;
    options.logging_type = ceres::SILENT;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    EXPECT_TRUE(summary.IsSolutionUsable()) << summary.BriefReport();
  }
  cameras.move(change);
  return cameras;
}

TEST(EpipolarFit, IsAsGoodAsABundleAdjustment) {
  constexpr unsigned rigs = 8;
  const StereoCalibration truth = test::calibration_for(size);
  Vector<terms> ours{}, theirs{};
  for (unsigned i = 0; i < rigs; ++i) {
    Cameras off(truth);
    off.move(random_errors(i));
    const StereoCalibration given = off.rectified(truth);
    const std::vector<Point> points = test::seen_points(Cameras(truth), {size, 300, 0.1, noise, i});
    Fit fit(given, usual(&Kind::given));
    fit.solve(points, 1);
    const Vector<terms> of_fit = correction(Cameras(truth), fit.cameras()),
                        of_ceres = correction(Cameras(truth), adjusted(given, points));
    for (std::size_t k = 0; k < terms; ++k) {
      ours[k] += of_fit[k] * of_fit[k];
      theirs[k] += of_ceres[k] * of_ceres[k];
    }
  }
  // Where a wrong point could as well be right, the two can differ.
  for (const Term k : {pitch, yaw, roll, down, forward, ratio, k1_left, k1_right})
    EXPECT_LT(std::sqrt(ours[k]), 1.1 * std::sqrt(theirs[k])) << kinds[k].name;
}

#else

TEST(EpipolarFit, IsAsGoodAsABundleAdjustment) {
  GTEST_SKIP() << "Ceres (libceres-dev) was not found, or a sanitizer runs";
}

#endif

}  // namespace
}  // namespace stereopsis::epipolar_fit_test
