// The drop-in next to cv::StereoSGBM of the OpenCV that is installed.
#include <gtest/gtest.h>

#include <cstring>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#ifdef STEREOPSIS_XIMGPROC
#include <opencv2/ximgproc/disparity_filter.hpp>
#endif

#include "stereopsis/opencv.hpp"
#include "stereopsis/synth.hpp"
#include "support/stage_test.hpp"

namespace stereopsis {
namespace {

using namespace test;

constexpr int disparities = 32;
constexpr Size size{140, 90};

struct Pair {
  cv::Mat left, right;  // BGR
};
const Scene& scene() {
  static const Scene made = make_scene({.size = size, .disparities = disparities, .noise = 2});
  return made;
}
const Pair& colour() {
  static const Pair pair = [] {
    Pair p;
    cv::cvtColor(opencv::mat(scene().left.view()), p.left, cv::COLOR_RGB2BGR);
    cv::cvtColor(opencv::mat(scene().right.view()), p.right, cv::COLOR_RGB2BGR);
    return p;
  }();
  return pair;
}
const Pair& grey() {
  static const Pair pair = [] {
    Pair p;
    cv::cvtColor(colour().left, p.left, cv::COLOR_BGR2GRAY);
    cv::cvtColor(colour().right, p.right, cv::COLOR_BGR2GRAY);
    return p;
  }();
  return pair;
}

opencv::Options on_cpu() { return {.device = "cpu"}; }
cv::Ptr<opencv::StereoSGBM> made(int min = 0, int count = disparities, int mode = cv::StereoSGBM::MODE_SGBM) {
  return opencv::create(min, count, 3, 0, 0, 1, 0, 5, 50, 2, mode, on_cpu());
}

template <class T>
bool same(const cv::Mat& a, const cv::Mat& b) {
  if (a.size() != b.size() || a.type() != b.type()) return false;
  for (int y = 0; y < a.rows; ++y)
    if (std::memcmp(a.ptr(y), b.ptr(y), static_cast<std::size_t>(a.cols) * a.elemSize()) != 0) return false;
  return true;
}

TEST(OpenCv, GettersAndSettersRoundTrip) {
  const cv::Ptr<cv::StereoSGBM> ours = opencv::create(-3, 48, 5, 7, 9, 2, 31, 12, 80, 3, cv::StereoSGBM::MODE_HH),
                                theirs =
                                    cv::StereoSGBM::create(-3, 48, 5, 7, 9, 2, 31, 12, 80, 3, cv::StereoSGBM::MODE_HH);
  const auto expect_equal = [&] {
    EXPECT_EQ(ours->getMinDisparity(), theirs->getMinDisparity());
    EXPECT_EQ(ours->getNumDisparities(), theirs->getNumDisparities());
    EXPECT_EQ(ours->getBlockSize(), theirs->getBlockSize());
    EXPECT_EQ(ours->getP1(), theirs->getP1());
    EXPECT_EQ(ours->getP2(), theirs->getP2());
    EXPECT_EQ(ours->getDisp12MaxDiff(), theirs->getDisp12MaxDiff());
    EXPECT_EQ(ours->getPreFilterCap(), theirs->getPreFilterCap());
    EXPECT_EQ(ours->getUniquenessRatio(), theirs->getUniquenessRatio());
    EXPECT_EQ(ours->getSpeckleWindowSize(), theirs->getSpeckleWindowSize());
    EXPECT_EQ(ours->getSpeckleRange(), theirs->getSpeckleRange());
    EXPECT_EQ(ours->getMode(), theirs->getMode());
  };
  expect_equal();
  for (cv::StereoSGBM* m : {ours.get(), theirs.get()}) {
    m->setMinDisparity(101);
    m->setNumDisparities(112);
    m->setBlockSize(13);
    m->setP1(104);
    m->setP2(205);
    m->setDisp12MaxDiff(-1);
    m->setPreFilterCap(17);
    m->setUniquenessRatio(8);
    m->setSpeckleWindowSize(9);
    m->setSpeckleRange(10);
    m->setMode(cv::StereoSGBM::MODE_HH4);
  }
  expect_equal();
  const cv::Ptr<cv::StereoSGBM> ours0 = opencv::create(), theirs0 = cv::StereoSGBM::create();
  EXPECT_EQ(ours0->getNumDisparities(), theirs0->getNumDisparities());
  EXPECT_EQ(ours0->getBlockSize(), theirs0->getBlockSize());
}

TEST(OpenCv, ParametersThatMeanSomethingAct) {
  const auto m = made();
  cv::Mat before, after;
  m->compute(grey().left, grey().right, before);
  const auto acts = [&](auto&& change) {
    const auto changed = cv::makePtr<opencv::StereoSGBM>(*m);
    change(*changed);
    changed->compute(grey().left, grey().right, after);
    return !same<short>(before, after);
  };
  EXPECT_TRUE(acts([](auto& s) { s.setMinDisparity(3); }));
  EXPECT_TRUE(acts([](auto& s) { s.setNumDisparities(16); }));
  EXPECT_TRUE(acts([](auto& s) { s.setSpeckleWindowSize(0); }));
  EXPECT_TRUE(acts([](auto& s) { s.setSpeckleRange(30); }));
  EXPECT_TRUE(acts([](auto& s) { s.setDisp12MaxDiff(30); }));
  EXPECT_TRUE(acts([](auto& s) { s.setUniquenessRatio(30); }));
  EXPECT_TRUE(acts([](auto& s) { s.setMode(cv::StereoSGBM::MODE_HH); }));
  EXPECT_TRUE(acts([](auto& s) { s.set("sgm.p1", "5"); }));
  EXPECT_FALSE(acts([](auto& s) { s.setP1(60); }));
  EXPECT_FALSE(acts([](auto& s) { s.setP2(600); }));
  EXPECT_FALSE(acts([](auto& s) { s.setBlockSize(9); }));
  EXPECT_FALSE(acts([](auto& s) { s.setPreFilterCap(3); }));
  EXPECT_EQ(m->get("sgm.paths"), "4");
  m->setMode(cv::StereoSGBM::MODE_HH);
  EXPECT_EQ(m->get("sgm.paths"), "8");
  m->set("cost.stage", "rank");
  m->set("rank.window", "9");  // a parameter of what was chosen before
  EXPECT_EQ(m->get("cost.window"), "9");
  m->set("rank.window", "7");
  m->set("cost.stage", "rank");  // the slot has this stage already
  EXPECT_EQ(m->get("rank.window"), "7");
  m->set("cost.stage", "census");
  m->set("cost.stage", "rank");
  EXPECT_EQ(m->get("rank.window"), "9") << "a stage that comes anew has its defaults";
  EXPECT_EQ(m->get("sgm.paths"), "8");
  EXPECT_THROW(m->set("sgm.p11", "3"), cv::Exception);
  EXPECT_THROW(m->get("nonsense"), cv::Exception);
}

// OpenCV leaves the check on where its documentation says that it is off; so does the drop-in.
TEST(OpenCv, ADifferenceOfZeroAndLessIsOneAsThere) {
  cv::Mat results[2][3];
  const cv::Ptr<cv::StereoSGBM> both[] = {cv::StereoSGBM::create(0, disparities, 3, 72, 288), made()};
  for (int k = 0; k < 2; ++k)
    for (int difference = -1; difference <= 1; ++difference) {
      both[k]->setDisp12MaxDiff(difference);
      both[k]->compute(grey().left, grey().right, results[k][difference + 1]);
    }
  for (const auto& of : results) {
    EXPECT_TRUE(same<short>(of[0], of[2]));
    EXPECT_TRUE(same<short>(of[1], of[2]));
  }
}

TEST(OpenCv, SixteenthsOfTheLibrarysDisparity) {
  const auto m = made();
  cv::Mat result;
  m->compute(colour().left, colour().right, result);
  ASSERT_EQ(result.type(), CV_16S);
  Pipeline pipeline("sgm");
  for (const auto& [name, value] : {std::pair{"fill.enabled", "false"},
                                    {"select.uniqueness", "5"},
                                    {"speckle.size", "51"},
                                    {"speckle.difference", "2"}})
    pipeline.set(name, value);
  const Matched due = match({scene().left, scene().right, {}, {}}, {0, disparities}, pipeline, {.name = "cpu"});
  int valid = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float d = due.disparity(x, y);
      ASSERT_EQ(result.at<short>(y, x), std::isnan(d) ? -16 : static_cast<short>(std::lrint(d * 16)));
      valid += !std::isnan(d);
    }
  EXPECT_GT(valid, size.width * size.height / 2);
}

TEST(OpenCv, InvalidIsBelowTheMinimumForNegativeOnesToo) {
  for (const int min : {-40, -16, 0, 5}) {
    for (const cv::Ptr<cv::StereoSGBM>& m :
         {cv::Ptr<cv::StereoSGBM>(made(min)), cv::StereoSGBM::create(min, disparities, 3, 72, 288, 1, 0, 5, 50, 2)}) {
      cv::Mat result;
      // The other way round, so that there is nothing to find but in negative ranges.
      m->compute(min < 0 ? grey().right : grey().left, min < 0 ? grey().left : grey().right, result);
      double least = 0, most = 0;
      cv::minMaxLoc(result, &least, &most);
      EXPECT_EQ(least, (min - 1) * 16) << min;
      EXPECT_LT(most, (min + disparities) * 16);
      EXPECT_EQ(cv::countNonZero((result > (min - 1) * 16) & (result < min * 16 - 8)), 0);
    }
  }
}

TEST(OpenCv, FloatWithoutNan) {
  cv::Mat1f fixed_type;
  const auto m = made(-2);
  m->compute(grey().left, grey().right, fixed_type);
  opencv::Options options = on_cpu();
  options.depth = CV_32F;
  m->set_options(options);
  cv::Mat by_option;
  m->compute(grey().left, grey().right, by_option);
  EXPECT_TRUE(same<float>(fixed_type, by_option));
  EXPECT_TRUE(cv::checkRange(fixed_type));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float d = m->float_disparity().at<float>(y, x);
      ASSERT_EQ(fixed_type(y, x), std::isnan(d) ? -3.0f : d);
      ASSERT_EQ(std::isnan(d), (m->validity().at<std::uint8_t>(y, x) & validity::reasons) != 0);
    }
}

TEST(OpenCv, TheCallersMemoryIsReused) {
  const auto m = made();
  cv::Mat large(size.height + 4, size.width + 6, CV_16S, cv::Scalar(77)),
      part = large(cv::Rect(3, 2, size.width, size.height)), own;
  const uchar* const before = part.data;
  m->compute(grey().left, grey().right, part);
  m->compute(grey().left, grey().right, own);
  EXPECT_EQ(part.data, before);
  EXPECT_TRUE(same<short>(part, own));
  EXPECT_EQ(large.at<short>(1, 3), 77);
  EXPECT_EQ(large.at<short>(2, size.width + 3), 77);
  // Images that are parts of others, too.
  cv::Mat wide(size.height + 2, size.width + 8, CV_8UC3, cv::Scalar::all(0));
  cv::Mat inside = wide(cv::Rect(5, 1, size.width, size.height)), from_part, whole;
  colour().left.copyTo(inside);
  m->compute(inside, colour().right, from_part);
  m->compute(colour().left, colour().right, whole);
  EXPECT_TRUE(same<short>(from_part, whole));
}

TEST(OpenCv, UMats) {
  const auto m = made();
  cv::UMat left, right, result;
  grey().left.copyTo(left);
  grey().right.copyTo(right);
  m->compute(left, right, result);
  cv::Mat due;
  m->compute(grey().left, grey().right, due);
  EXPECT_TRUE(same<short>(result.getMat(cv::ACCESS_READ), due));
}

