// No wrong result without a word: pairs, files, ranges, what was measured and what was not.
#include <cmath>

#include "command.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Trust : public Command {
 protected:
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    made("wide", {"--width", "320", "--height", "200", "--disparities", "40"});
  }

  static void made(const std::string& name, std::vector<std::string> options) {
    options.insert(options.begin(), {"synth", "-o", name});
    const Answer answer = call(options);
    ASSERT_EQ(answer.code, 0) << answer.err;
  }

  // Refused with all of these words in one line, and nothing on disk changed.
  static void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& words,
                             int code = 2) {
    std::string line;
    for (const std::string& argument : arguments) line += argument + " ";
    SCOPED_TRACE(line);
    const auto before = snapshot();
    const Answer answer = call(arguments);
    EXPECT_EQ(answer.code, code) << answer.out << answer.err;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
    for (const std::string& word : words)
      EXPECT_NE(answer.err.find(word), std::string::npos) << word << ": " << answer.err;
    EXPECT_TRUE(snapshot() == before) << "something on disk changed";
  }
  static bool says(const Answer& answer, const std::string& words) {
    return answer.err.find(words) != std::string::npos;
  }

  // left/ and right/ in `place`, with the scene's images under these names.
  static void make_sequence(const fs::path& place, const std::vector<std::string>& left,
                            const std::vector<std::string>& right) {
    for (const auto& [side, names] : {std::pair{"left", &left}, {"right", &right}}) {
      fs::create_directories(folder / place / side);
      for (const std::string& name : *names)
        fs::copy_file(folder / "scene" / (std::string(side) + ".png"), folder / place / side / name);
    }
    fs::create_directories(folder / place / "out");
  }
  static Image<float> disparity(const fs::path& file) { return read_disparity(folder / file); }
};

// ---- Pairs ----

TEST_F(Trust, PairsHaveOneFrameNumber) {
  make_sequence("gaps", {"0.png", "1.png", "2.png", "4.png"}, {"0.png", "1.png", "3.png", "4.png"});
  for (const char* kind : {"", "/%d.png", "/*.png"})
    expect_refused({"match", "gaps/left" + std::string(kind), "gaps/right" + std::string(kind), "-o", "gaps/out",
                    "--disparities", "8"},
                   {"gaps/left/2.png", "no partner", "frame number"});
  make_sequence("names", {"a.png", "b.png"}, {"a.png", "c.png"});
  expect_refused({"match", "names/left", "names/right", "-o", "names/out", "--disparities", "8"}, {"names/left/b.png"});
  // One number in all names is none.
  make_sequence("cameras", {"1_cam0.png", "2_cam0.png"}, {"1_cam1.png", "2_cam1.png"});
  expect_refused({"match", "cameras/left", "cameras/right", "-o", "cameras/out", "--disparities", "8"},
                 {"1_cam0.png", "name"});
  EXPECT_EQ(call({"match", "cameras/left/%d_cam0.png", "cameras/right/%d_cam1.png", "-o", "cameras/out",
                  "--disparities", "8"})
                .code,
            0);
}

TEST_F(Trust, NumbersPairWhatNamesDoNot) {
  make_sequence("numbers", {"left8.png", "left9.png", "left10.png"},
                {"right_008.png", "right_009.png", "right_010.png"});
  const Answer answer = call({"match", "numbers/left", "numbers/right", "-o", "numbers/out/%03d.pfm", "--disparities",
                              "8", "--report", "numbers.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Json frames = json("numbers.json")["frames"];
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0]["left"], "numbers/left/left8.png");
  EXPECT_EQ(frames[0]["right"], "numbers/right/right_008.png");
  EXPECT_EQ(frames[2]["left"], "numbers/left/left10.png");
  EXPECT_EQ(frames[2]["outputs"]["disparity"], "numbers/out/010.pfm");
}

TEST_F(Trust, CalibratePairsByNumberTooAndItsHelpIsAlwaysThere) {
  make_sequence("views", {"l1.png", "l2.png", "l4.png"}, {"r1.png", "r3.png", "r4.png"});
  expect_refused(
      {"calibrate", "--left", "views/left", "--right", "views/right", "--board", "chessboard:9x6:25mm", "-o", "r.yml"},
      {"l2.png", "frame number"});
  const Answer help = call({"calibrate", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("--board"), std::string::npos) << help.out;
  EXPECT_NE(help.out.find("requires OpenCV"), std::string::npos) << help.out;
}

TEST_F(Trust, RectifyPairsByNumberToo) {
  make_sequence("raw", {"1.png", "2.png"}, {"1.png", "3.png"});
  write(folder / "some.yml", "%YAML:1.0\n");
  fs::create_directories(folder / "rectified");
  expect_refused({"rectify", "raw/left", "raw/right", "--calib", "some.yml", "-o", "rectified"}, {"raw/left/2.png"});
}

TEST_F(Trust, FoldersMayHaveWildcardsAndHiddenFilesAreNoImages) {
  for (const char* take : {"take1", "take2"}) {
    fs::create_directories(folder / "takes" / take);
    for (const char* name : {"left.png", "right.png"})
      fs::copy_file(folder / "scene" / name, folder / "takes" / take / name);
  }
  fs::create_directories(folder / "takes/out");
  const Answer answer =
      call({"match", "takes/take*/left.png", "takes/take*/right.png", "-o", "takes/out/%d.pfm", "--disparities", "8"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(fs::exists(folder / "takes/out/1.pfm"));
  make_sequence("mac", {"1.png", "2.png"}, {"1.png", "2.png"});
  write(folder / "mac/left/._1.png", "resources, not pixels");
  EXPECT_EQ(call({"match", "mac/left", "mac/right", "-o", "mac/out", "--disparities", "8"}).code, 0);
  make_sequence("twins", {"a.jpg", "a.jpeg"}, {"a.jpg", "a.jpeg"});
  expect_refused({"match", "twins/left", "twins/right", "-o", "twins/out", "--disparities", "8"},
                 {"a.jpeg", "a.jpg", "extension"});
}

// ---- Files ----

TEST_F(Trust, NoResultTakesThePlaceOfAnInput) {
  write_image(folder / "mask.png", Image<std::uint8_t>({150, 110}, 1, 255));
  write(folder / "calib.txt",
        "cam0=[200 0 75; 0 200 55; 0 0 1]\ncam1=[200 0 75; 0 200 55; 0 0 "
        "1]\ndoffs=0\nbaseline=100\nwidth=150\nheight=110\nndisp=32\n");
  ASSERT_EQ(match({"-o", "d.pfm", "--confidence", "c.pfm"}).code, 0);
  const std::vector<std::string> matching = {"match", "scene/left.png", "scene/right.png", "--disparities", "8"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), matching.begin(), matching.end());
    return more;
  };
  expect_refused(with({"-o", "new.pfm", "--calib", "calib.txt", "--report", "calib.txt"}), {"calib.txt", "input"});
  expect_refused(with({"-o", "mask.png", "--mask-left", "mask.png"}), {"mask.png", "--mask-left"});
  ASSERT_EQ(shell("$S methods sgm --json > pipeline.json").code, 0);
  expect_refused(with({"-o", "new.pfm", "--pipeline", "pipeline.json", "--report", "pipeline.json"}),
                 {"pipeline.json"});
  expect_refused({"evaluate", "d.pfm", "--truth", "scene/disp_left.pfm", "--json", "scene/disp_left.pfm"},
                 {"disp_left.pfm", "--truth"});
  expect_refused(
      {"evaluate", "d.pfm", "--truth", "scene/disp_left.pfm", "--mask", "mask.png", "--error-image", "mask.png"},
      {"mask.png"});
  expect_refused({"evaluate", "--dataset", "scene", "--json", "scene/dataset.json"}, {"dataset.json"});
  expect_refused({"bench", "--dataset", "scene", "--json", "scene/left.png"}, {"left.png"});
  expect_refused({"cloud", "d.pfm", "--calib", "calib.txt", "-o", "new.ply", "--depth", "d.pfm"}, {"d.pfm"});
  fs::create_symlink("mask.png", folder / "link.png");
  expect_refused(with({"-o", "link.png", "--mask-left", "mask.png"}), {"link.png"});
  fs::create_hard_link(folder / "mask.png", folder / "hard.png");
  expect_refused(with({"-o", "hard.png", "--mask-left", "mask.png"}), {"hard.png"});
  fs::create_directory_symlink("scene", folder / "other");
  expect_refused(with({"-o", "other/left.png"}), {"other/left.png", "input"});
  expect_refused(with({"-o", "new.pfm", "--confidence", "./new.pfm"}), {"new.pfm"});
}

TEST_F(Trust, LinksThatLeadInACircleAreAnError) {
  fs::create_symlink("round.png", folder / "round.png");
  expect_refused({"match", "round.png", "scene/right.png", "-o", "new.pfm", "--disparities", "8"}, {"round.png"}, 1);
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "round.png", "--disparities", "8"}, {"round.png"},
                 1);
}

// ---- Ranges ----

TEST_F(Trust, TheRangeOfASequenceCoversItsLaterFrames) {
  for (const char* side : {"left", "right", "out"}) fs::create_directories(folder / "approach" / side);
  made("far", {"--width", "320", "--height", "200", "--disparities", "16"});
  made("near", {"--width", "320", "--height", "200", "--disparities", "70"});
  for (int i = 0; i < 12; ++i)
    for (const std::string side : {"left", "right"})
      fs::copy_file(folder / (i < 10 ? "far" : "near") / (side + ".png"),
                    folder / "approach" / side / (std::to_string(i) + ".png"));
  const std::vector<std::string> sequence = {"match",        "approach/left", "approach/right", "-o",
                                             "approach/out", "--report",      "approach.json"};
  const Answer answer = call(sequence);
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Json together = json("approach.json");
  EXPECT_GE(together["min_disparity"].get<int>() + together["disparities"].get<int>(), 60) << answer.err;
  auto each = sequence;
  each.emplace_back("--range-per-frame");
  ASSERT_EQ(call(each).code, 0);
  const Json frames = json("approach.json")["frames"];
  EXPECT_LE(frames[0]["disparities"].get<int>(), 32);
  EXPECT_GE(frames[11]["disparities"].get<int>(), 60);
  // The frame's result equals that of the pair matched alone.
  const std::string last = contents(folder / "approach/out/11.pfm");
  ASSERT_EQ(call({"match", "near/left.png", "near/right.png", "-o", "alone.pfm"}).code, 0);
  EXPECT_TRUE(contents(folder / "alone.pfm") == last);
  expect_refused(
      {"match", "approach/left", "approach/right", "-o", "approach/out", "--range-per-frame", "--disparities", "8"},
      {"--range-per-frame", "--disparities"});
}

TEST_F(Trust, ResultsThatGatherAtAnEndOfTheRangeAreSaid) {
  const Answer narrow = call({"match", "wide/left.png", "wide/right.png", "-o", "d.pfm", "--disparities", "28"});
  EXPECT_EQ(narrow.code, 0);
  EXPECT_TRUE(says(narrow, "upper end of the search range")) << narrow.err;
  const Answer late =
      call({"match", "wide/left.png", "wide/right.png", "-o", "d.pfm", "--min-disparity", "14", "--disparities", "26"});
  EXPECT_TRUE(says(late, "lower end of the search range")) << late.err;
  EXPECT_EQ(call({"match", "wide/left.png", "wide/right.png", "-o", "d.pfm", "--disparities", "40"}).err, "");
}

// Where the images differ in brightness, esaw takes the ends of the range for many pixels, though no point is nearer.
TEST_F(Trust, WrongDisparitiesAtAnEndOfTheRangeAreNoReasonToRaiseIt) {
  made("bright", {"--width", "320", "--height", "200", "--disparities", "40", "--gain", "1.3", "--noise", "2"});
  const auto matched = [](const char* count) {
    return call({"match", "bright/left.png", "bright/right.png", "-o", "d.pfm", "--disparities", count, "--method",
                 "esaw", "--report", "bright.json"});
  };
  EXPECT_EQ(matched("40").err, "");
  EXPECT_GT(json("bright.json")["frames"][0]["at_ends_of_range"]["upper"].get<double>(), 2);
  EXPECT_TRUE(says(matched("28"), "upper end of the search range"));
}

TEST_F(Trust, ARangeOutsideTheImageIsRefused) {
  for (const char* low : {"150", "4000", "-400"})
    expect_refused(
        {"match", "scene/left.png", "scene/right.png", "-o", "new.pfm", "--min-disparity", low, "--disparities", "100"},
        {"150 pixels wide"});
}

// ---- Pairs that do not fit ----

TEST_F(Trust, APairThatDoesNotFitIsSaidAndStrictRefusesIt) {
  const Answer swapped = call({"match", "wide/right.png", "wide/left.png", "-o", "d.pfm"});
  EXPECT_EQ(swapped.code, 0) << swapped.err;
  EXPECT_TRUE(says(swapped, "swapped")) << swapped.err;
  expect_refused({"match", "wide/right.png", "wide/left.png", "-o", "new.pfm", "--strict"}, {"swapped", "--strict"}, 1);
  expect_refused({"match", "wide/right.png", "wide/left.png", "-o", "new.pfm", "--strict", "--min-disparity", "-40",
                  "--disparities", "41"},
                 {"swapped"}, 1);
  EXPECT_EQ(call({"match", "wide/left.png", "wide/right.png", "-o", "d.pfm", "--strict", "--disparities", "40"}).code,
            0);
}

TEST_F(Trust, APairThatIsNotOfOneSceneIsSaidAndStrictRefusesIt) {
  const std::vector<std::string> size = {"--width", "640", "--height", "480", "--disparities", "64"};
  const auto of_scene = [&](const char* name, const char* seed) {
    std::vector<std::string> arguments = size;
    arguments.insert(arguments.end(), {"--scene", name, "--seed", seed});
    return arguments;
  };
  made("one", of_scene("table", "1"));
  made("other", of_scene("clutter", "9"));
  const std::vector<std::string> pair = {"match", "one/left.png", "other/right.png", "-o"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), pair.begin(), pair.end());
    return more;
  };
  const Answer estimated = call(with({"d.pfm", "--report", "other.json"}));
  EXPECT_EQ(estimated.code, 0) << estimated.err;
  EXPECT_TRUE(says(estimated, "give two images of the same scene")) << estimated.err;
  EXPECT_TRUE(says(estimated, "other/right.png")) << estimated.err;
  EXPECT_FALSE(json("other.json")["warnings"].empty());
  expect_refused(with({"new.pfm", "--strict"}), {"the same scene", "--strict"}, 1);
  expect_refused(with({"new.pfm", "--strict", "--disparities", "40"}), {"the same scene", "--strict"}, 1);
}

TEST_F(Trust, NextToNothingMeasuredIsAlwaysSaid) {
  made("elsewhere", {"--width", "320", "--height", "200", "--disparities", "40", "--seed", "77", "--scene", "street"});
  fs::copy_file(folder / "wide/left.png", folder / "unrelated.png");
  const std::vector<std::string> pair = {"match", "unrelated.png", "elsewhere/right.png",
                                         "-o",    "d.pfm",         "--disparities",
                                         "40",    "--set",         "left_right.threshold=0"};
  const Answer answer = call(pair);
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(says(answer, "of the pixels of unrelated.png were measured")) << answer.out << answer.err;
}

// ---- Measured and filled ----

TEST_F(Trust, WhatWasFilledIsNotCalledMeasured) {
  const Answer answer = match({"-o", "d.pfm", "--validity", "v.png", "--report", "r.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("% measured"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("% filled"), std::string::npos) << answer.out;
  EXPECT_EQ(answer.out.find("% valid"), std::string::npos) << answer.out;
  const Json density = json("r.json")["frames"][0]["density"];
  EXPECT_GT(density["filled"].get<double>(), 1);
  EXPECT_NEAR(density["measured"].get<double>() + density["filled"].get<double>(), density["after_fill"].get<double>(),
              1e-9);
}

std::vector<std::string> with_rig(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--focal", "200", "--baseline", "100mm"});
  return arguments;
}

// Paints a black bar at the left border, with values of 0 and 2, and a white one into both images of the scene.
void paint(const fs::path& folder) {
  fs::create_directory(folder / "barred");
  for (const char* name : {"left", "right"}) {
    Image<std::uint8_t> image =
        std::get<Image<std::uint8_t>>(read_image(folder / "scene" / (name + std::string(".png"))).pixels);
    for (int y = 0; y < image.height(); ++y)
      for (int i = 0; i < image.width() * image.channels(); ++i) {
        const int x = i / image.channels();
        std::uint8_t& value = image.row(y)[i];
        value = x < 20 ? (x + y) % 2 * 2 : x > 120 ? 255 : std::max(value, std::uint8_t{9});
      }
    write_image(folder / "barred" / (name + std::string(".png")), image);
  }
}

TEST_F(Trust, ConstantRegionsAreNotMeasured) {
  paint(folder);
  const auto validity = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"match", "barred/left.png", "barred/right.png", "--disparities", "32", "-o", "b.pfm",
                               "--validity", "b.npy", "--report", "b.json"});
    const Answer answer = call(more);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return read_validity(folder / "b.npy");
  };
  const auto bits_of_bars = [](const Image<std::uint8_t>& bits) {
    std::pair<int, int> both{0, 0};  // pixels of the black bar that are masked, and of the white bar that are measured
    for (int y = 5; y < bits.height() - 5; ++y) {
      for (int x = 0; x < 20; ++x) both.first += bits(x, y) == validity::masked;
      for (int x = 126; x < bits.width(); ++x) both.second += bits(x, y) == 0;
    }
    return both;
  };
  const Image<std::uint8_t> of_two = validity({"--mask-black", "2"}), of_zero = validity({}),
                            measured = validity({"--measure-constant"});
  EXPECT_EQ(bits_of_bars(of_two), std::pair(20 * (of_two.height() - 10), 0));
  EXPECT_EQ(bits_of_bars(of_zero), std::pair(0, 0));
  EXPECT_GT(bits_of_bars(measured).second, 200);
  EXPECT_TRUE(json("b.json")["black"].is_null());
  const Image<std::uint8_t> bare = validity({"--no-fill"});
  const Image<float> map = disparity("b.pfm");
  int removed = 0;
  for (int y = 0; y < bare.height(); ++y)
    for (int x = 0; x < bare.width(); ++x) {
      EXPECT_EQ(std::isfinite(map(x, y)), (bare(x, y) & validity::reasons) == 0);
      removed += (bare(x, y) & validity::filled) != 0 && (bare(x, y) & validity::ambiguous) != 0;
      EXPECT_FALSE(bare(x, y) == validity::filled) << x << ' ' << y << ": nothing fills";
    }
  EXPECT_GT(removed, 200);
  validity({});
  EXPECT_EQ(json("b.json")["black"], 0);
  expect_refused(
      {"match", "barred/left.png", "barred/right.png", "-o", "b.pfm", "--mask-black", "2", "--measure-constant"},
      {"--mask-black", "--measure-constant"});
  expect_refused({"match", "barred/left.png", "barred/right.png", "-o", "b.pfm", "--mask-black", "256"},
                 {"256", "0 to 255"});
}

