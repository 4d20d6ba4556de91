// Tests of the confidence output: it is 0 for pixels without alternatives, and for pixels that were not measured.
#include <gtest/gtest.h>

#include "stereopsis/matcher.hpp"
#include "stereopsis/synth.hpp"
#include "support/devices.hpp"

namespace stereopsis {
namespace {

constexpr int disparities = 24;

const Scene& scene() {
  static const Scene made = make_scene({.size = {96, 72}, .disparities = disparities, .noise = 4});
  return made;
}

std::vector<Device> all_devices() {
  std::vector<Device> list{{.name = "cpu"},
                           {.name = "cpu", .implementation = Implementation::plain},
                           {.name = "cpu", .implementation = Implementation::oracle}};
  for (gpu::Device* device : gpu::usable_devices()) list.push_back({.name = device->name()});
  return list;
}

Matched matched(const Pipeline& pipeline, const Device& device, DisparityRange range = {0, disparities}) {
  Problem problem = Problem::of({scene().left, scene().right, {}, {}}, range);
  problem.want_confidence = true;
  return Matcher(Plan(pipeline, problem, device)).match({scene().left, scene().right, {}, {}});
}

template <class F>
void for_each_pixel(const Matched& m, F&& f) {
  for (int y = 0; y < m.disparity.height(); ++y)
    for (int x = 0; x < m.disparity.width(); ++x) f(x, y);
}

TEST(Confidence, IsZeroOfPixelsThatWereNotMeasured) {
  for (const char* method : {"sgm", "ad-census", "prehn-pyramid", "balanced", "zncc"})
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      const Matched m = matched(Pipeline(method), device);
      int unmeasured = 0, confident = 0;
      for_each_pixel(m, [&](int x, int y) {
        unmeasured += m.validity(x, y) != 0;
        confident += m.confidence(x, y) > 0;
        if (m.validity(x, y) != 0) {
          EXPECT_EQ(m.confidence(x, y), 0) << x << "," << y;
        }
      });
      EXPECT_GT(unmeasured, 0);
      EXPECT_GT(confident, 96 * 72 / 4);
    }
}

// A left pixel in column 0 has only the candidate of disparity 0. In columns 1 and 2, all other candidates may be
// neighbours of the best.
TEST(Confidence, IsZeroWhereThereIsNoAlternative) {
  for (const char* method : {"sgm", "banz-sgm", "census-guided", "prehn-window", "esaw"})
    for (const Device& device : all_devices()) {
      SCOPED_TRACE(method + std::string(" on ") + device.name);
      Pipeline pipeline(method);
      pipeline.set("refinements", "none");
      pipeline.set("select.border_candidates", "false");
      const Matched m = matched(pipeline, device);
      for (int y = 0; y < m.confidence.height(); ++y)
        for (int x = 0; x < 2; ++x) EXPECT_EQ(m.confidence(x, y), 0) << x << "," << y;
      const Matched two = matched(pipeline, device, {0, 2});
      for_each_pixel(two, [&](int x, int y) { EXPECT_EQ(two.confidence(x, y), 0) << x << "," << y; });
    }
}

// Rejection by confidence would reject every pixel of such a pair.
TEST(Confidence, OfTwoDisparitiesRejectsNothing) {
  const Matched m = matched(Pipeline("balanced"), {.name = "cpu"}, {4, 2});
  int valid = 0;
  for_each_pixel(m, [&](int x, int y) { valid += m.disparity(x, y) == m.disparity(x, y); });
  EXPECT_GT(valid, 96 * 72 / 2);
}

std::string rejection_of(const StereoPair& pair) {
  try {
    match(pair, {0, disparities}, Pipeline("sgm"), {.name = "cpu"});
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Intensities, AboveWhiteAreRejected) {
  Image<float> left(96, 72), right(96, 72);
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x) left(x, y) = right(x, y) = static_cast<float>((37 * x + 11 * y) % 256);
  EXPECT_EQ(rejection_of({left, right, {}, {}}), "accepted");
  left(3, 5) = 255.4f;  // the overshoot of an interpolation
  left(4, 5) = std::numeric_limits<float>::quiet_NaN();
  left(5, 5) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rejection_of({left, right, {}, {}}), "accepted");
  right(7, 6) = 65535;
  EXPECT_NE(rejection_of({left, right, {}, {}}).find("the intensity of the right image is 65535 at 7,6"),
            std::string::npos);
  right(7, 6) = -9999;
  EXPECT_NE(rejection_of({left, right, {}, {}}).find("is -9999 at 7,6"), std::string::npos);
}

TEST(Intensities, AboveTheBitDepthAreRejected) {
  AnyImage left(Image<std::uint16_t>(96, 72)), right(Image<std::uint16_t>(96, 72));
  left.bit_depth = right.bit_depth = 10;
  for (AnyImage* image : {&left, &right})
    for (int y = 0; y < 72; ++y) std::fill_n(std::get<Image<std::uint16_t>>(image->pixels).row(y), 96, 500);
  auto& pixels = std::get<Image<std::uint16_t>>(left.pixels);
  pixels(8, 9) = 1023;
  EXPECT_EQ(rejection_of({left, right, {}, {}}), "accepted");
  pixels(8, 9) = 1024;
  EXPECT_NE(rejection_of({left, right, {}, {}}).find("is 1024 at 8,9"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis
