// Runs over sources: files, and pairs that come by themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "stereopsis/run.hpp"
#include "stereopsis/synth.hpp"
#include "support/rigs.hpp"
#include "support/scene.hpp"

namespace stereopsis::source_run_test {
namespace {

using test::contains, test::refuses;

// Frames of random dots whose right view is moved by `disparity`.
struct Dots {
  explicit Dots(Size size, int seed = 1, int disparity = 9) : left(size, 1, 0), right(size, 1, 0) {
    std::mt19937 random(static_cast<unsigned>(seed));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        left(x, y) = static_cast<std::uint8_t>(random() % 256);
        if (x >= disparity) right(x - disparity, y) = left(x, y);
      }
  }
  Image<std::uint8_t> left, right;
};

RunPair pair_of(const std::shared_ptr<const Dots>& dots, const std::string& name = "") {
  return {.images = {dots->left, dots->right}, .owner = dots, .name = name};
}

constexpr Size size = {200, 140};

class SourceRun : public test::SceneFolder {
 protected:
  SourceRun() { settings.devices = {Device{.name = "cpu", .threads = 1}}; }

  RunSettings settings{.range = DisparityRange{0, 24}};
  LiveSource source{8};
};

// Noise changes between the frames of a still scene; the frame before steadies the map.
TEST_F(SourceRun, TakesThePairBeforeAsSeeds) {
  std::vector<Scene> scenes;
  for (std::uint64_t k = 0; k < 3; ++k) {
    scenes.push_back(make_scene({.size = {320, 240}, .disparities = 24}));
    std::mt19937 random(static_cast<unsigned>(k));
    std::normal_distribution<float> noise(0, 6);
    for (Image<std::uint8_t>* const image : {&scenes.back().left, &scenes.back().right})
      for (int y = 0; y < 240; ++y)
        for (int i = 0; i < 3 * 320; ++i)
          image->row(y)[i] =
              static_cast<std::uint8_t>(std::clamp(static_cast<float>(image->row(y)[i]) + noise(random), 0.0f, 255.0f));
  }
  const auto last_two = [&](bool previous) {
    LiveSource frames{8};
    for (const Scene& scene : scenes) frames.put({.images = {scene.left, scene.right}});
    frames.close();
    RunSettings with = settings;
    with.seeds_previous = previous;
    stereopsis::Run run(with, frames);
    std::vector<Image<float>> maps;
    for (RunResult done; run.next(done);) {
      EXPECT_EQ(done.pair.images.seeds.data, nullptr);  // the pair as it was given
      maps.push_back(Image<float>(done.maps.disparity.view()));
    }
    return std::pair(std::move(maps[1]), std::move(maps[2]));
  };
  const auto flickering = [](const std::pair<Image<float>, Image<float>>& maps) {
    int count = 0;
    for (int y = 0; y < 240; ++y)
      for (int x = 24; x < 320; ++x) count += std::abs(maps.first(x, y) - maps.second(x, y)) > 1 ? 1 : 0;
    return count;
  };
  EXPECT_LT(flickering(last_two(true)), 0.6 * flickering(last_two(false)));
}

TEST_F(SourceRun, RefusesAMotionWithoutARig) {
  const auto dots = std::make_shared<const Dots>(size);
  for (int k = 0; k < 2; ++k) {
    RunPair pair = pair_of(dots);
    pair.motion = Pose();
    source.put(std::move(pair));
  }
  source.close();
  settings.seeds_previous = true;
  stereopsis::Run run(settings, source);
  RunResult done;
  EXPECT_TRUE(run.next(done));
  EXPECT_TRUE(refuses([&] { run.next(done); }, ErrorCategory::call, "the run has no rig"));
}

TEST_F(SourceRun, AlignsTheRowsOfEachPair) {
  constexpr double offsets[] = {1, 1.5, 0.5};
  std::vector<Scene> scenes;
  for (const double offset : offsets)
    scenes.push_back(make_scene({.size = {320, 240}, .disparities = 24, .noise = 2, .vertical_offset = offset}));
  for (const Scene& scene : scenes) source.put({.images = {scene.left, scene.right}});
  source.close();
  settings.aligns_rows = true;
  stereopsis::Run run(settings, source);
  std::size_t count = 0;
  for (RunResult done; run.next(done); ++count) {
    ASSERT_TRUE(done.rows && done.rows->alignment);
    EXPECT_NEAR(done.rows->alignment->offset, -offsets[count], 0.05);
    EXPECT_EQ(done.pair.images.row_alignment, done.rows->alignment);
    EXPECT_FALSE(done.fault) << done.fault->sentence;
    Problem problem = Problem::of(done.pair.images, {0, 24});
    problem.row_alignment = done.rows->alignment;
    const Matched expected = Matcher(Plan(Pipeline("sgm"), problem, {.name = "cpu"})).match(done.pair.images);
    for (int y = 0; y < 240; ++y)
      ASSERT_EQ(std::memcmp(done.maps.disparity.row(y), expected.disparity.row(y), sizeof(float) * 320), 0);
  }
  EXPECT_EQ(count, 3u);
}

// The right camera is hit at the twelfth pair.
TEST_F(SourceRun, FollowsARigThatMoves) {
  const Rig rig = {
      .focal = 300, .cx_left = 160, .cx_right = 160, .cy = 120, .baseline = 1, .unit = "m", .size = {320, 240}};
  const RigTurn bump = {0.3, 0, -0.2};
  constexpr std::size_t hit = 12;
  settings.problem.geometry.rig = rig;
  settings.tracker = std::make_shared<RigTracker>(cameras_of(rig));
  LiveSource frames{40};
  std::array<Scene, 3> scenes;
  std::array<AnyImage, 3> moved;
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    scenes[i] = make_scene({.size = {320, 240}, .disparities = 24, .seed = 1 + i, .noise = 2});
    moved[i] = test::seen_after(scenes[i].right.view(), rig, bump);
  }
  for (std::size_t k = 0; k < 40; ++k) {
    const Scene& scene = scenes[k % 3];
    frames.put({.images = {scene.left, k < hit ? AnyImageView(scene.right) : moved[k % 3].view()}});
  }
  frames.close();
  stereopsis::Run run(settings, frames);
  std::vector<double> rows;
  std::shared_ptr<const RectificationMaps> last;
  for (RunResult done; run.next(done); last = done.pair.images.rectification) {
    ASSERT_TRUE(done.rows);
    rows.push_back(done.rows->plane.rms());
  }
  ASSERT_EQ(rows.size(), 40U);
  EXPECT_GT(rows[hit], 1);
  EXPECT_LT(rows.back(), 0.2);
  const RigTurn found = settings.tracker->turn();
  EXPECT_NEAR(found.pitch, bump.pitch, 0.02);
  EXPECT_NEAR(found.roll, bump.roll, 0.02);
  EXPECT_FALSE(last->right_complete);
  const std::vector<RigNews> news = settings.tracker->news();
  ASSERT_GE(news.size(), 2U);
  EXPECT_EQ(news[0].kind, RigNews::Kind::jumped);
  EXPECT_EQ(news[0].pair, hit);
  EXPECT_EQ(news[1].kind, RigNews::Kind::corrected);
}

TEST_F(SourceRun, GivesTheBitsOfAMatcherInOrder) {
  for (int seed = 0; seed < 5; ++seed) {
    RunPair pair = pair_of(std::make_shared<Dots>(size, seed));
    pair.stamp = 100 + seed;
    source.put(std::move(pair));
  }
  source.close();
  stereopsis::Run run(settings, source);
  int count = 0;
  for (RunResult done; run.next(done); ++count) {
    const Dots dots(size, count);
    const Matched expected = match({dots.left, dots.right}, {0, 24});
    EXPECT_EQ(done.pair.stamp, 100 + count);
    ASSERT_EQ(done.maps.disparity.size(), size);
    for (int y = 0; y < size.height; ++y)
      ASSERT_EQ(std::memcmp(done.maps.disparity.row(y), expected.disparity.row(y), sizeof(float) * size.width), 0);
    EXPECT_GT(done.measured, 0.8);
    EXPECT_FALSE(done.fault);
  }
  EXPECT_EQ(count, 5);
}

TEST_F(SourceRun, EstimatesTheRangeAndPlansAgainForPairsOfAnotherSize) {
  settings.range.reset();
  source.put(pair_of(std::make_shared<Dots>(size)));
  source.put(pair_of(std::make_shared<Dots>(Size{160, 130})));
  source.close();
  stereopsis::Run run(settings, source);
  RunResult done;
  ASSERT_TRUE(run.next(done));
  EXPECT_TRUE(done.range.min <= 9 && 9 <= done.range.max());
  EXPECT_EQ(run.range(), done.range);
  ASSERT_TRUE(run.next(done));
  EXPECT_EQ(done.maps.disparity.size(), (Size{160, 130}));
  EXPECT_FALSE(run.next(done));
}