// With strict_border the map has OpenCV's borders; without it the map is wider.
TEST(OpenCv, StrictBordersAreOpenCvs) {
  for (const int min : {0, 4, -8, -40}) {
    opencv::Options options = on_cpu();
    const auto m = made(min);
    cv::Mat wide, strict, theirs;
    m->compute(grey().left, grey().right, wide);
    options.strict_border = true;
    m->set_options(options);
    m->compute(grey().left, grey().right, strict);
    cv::StereoSGBM::create(min, disparities, 3, 72, 288, 1, 0, 0)->compute(grey().left, grey().right, theirs);
    const short invalid = static_cast<short>((min - 1) * 16);
    for (int x = 0; x < size.width; ++x) {
      const bool left_out = x < std::max(min + disparities, 0) || x >= size.width + std::min(min, 0);
      const int found = cv::countNonZero(strict.col(x) != invalid);
      if (left_out) {
        EXPECT_EQ(found, 0) << x;
        EXPECT_EQ(cv::countNonZero(theirs.col(x) != invalid), 0) << x;
      } else {
        EXPECT_TRUE(same<short>(strict.col(x), wide.col(x)));
      }
    }
    EXPECT_GT(cv::countNonZero(wide != invalid), cv::countNonZero(strict != invalid));
  }
}