TEST_F(Trust, JpegFilesHaveBlackWithNoise) {
  for (const char* name : {"left", "right"})
    fs::copy_file(folder / "scene" / (name + std::string(".png")), folder / (name + std::string(".JPG")));
  const Answer answer =
      call({"match", "left.JPG", "right.JPG", "-o", "j.pfm", "--disparities", "32", "--report", "j.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(json("j.json")["black"], 2);
}

TEST_F(Trust, DepthAndPointsAreMeasuredUnlessTheyAreFilledOnRequest) {
  const Answer usual = match(with_rig(
      {"-o", "all.pfm", "--depth", "z.pfm", "--uncertainty", "u.pfm", "--cloud", "c.ply", "--validity", "v.png"}));
  ASSERT_EQ(usual.code, 0) << usual.err;
  EXPECT_NE(usual.out.find("all.pfm contains filled or repaired pixels (--measured-only"), std::string::npos);
  EXPECT_NE(usual.out.find("--fill-depth"), std::string::npos) << usual.out;
  ASSERT_EQ(match(with_rig({"-o", "d.pfm", "--depth", "z2.pfm", "--uncertainty", "u2.pfm", "--cloud", "c2.ply",
                            "--fill-depth"}))
                .code,
            0);
  const Image<float> all = disparity("all.pfm"), depth = disparity("z.pfm"), uncertainty = disparity("u.pfm"),
                     filled_depth = disparity("z2.pfm"), filled_uncertainty = disparity("u2.pfm");
  const Image<std::uint8_t> bits = read_validity(folder / "v.png");
  int measured = 0, present = 0;
  for (int y = 0; y < all.height(); ++y)
    for (int x = 0; x < all.width(); ++x) {
      const bool has_depth = all(x, y) > 0;
      ASSERT_EQ(std::isfinite(filled_depth(x, y)), has_depth);
      ASSERT_EQ(std::isfinite(filled_uncertainty(x, y)), has_depth);
      ASSERT_EQ(std::isfinite(depth(x, y)), has_depth && bits(x, y) == 0);
      ASSERT_EQ(std::isfinite(uncertainty(x, y)), has_depth && bits(x, y) == 0);
      measured += has_depth && bits(x, y) == 0;
      present += has_depth;
    }
  EXPECT_GT(present, measured + 100);
  const auto has_points = [](const fs::path& file, int count) {
    return contents(file).find("element vertex " + std::to_string(count) + "\n") != std::string::npos;
  };
  EXPECT_TRUE(has_points(folder / "c.ply", measured));
  EXPECT_TRUE(has_points(folder / "c2.ply", present));
  // `cloud` gives the same points.
  ASSERT_EQ(call(with_rig({"cloud", "all.pfm", "-o", "later.ply", "--validity", "v.png"})).code, 0);
  EXPECT_TRUE(has_points(folder / "later.ply", measured));
  ASSERT_EQ(call(with_rig({"cloud", "all.pfm", "-o", "later.ply"})).code, 0);
  EXPECT_TRUE(has_points(folder / "later.ply", present));

  expect_refused({"match", "left.png", "right.png", "-o", "new.pfm", "--fill-depth"}, {"--fill-depth", "--depth"});
  expect_refused(with_rig({"match", "left.png", "right.png", "-o", "new.pfm", "--depth", "new2.pfm", "--fill-depth",
                           "--measured-only"}),
                 {"--fill-depth", "--measured-only"});
}

TEST_F(Trust, FilledPixelsCanBeLeftOutOfEveryResult) {
  ASSERT_EQ(match({"-o", "all.pfm", "--validity", "v.png"}).code, 0);
  const Answer kept_only =
      match(with_rig({"-o", "kept.pfm", "--depth", "z.pfm", "--measured-only", "--validity", "v2.png"}));
  ASSERT_EQ(kept_only.code, 0) << kept_only.err;
  EXPECT_EQ(kept_only.out.find("filled"), std::string::npos) << kept_only.out;
  const Image<float> all = disparity("all.pfm"), kept = disparity("kept.pfm"), depth = disparity("z.pfm");
  const Image<std::uint8_t> bits = read_validity(folder / "v.png"), bits2 = read_validity(folder / "v2.png");
  for (int y = 0; y < all.height(); ++y)
    for (int x = 0; x < all.width(); ++x) {
      ASSERT_EQ(std::isfinite(kept(x, y)), bits(x, y) == 0);
      ASSERT_EQ(std::isfinite(depth(x, y)), std::isfinite(kept(x, y)) && kept(x, y) > 0);
      ASSERT_EQ((bits2(x, y) & validity::reasons) == 0, std::isfinite(kept(x, y)));
    }
  const Answer old_name = match({"-o", "old.pfm", "--drop-filled"});
  ASSERT_EQ(old_name.code, 0);
  EXPECT_TRUE(says(old_name, "--drop-filled is deprecated; use --measured-only")) << old_name.err;
  EXPECT_EQ(contents(folder / "old.pfm"), contents(folder / "kept.pfm"));

  ASSERT_EQ(match({"-o", "bare.pfm", "--no-fill", "--validity", "v3.png"}).code, 0);
  const Image<std::uint8_t> bare = read_validity(folder / "v3.png");
  for (int y = 0; y < bare.height(); ++y)
    for (int x = 0; x < bare.width(); ++x)
      ASSERT_NE(bare(x, y) & (validity::filled | validity::reasons), validity::filled);
  expect_refused({"match", "left.png", "right.png", "-o", "new.pfm", "--no-fill", "--set", "fill.mode=nearest"},
                 {"--no-fill", "fill.mode=nearest"});
}

TEST_F(Trust, ASecondPassTakesSettings) {
  ASSERT_EQ(match({"-o", "first.pfm"}).code, 0);
  ASSERT_EQ(match({"-o", "second.pfm", "--second-pass"}).code, 0);
  ASSERT_EQ(match({"-o", "weak.pfm", "--second-pass", "--set", "second_pass.weight=1"}).code, 0);
  EXPECT_NE(contents(folder / "second.pfm"), contents(folder / "first.pfm"));
  EXPECT_NE(contents(folder / "weak.pfm"), contents(folder / "second.pfm"));
  const Answer refused = match({"-o", "new.pfm", "--second-pass", "--method", "zncc"});
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(says(refused, "which requires semi-global matching")) << refused.err;
}

TEST_F(Trust, UnsurePixelsCanBeLeftOut) {
  ASSERT_EQ(match({"-o", "all.pfm", "--confidence", "c.pfm"}).code, 0);
  ASSERT_EQ(match({"-o", "sure.pfm", "--min-confidence", "0.5"}).code, 0);
  const Image<float> all = disparity("all.pfm"), sure = disparity("sure.pfm"),
                     confidence = read_disparity(folder / "c.pfm", 1);
  int left_out = 0;
  for (int y = 0; y < all.height(); ++y)
    for (int x = 0; x < all.width(); ++x) {
      ASSERT_EQ(std::isfinite(sure(x, y)), std::isfinite(all(x, y)) && confidence(x, y) >= 0.5F);
      left_out += std::isfinite(all(x, y)) && !std::isfinite(sure(x, y));
    }
  EXPECT_GT(left_out, 100);
  ASSERT_EQ(call({"cloud", "all.pfm", "--confidence", "c.pfm", "--min-confidence", "0.5", "--focal", "200",
                  "--baseline", "1", "-o", "c.ply"})
                .code,
            0);
  expect_refused({"cloud", "all.pfm", "--min-confidence", "0.5", "--focal", "200", "--baseline", "1", "-o", "new.ply"},
                 {"--confidence"});
}

// The right view's map is as good as the left one's: checked, sub-pixel, and the same as of the mirrored pair.
TEST_F(Trust, TheRightViewIsAsGoodAsTheLeftOne) {
  const Answer answer = call({"match", "wide/left.png", "wide/right.png", "-o", "d.pfm", "--right", "r.pfm",
                              "--disparities", "40", "--no-fill"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Image<std::uint8_t> nonocc = read_mask(folder / "wide/mask_nonocc.png");
  const Evaluation left = evaluate(disparity("d.pfm"), disparity("wide/disp_left.pfm"));
  const Evaluation right = evaluate(disparity("r.pfm"), disparity("wide/disp_right.pfm"));
  EXPECT_LT(right.valid.bad20, left.valid.bad20 + 3);
  EXPECT_LT(right.valid.avgerr, left.valid.avgerr + 0.3);
  EXPECT_LT(right.all.density, 99) << "not checked";
  const Image<float> r = disparity("r.pfm");
  int fractions = 0;
  for (int x = 0; x < r.width(); ++x) fractions += std::isfinite(r(x, 100)) && r(x, 100) != std::round(r(x, 100));
  EXPECT_GT(fractions, 50) << "not sub-pixel";
  // A region of it, cropped, with a mask.
  ASSERT_EQ(call({"match", "wide/left.png", "wide/right.png", "-o", "d.pfm", "--right", "part.pfm", "--disparities",
                  "40", "--roi", " 100, 50, 80, 60", "--crop"})
                .code,
            0);
  EXPECT_EQ(disparity("part.pfm").size(), (Size{80, 60}));
  EXPECT_LT(bad_pixels(disparity("part.pfm"),
                       Image<float>(disparity("wide/disp_right.pfm").view().crop({100, 50, 80, 60})), {}, 2),
            30);
}

// ---- Values ----

TEST_F(Trust, TenBitsInSixteenAndFloatsUpToOneAreSaidAndTaken) {
  for (const char* side : {"left", "right"}) {
    const AnyImage image = read_image(folder / "wide" / (std::string(side) + ".png"));
    const auto& pixels = std::get<Image<std::uint8_t>>(image.pixels);
    Image<std::uint16_t> ten(pixels.size(), 3);
    Image<float> one(pixels.size(), 3);
    for (int y = 0; y < pixels.height(); ++y)
      for (int i = 0; i < 3 * pixels.width(); ++i) {
        ten.row(y)[i] = static_cast<std::uint16_t>(pixels.row(y)[i] * 1023 / 255);
        one.row(y)[i] = static_cast<float>(pixels.row(y)[i]) / 255;
      }
    write_image(folder / (std::string("ten_") + side + ".png"), ten);
    write_image(folder / (std::string("one_") + side + ".pfm"), one);
  }
  for (const auto& [name, option, value] :
       {std::array{"ten_%s.png", "--bit-depth", "10"}, std::array{"one_%s.pfm", "--white", "1"}}) {
    const auto side = [&, pattern = std::string(name)](const char* which) {
      return std::string(pattern).replace(pattern.find("%s"), 2, which);
    };
    const std::string left = side("left"), right = side("right");
    const Answer dim = call({"match", left, right, "-o", "d.pfm", "--disparities", "40"});
    EXPECT_TRUE(says(dim, std::string(option) + " " + value)) << dim.err;
    EXPECT_TRUE(says(dim, "low contrast")) << dim.err;
    const Answer checked = call({"check", left, right});
    EXPECT_NE(checked.out.find("low contrast"), std::string::npos) << checked.out;
    const Answer bright = call({"match", left, right, "-o", "d.pfm", "--disparities", "40", option, value});
    EXPECT_EQ(bright.code, 0) << bright.err;
    EXPECT_EQ(bright.err, "");
    EXPECT_LT(
        bad_pixels(disparity("d.pfm"), disparity("wide/disp_left.pfm"), read_mask(folder / "wide/mask_nonocc.png"), 2),
        12);
  }
  expect_refused({"match", "ten_left.png", "ten_right.png", "-o", "new.pfm", "--disparities", "40", "--bit-depth", "9"},
                 {"ten_left.png", "511"});
  expect_refused(
      {"match", "wide/left.png", "wide/right.png", "-o", "new.pfm", "--disparities", "40", "--bit-depth", "10"},
      {"--bit-depth", "left.png"});
  expect_refused({"match", "wide/left.png", "wide/right.png", "-o", "new.pfm", "--disparities", "40", "--white", "1"},
                 {"--white", "left.png"});
}

// Thermal images: 16 bits, of which a narrow range far from 0 is used, with defective pixels.
TEST_F(Trust, ANarrowRangeInSixteenBitsIsMatchedAndCanBeStretched) {
  for (const char* side : {"left", "right"}) {
    const AnyImage image = read_image(folder / "wide" / (std::string(side) + ".png"));
    const auto& pixels = std::get<Image<std::uint8_t>>(image.pixels);
    Image<std::uint16_t> kelvin(pixels.size());
    for (int y = 0; y < pixels.height(); ++y)
      for (int x = 0; x < pixels.width(); ++x) kelvin(x, y) = static_cast<std::uint16_t>(29500 + 2 * pixels(x, y, 1));
    kelvin(17, 33) = 65535;
    kelvin(60, 40) = 0;
    write_image(folder / (std::string("kelvin_") + side + ".png"), kelvin);
  }
  const auto bad = [&] {
    return bad_pixels(disparity("d.pfm"), disparity("wide/disp_left.pfm"), read_mask(folder / "wide/mask_nonocc.png"),
                      2);
  };
  const Answer plain = call({"match", "kelvin_left.png", "kelvin_right.png", "-o", "d.pfm"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_TRUE(says(plain, "estimated from the images")) << plain.err;
  EXPECT_TRUE(says(plain, "low contrast") && says(plain, "--black 29") && says(plain, "--white 30")) << plain.err;
  EXPECT_FALSE(says(plain, "--bit-depth")) << plain.err;
  EXPECT_LT(bad(), 12);
  EXPECT_EQ(call({"check", "kelvin_left.png", "kelvin_right.png"}).code, 0);
  const std::vector<std::string> stretched = {"match",   "kelvin_left.png", "kelvin_right.png", "-o",    "d.pfm",
                                              "--black", "29500",           "--white",          "30010", "--strict"};
  const Answer little = call({"match", "kelvin_left.png", "kelvin_right.png", "-o", "d.pfm", "--white", "30010"});
  EXPECT_TRUE(says(little, "% of the range from black to white")) << little.err;
  const Answer done = call(stretched);
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_FALSE(says(done, "low contrast")) << done.err;
  EXPECT_LT(bad(), 12);
  expect_refused({"match", "kelvin_left.png", "kelvin_right.png", "-o", "new.pfm", "--white", "3000"},
                 {"kelvin_left.png", "outside 0 to 3000"});
  expect_refused({"match", "kelvin_left.png", "kelvin_right.png", "-o", "new.pfm", "--black", "70000"},
                 {"--black 70000", "65535"});
  expect_refused({"match", "kelvin_left.png", "kelvin_right.png", "-o", "new.pfm", "--bit-depth", "16", "--black", "1"},
                 {"--bit-depth", "leave one of them out"});
}

// ---- Parameters ----

TEST_F(Trust, AParameterOfWhatIsSwitchedOffIsRefused) {
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "new.pfm", "--disparities", "8", "--method",
                  "banz-sgm", "--set", "speckle.size=50"},
                 {"speckle.size", "speckle.enabled=true"});
  expect_refused({"bench", "--size", "96x64x16", "--method", "banz-sgm:fill.mode=nearest"},
                 {"fill.mode", "fill.enabled=true"});
  EXPECT_EQ(
      match({"-o", "d.pfm", "--method", "banz-sgm", "--set", "speckle.size=50", "--set", "speckle.enabled=true"}).code,
      0);
}

TEST_F(Trust, HelpTellsTheInvalidValueOfFloatFiles) {
  EXPECT_NE(call({"match", "--help"}).out.find("invalid = inf"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::test