TEST_F(SourceRun, NamesAPairThatFailsAndContinues) {
  const auto dots = std::make_shared<Dots>(size);
  RunPair odd = pair_of(dots, "frame 1");
  odd.images.right = odd.images.right.as<std::uint8_t>().crop({0, 0, 100, 100});
  source.put(std::move(odd));
  source.put(pair_of(dots));
  source.close();
  stereopsis::Run run(settings, source);
  RunResult done;
  EXPECT_TRUE(refuses([&] { run.next(done); }, ErrorCategory::call, "frame 1: "));
  EXPECT_TRUE(run.next(done));
  EXPECT_FALSE(run.next(done));
}

TEST_F(SourceRun, ChangesItsSettingsFromTheNextPairOn) {
  settings.in_flight = 1;
  stereopsis::Run run(settings, source);
  RunResult done;
  const auto one = [&] {
    source.put(pair_of(std::make_shared<Dots>(size)));
    return run.next(done);
  };
  ASSERT_TRUE(one());
  EXPECT_TRUE(done.maps.confidence.empty());
  settings.problem.want_confidence = true;
  run.change(settings);
  ASSERT_TRUE(one());
  EXPECT_FALSE(done.maps.confidence.empty());
  settings.problem.want_confidence = false;
  run.change(settings);
  ASSERT_TRUE(one());
  EXPECT_TRUE(done.maps.confidence.empty());
  settings.in_flight = 0;
  EXPECT_TRUE(refuses([&] { run.change(settings); }, ErrorCategory::call, "in_flight = 0"));
  ASSERT_TRUE(one());
}

TEST_F(SourceRun, SaysOnceThatThePairsAreSwapped) {
  settings.range = DisparityRange{0, 24};
  for (int i = 0; i < 2; ++i) {
    RunPair pair = pair_of(std::make_shared<Dots>(Size{320, 240}, i));
    std::swap(pair.images.left, pair.images.right);
    source.put(std::move(pair));
  }
  source.close();
  stereopsis::Run run(settings, source);
  RunResult done;
  ASSERT_TRUE(run.next(done));
  ASSERT_TRUE(done.fault);
  EXPECT_EQ(done.fault->kind, PairFaultKind::negative);
  EXPECT_TRUE(done.is_new_fault);
  ASSERT_TRUE(run.next(done));
  EXPECT_FALSE(done.is_new_fault);
}