TEST(OpenCv, ThrowsWhereOpenCvThrows) {
  const cv::Mat small(10, 10, CV_8U, cv::Scalar(1)), other(12, 10, CV_8U, cv::Scalar(1)),
      deep(10, 10, CV_16U, cv::Scalar(1)), rgb(10, 10, CV_8UC3, cv::Scalar(1));
  for (const cv::Ptr<cv::StereoSGBM>& m : {cv::Ptr<cv::StereoSGBM>(made()), cv::StereoSGBM::create(0, disparities)}) {
    cv::Mat result;
    EXPECT_THROW(m->compute(small, other, result), cv::Exception);
    EXPECT_THROW(m->compute(small, rgb, result), cv::Exception);
    EXPECT_THROW(m->compute(deep, deep, result), cv::Exception);
    cv::Mat_<double> fixed_type;
    EXPECT_THROW(m->compute(small, small, fixed_type), cv::Exception);
  }
  cv::Mat result;
  EXPECT_THROW(made()->compute(cv::Mat(), cv::Mat(), result), cv::Exception);
  EXPECT_THROW(made(0, 0)->compute(small, small, result), cv::Exception);
  EXPECT_THROW(made(3000)->compute(small, small, result), cv::Exception);
  EXPECT_THROW(made(0, 32, 9)->compute(small, small, result), cv::Exception);
  EXPECT_NO_THROW(made(0, 19)->compute(small, small, result)) << "any number of disparities";
}

TEST(OpenCv, FilesAreOpenCvs) {
  const cv::Ptr<cv::StereoSGBM> theirs =
      cv::StereoSGBM::create(-7, 64, 5, 100, 400, 2, 31, 12, 80, 3, cv::StereoSGBM::MODE_HH);
  const auto text_of = [](const cv::Algorithm& a) {
    cv::FileStorage file("x.yml", cv::FileStorage::WRITE | cv::FileStorage::MEMORY);
    file << "matcher"
         << "{";
    a.write(file);
    file << "}";
    return file.releaseAndGetString();
  };
  const auto read = [](const std::string& text, cv::Algorithm& a) {
    const cv::FileStorage file(text, cv::FileStorage::READ | cv::FileStorage::MEMORY);
    a.read(file["matcher"]);
  };
  const auto ours = opencv::create(), again = opencv::create();
  read(text_of(*theirs), *ours);
  EXPECT_EQ(text_of(*ours), text_of(*theirs));
  ours->set("sgm.p1", "33");
  read(text_of(*ours), *again);
  EXPECT_EQ(again->get("sgm.p1"), "33");
  EXPECT_EQ(again->getPreFilterCap(), 31);
  const auto back = cv::StereoSGBM::create();
  read(text_of(*ours), *back);  // OpenCV ignores the library's own entries
  EXPECT_EQ(back->getP2(), 400);

  const std::string file = testing::TempDir() + "stereopsis_matcher.yml";
  ours->save(file);
  const auto loaded = cv::Algorithm::load<opencv::StereoSGBM>(file);
  EXPECT_EQ(loaded->get("sgm.p1"), "33");
  EXPECT_EQ(loaded->getMinDisparity(), -7);
  std::remove(file.c_str());
}