TEST_F(SourceRun, SaysThatRowsDifferIfItDoesNotAlignThem) {
  for (const double offset : {0.1, 0.6}) {
    const Scene scene = make_scene({.size = {320, 240}, .disparities = 24, .noise = 2, .vertical_offset = offset});
    for (const bool aligns : {false, true}) {
      settings.aligns_rows = aligns;
      LiveSource pairs{1};
      pairs.put({.images = {scene.left, scene.right}});
      pairs.close();
      stereopsis::Run run(settings, pairs);
      RunResult done;
      ASSERT_TRUE(run.next(done));
      ASSERT_EQ(done.fault.has_value(), offset > 0.3 && !aligns) << offset;
      if (!done.fault) continue;
      EXPECT_EQ(done.fault->kind, PairFaultKind::unaligned);
      EXPECT_TRUE(contains(done.fault->sentence, "the rows differ by 0.")) << done.fault->sentence;
      EXPECT_TRUE(contains(done.fault->sentence, "set RunSettings::aligns_rows")) << done.fault->sentence;
    }
  }
}

TEST_F(SourceRun, SaysThatOneCameraIsAboveTheOtherThoughAFieldOfRowsFollowsTheScene) {
  const Scene scene = make_scene({.size = {480, 640}, .disparities = 8, .noise = 2});
  const auto transposed = [](const Image<std::uint8_t>& image) {
    Image<std::uint8_t> out({image.height(), image.width()}, image.channels());
    for (int y = 0; y < out.height(); ++y)
      for (int x = 0; x < out.width(); ++x)
        for (int c = 0; c < out.channels(); ++c) out(x, y, c) = image(y, x, c);
    return out;
  };
  const Image<std::uint8_t> left = transposed(scene.left), right = transposed(scene.right);
  settings.aligns_rows = true;
  LiveSource pairs{1};
  pairs.put({.images = {left, right}});
  pairs.close();
  stereopsis::Run run(settings, pairs);
  RunResult done;
  ASSERT_TRUE(run.next(done));
  ASSERT_TRUE(done.rows && done.rows->alignment);
  EXPECT_FALSE(done.rows->alignment->field.empty());
  ASSERT_TRUE(done.fault);
  EXPECT_EQ(done.fault->kind, PairFaultKind::vertical);
}

TEST_F(SourceRun, ReadsFilesAndEndsWithTheErrorOfOneThatCannotBeRead) {
  for (int i = 0; i < 4; ++i) write_pair(i);
  test::put(file("right", 2), "no picture");
  FileSource files(PairSource(folder / "left%d.png", folder / "right%d.png"));
  stereopsis::Run run(settings, files);
  std::vector<std::string> names;
  RunResult done;
  EXPECT_TRUE(refuses(
      [&] {
        while (run.next(done)) names.push_back(std::filesystem::path(done.pair.name).filename().string());
      },
      ErrorCategory::format, "right2.png"));
  EXPECT_EQ(names, (std::vector<std::string>{"left0.png", "left1.png"}));
}

TEST_F(SourceRun, IsStoppedByAnotherThread) {
  LiveSource endless(1, WhenFull::wait);
  std::thread camera([&] {
    while (endless.put(pair_of(std::make_shared<Dots>(size))) == 0) {
    }
  });
  stereopsis::Run run(settings, endless);
  RunResult done;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(run.next(done));
  run.stop();
  while (run.next(done)) {
  }
  endless.close();
  camera.join();
  EXPECT_EQ(endless.dropped(), 1U);
}

TEST(LiveQueue, DropsTheOldestOrWaits) {
  LiveQueue<int> newest(2);
  EXPECT_EQ(newest.put(1), 0U);
  EXPECT_EQ(newest.put(2), 0U);
  EXPECT_EQ(newest.put(3), 1U);
  EXPECT_EQ(newest.dropped(), 1U);
  EXPECT_EQ(newest.take(), 2);
  newest.close();
  EXPECT_EQ(newest.put(4), 1U);
  EXPECT_EQ(newest.take(), 3);
  EXPECT_EQ(newest.take(), std::nullopt);
  LiveQueue<int> all(1, WhenFull::wait);
  std::thread producer([&] {
    for (int i = 0; i < 100; ++i) all.put(i);
    all.close();
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(all.take(), i);
  EXPECT_EQ(all.take(), std::nullopt);
  producer.join();
}

}  // namespace
}  // namespace stereopsis::source_run_test