// The class's own create(), by which code that names it makes one, and cv::Algorithm::load.
TEST(OpenCv, TheClassMakesItsOwn) {
  const cv::Ptr<cv::StereoSGBM> m = opencv::StereoSGBM::create(0, 32);
  ASSERT_NE(m.dynamicCast<opencv::StereoSGBM>(), nullptr);
  m->setSpeckleWindowSize(std::numeric_limits<int>::max());
  m->setSpeckleRange(2);
  EXPECT_EQ(m.dynamicCast<opencv::StereoSGBM>()->get("speckle.size"), "1000000");
}

TEST(OpenCv, MatsAndViewsShareTheirPixels) {
  cv::Mat m(20, 30, CV_16UC3), part = m(cv::Rect(4, 5, 10, 8));
  const AnyImageView v = opencv::view(part, 12);
  EXPECT_EQ(v.data, part.data);
  EXPECT_EQ(v.pitch, 90);
  EXPECT_EQ(v.channels, 3);
  EXPECT_EQ(v.bit_depth, 12);
  const ImageView<std::uint16_t> same = opencv::view_of<std::uint16_t>(part);
  same(9, 7, 2) = 4711;
  EXPECT_EQ((part.at<cv::Vec3w>(7, 9)[2]), 4711);
  const cv::Mat back = opencv::mat(same);
  EXPECT_EQ(back.data, part.data);
  EXPECT_EQ(back.step, part.step);
  EXPECT_EQ(back.type(), part.type());
  EXPECT_THROW(opencv::view(cv::Mat(3, 3, CV_64F)), cv::Exception);
  EXPECT_TRUE(opencv::view(cv::Mat()).empty());
}

// The distribution's OpenCV has the class without CUDA. That is enough over borrowed memory.
TEST(OpenCv, GpuMatsAndViewsShareTheirPixels) {
  Image<float> pixels(30, 20, 3);
  const cv::cuda::GpuMat m(20, 30, CV_32FC3, pixels.row(0),
                           static_cast<std::size_t>(pixels.view().pitch) * sizeof(float)),
      part = m(cv::Rect(3, 4, 7, 6));
  const DeviceImageView v = opencv::view(part);
  EXPECT_EQ(v.memory, reinterpret_cast<std::uintptr_t>(&pixels(3, 4, 0)));
  EXPECT_EQ(v.pitch, pixels.view().pitch);
  EXPECT_EQ(v.size(), (Size{7, 6}));
  const cv::cuda::GpuMat back = opencv::gpu_mat(v.crop({2, 1, 3, 3}));
  EXPECT_EQ(back.data, reinterpret_cast<uchar*>(&pixels(5, 5, 0)));
  EXPECT_EQ(back.step, m.step);
  EXPECT_EQ(back.type(), CV_32FC3);
}

#ifdef STEREOPSIS_XIMGPROC
TEST(OpenCv, XimgprocTakesItForItsOwn) {
  for (const bool own_right : {false, true}) {
    const auto left = made();
    const cv::Ptr<cv::StereoMatcher> right = own_right ? cv::Ptr<cv::StereoMatcher>(opencv::create_right_matcher(left))
                                                       : cv::ximgproc::createRightMatcher(left);
    ASSERT_TRUE(right);
    EXPECT_EQ(right->getMinDisparity(), 1 - disparities);
    const auto filter = cv::ximgproc::createDisparityWLSFilter(left);
    EXPECT_EQ(left->getSpeckleWindowSize(), 0);
    cv::Mat of_left, of_right, filtered;
    left->compute(colour().left, colour().right, of_left);
    right->compute(colour().right, colour().left, of_right);
    filter->filter(of_left, colour().left, filtered, of_right);
    // The map is dense and near the truth, except in the scene's left part, which the right view does not see.
    int near = 0, all = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = disparities; x < size.width; ++x) {
        const float truth = scene().disparity_left(x, y);
        if (std::isnan(truth)) continue;
        ++all;
        near += std::abs(static_cast<float>(filtered.at<short>(y, x)) / 16 - truth) < 2;
      }
    EXPECT_GT(near, all * 8 / 10) << (own_right ? "with the right matcher of the library" : "with ximgproc's");
  }
}
#endif

}  // namespace
}  // namespace stereopsis
