// Pairs that `match`, `rectify` and `check` accept: both views in one picture, videos, lists, folders, names with time
// stamps, sequences with missing frames, grey beside colour. The results are those of the same pairs as plain files.
#include <chrono>

#include "command.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "support/rigs.hpp"

namespace stereopsis::test {
namespace {

class Inputs : public Command {
 protected:
  static constexpr int frames = 4;

  // Frames 0 to 3 in left/ and right/, and their maps in alone/.
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    for (const char* name : {"left", "right", "alone"}) fs::create_directory(folder / name);
    for (int i = 0; i < frames; ++i) {
      const std::string n = std::to_string(i);
      ASSERT_EQ(
          call({"synth", "-o", "s" + n, "--width", "90", "--height", "60", "--disparities", "16", "--seed", n}).code,
          0);
      fs::copy_file(folder / ("s" + n) / "left.png", folder / ("left/" + n + ".png"));
      fs::copy_file(folder / ("s" + n) / "right.png", folder / ("right/" + n + ".png"));
    }
    const Answer alone = call({"match", "left", "right", "-o", "alone", "--disparities", "16"});
    ASSERT_EQ(alone.code, 0) << alone.err;
  }

  void SetUp() override {
    out = testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directory(folder / out);
  }

  // `match` into the folder of this test.
  Answer match_to_out(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "match");
    arguments.insert(arguments.end(), {"-o", out, "--disparities", "16"});
    return call(arguments);
  }

  void expect_map(const std::string& name, int frame) {
    const std::string got = contents(folder / out / name);
    EXPECT_FALSE(got.empty()) << name;
    EXPECT_TRUE(got == contents(folder / "alone" / (std::to_string(frame) + ".pfm"))) << name;
  }

  std::string out;
};

Image<std::uint8_t> pixels(const fs::path& file) { return std::get<Image<std::uint8_t>>(read_image(file).pixels); }

// Returns both images in one, the second below or beside the first.
Image<std::uint8_t> joined(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b, bool below) {
  Image<std::uint8_t> both(below ? a.width() : 2 * a.width(), below ? 2 * a.height() : a.height(), a.channels());
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      for (int c = 0; c < a.channels(); ++c) {
        both(x, y, c) = a(x, y, c);
        both(below ? x : x + a.width(), below ? y + a.height() : y, c) = b(x, y, c);
      }
  return both;
}

void copy_frames(const fs::path& from, const fs::path& to, const std::vector<std::pair<int, std::string>>& names) {
  fs::create_directories(to);
  for (const auto& [frame, name] : names) fs::copy_file(from / (std::to_string(frame) + ".png"), to / name);
}

// ---- Both views in one picture ----

TEST_F(Inputs, BothViewsInOnePicture) {
  for (const bool below : {false, true}) {
    const std::string name = below ? "top" : "side";
    fs::create_directory(folder / name);
    for (int i = 0; i < frames; ++i) {
      const std::string n = std::to_string(i) + ".png";
      write_image(folder / name / n, joined(pixels(folder / "left" / n), pixels(folder / "right" / n), below));
    }
    const Answer answer = match_to_out({name, below ? "--top-bottom" : "--side-by-side"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    for (int i = 0; i < frames; ++i) expect_map(std::to_string(i) + ".pfm", i);
  }
  write(folder / "side/times.csv", "time,image\n0.1,2.png\n0.2,3.png\n");
  const Answer listed = match_to_out({"side/times.csv", "--side-by-side"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  expect_map("3.pfm", 3);
  write(folder / "side/times.csv", "time,image\n0.1,none.png\n");
  const Answer absent = match_to_out({"side/times.csv", "--side-by-side"});
  EXPECT_NE(absent.err.find("line 2: '0.1,none.png' does not have one image"), std::string::npos) << absent.err;
  const Answer one = call({"match", "side/2.png", "--side-by-side", "-o", out + "/one.pfm", "--disparities", "16"});
  ASSERT_EQ(one.code, 0) << one.err;
  expect_map("one.pfm", 2);
}

// By convention, the right view is the left half of a JPS.
TEST_F(Inputs, TheViewsOfOnePictureCanBeExchanged) {
  write_image(folder / "swapped.png", joined(pixels(folder / "right/1.png"), pixels(folder / "left/1.png"), false));
  fs::copy_file(folder / "swapped.png", folder / "swapped.jps");
  const auto match_one = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "match");
    more.insert(more.end(), {"-o", out + "/one.pfm", "--disparities", "16"});
    const Answer answer = call(more);
    EXPECT_EQ(answer.code, 0) << answer.err;
    expect_map("one.pfm", 1);
    return answer;
  };
  match_one({"swapped.png", "--side-by-side", "--right-first"});
  const Answer by_convention = match_one({"swapped.jps"});
  EXPECT_NE(by_convention.err.find("holds the right view in its left half"), std::string::npos) << by_convention.err;
  ASSERT_EQ(call({"synth", "-o", "judged", "--width", "320", "--height", "240", "--disparities", "32"}).code, 0);
  write_image(folder / "judged.png",
              joined(pixels(folder / "judged/right.png"), pixels(folder / "judged/left.png"), false));
  const Answer wrong = call({"match", "judged.png", "--side-by-side", "-o", "d.pfm", "--strict"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("add --right-first"), std::string::npos) << wrong.err;
  EXPECT_EQ(wrong.err.find("judged.png"), wrong.err.rfind("judged.png")) << "one file is named once: " << wrong.err;
  for (const std::vector<std::string>& two : {std::vector<std::string>{"left/0.png", "right/0.png"}, {"s0"}}) {
    std::vector<std::string> arguments = {"match", "-o", "d.pfm", "--right-first"};
    arguments.insert(arguments.begin() + 1, two.begin(), two.end());
    const Answer answer = call(arguments);
    EXPECT_EQ(answer.code, 2) << answer.err;
    EXPECT_NE(answer.err.find("--right-first applies to files that hold both views"), std::string::npos) << answer.err;
  }
}

TEST_F(Inputs, APictureOfAFileIsItsInput) {
  const Answer numbered =
      call({"match", "left/1.png[0]", "right/1.png[0]", "-o", out + "/one.pfm", "--disparities", "16"});
  ASSERT_EQ(numbered.code, 0) << numbered.err;
  expect_map("one.pfm", 1);
  const Answer over = call({"match", "left/1.png[0]", "right/1.png", "-o", "d.pfm", "--color", "left/1.png"});
  EXPECT_EQ(over.code, 2) << over.err;
  EXPECT_NE(over.err.find("which is an input"), std::string::npos) << over.err;
  const Answer absent = call({"match", "left/1.png[1]", "right/1.png", "-o", "d.pfm"});
  EXPECT_NE(absent.err.find("there is no picture [1]"), std::string::npos) << absent.err;
}

TEST_F(Inputs, ScenesOfTwoSizesAreNamed) {
  for (const char* name : {"sizes/a", "sizes/b"})
    ASSERT_EQ(call({"synth", "-o", name, "--height", "64", "--width", name[6] == 'a' ? "96" : "80"}).code, 0);
  const Answer answer = call({"match", "sizes", "-o", "maps", "--disparities", "8"});
  EXPECT_EQ(answer.code, 2) << answer.err;
  for (const char* part : {"sizes/b/left.png is 80×64", "the first frame, sizes/a/left.png, is 96×64", "another call"})
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
}

TEST_F(Inputs, APictureThatCannotBeHalvedIsRejected) {
  write_image(folder / "odd.png", Image<std::uint8_t>({91, 60}, 1, std::uint8_t{9}));
  const Answer odd = call({"match", "odd.png", "--side-by-side", "-o", "odd.pfm"});
  EXPECT_EQ(odd.code, 2);
  EXPECT_NE(odd.err.find("odd.png is 91×60"), std::string::npos) << odd.err;
  EXPECT_NE(call({"match", "scene/left.png", "-o", "odd.pfm"}).err.find("--side-by-side"), std::string::npos);
  EXPECT_EQ(call({"match", "odd.png", "odd.png", "--side-by-side", "-o", "odd.pfm"}).code, 2);
  EXPECT_EQ(call({"match", "odd.png", "--side-by-side", "--top-bottom", "-o", "odd.pfm"}).code, 2);
}

// ---- Lists and folders ----

TEST_F(Inputs, AListOfPairs) {
  fs::create_directory(folder / "lists");
  const auto expect = [&](const std::string& name, const std::string& text) {
    write(folder / "lists" / name, text);
    const Answer answer = match_to_out({"lists/" + name});
    ASSERT_EQ(answer.code, 0) << answer.err;
    expect_map("0.pfm", 0);
    expect_map("3.pfm", 3);
    fs::remove_all(folder / out);
    fs::create_directory(folder / out);
  };
  expect("plain.csv", "../left/3.png,../right/3.png\n../left/0.png,../right/0.png\n");
  expect("headed.csv", "time,right,left\n1,../right/0.png,../left/0.png\r\n2,../right/3.png,../left/3.png\r\n");
  expect("marked.csv", "\xEF\xBB\xBFright,left\n../right/0.png,../left/0.png\n../right/3.png,../left/3.png\n");
  expect("tabs.txt", "# left and right\n\"../left/0.png\"\t../right/0.png\n\n../left/3.png\t../right/3.png\n");

  expect("times.csv", "time,a,b\n0.1,../left/0.png,../right/0.png\n0.2,../left/3.png,../right/3.png\n");
  write(folder / "lists/missing.csv", "left,right\n../left/0.png,../right/9.png\n");
  const Answer missing = match_to_out({"lists/missing.csv"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("missing.csv, line 2"), std::string::npos) << missing.err;
  write(folder / "lists/narrow.csv", "../left/0.png\n");
  EXPECT_EQ(match_to_out({"lists/narrow.csv"}).code, 2);
  write(folder / "lists/heading.csv", "images\n../left/0.png,../right/0.png\n");
  const Answer heading = match_to_out({"lists/heading.csv"});
  EXPECT_EQ(heading.code, 2);
  EXPECT_NE(heading.err.find("heading.csv, line 1: the heading 'images' names 1 column"), std::string::npos)
      << heading.err;
  write(folder / "lists/binary.csv", "left,right\n\x89PNG\x1a,\xff\n");
  const Answer binary = match_to_out({"lists/binary.csv"});
  EXPECT_EQ(binary.code, 2);
  EXPECT_NE(binary.err.find("binary.csv is not a list of images, because line 2 contains the byte 26; save"),
            std::string::npos)
      << binary.err;
}

// The files of a list may have one name in many folders, which then name the results.
TEST_F(Inputs, AListOfScenes) {
  write(folder / "scenes.csv", "s0/left.png,s0/right.png\ns1/left.png,s1/right.png\n");
  const Answer answer = match_to_out({"scenes.csv"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_map("s0.pfm", 0);
  expect_map("s1.pfm", 1);
}

TEST_F(Inputs, AFolderWithBothViews) {
  copy_frames(folder / "left", folder / "euroc/cam0/data", {{0, "0.png"}, {1, "1.png"}});
  copy_frames(folder / "right", folder / "euroc/cam1/data", {{0, "0.png"}, {1, "1.png"}});
  const Answer sequence = match_to_out({"euroc"});
  ASSERT_EQ(sequence.code, 0) << sequence.err;
  expect_map("1.pfm", 1);
  const Answer scene = call({"match", "s2", "-o", out + "/scene.pfm", "--disparities", "16"});
  ASSERT_EQ(scene.code, 0) << scene.err;
  expect_map("scene.pfm", 2);
}

TEST_F(Inputs, FoldersOfScenesNameTheResults) {
  for (const char* scene : {"0", "1"})
    for (const auto& [view, name] : {std::pair{"left", "im0.png"}, {"right", "im1.png"}})
      copy_frames(folder / view, folder / "trainingQ" / ("Scene" + std::string(scene)), {{scene[0] - '0', name}});
  const auto expect = [this](const std::vector<std::string>& inputs) {
    const Answer answer = match_to_out(inputs);
    ASSERT_EQ(answer.code, 0) << answer.err;
    expect_map("Scene0.pfm", 0);
    expect_map("Scene1.pfm", 1);
    fs::remove_all(folder / out);
    fs::create_directory(folder / out);
  };
  expect({"trainingQ"});
  expect({"trainingQ/*/im0.png", "trainingQ/*/im1.png"});
  const Answer starred = call({"match", "trainingQ", "-o", out + "/*/disp0sgm.pfm", "--disparities", "16"});
  ASSERT_EQ(starred.code, 0) << starred.err;
  expect_map("Scene1/disp0sgm.pfm", 1);
  ASSERT_EQ(call({"match", "trainingQ", "-o", out + "/*/disp0sgm.pfm", "--disparities", "16", "--resume"}).code, 0);
}

TEST_F(Inputs, NamesOfBothSidesInOneFolder) {
  copy_frames(folder / "left", folder / "photos", {{0, "harbour_left.png"}, {1, "tower_L5_left.png"}});
  copy_frames(folder / "right", folder / "photos", {{0, "harbour_right.png"}, {1, "tower_L5_right.png"}});
  const Answer answer = match_to_out({"photos"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_map("harbour.pfm", 0);
  expect_map("tower_L5.pfm", 1);
  const Answer patterns = match_to_out({"photos/*_left.png", "photos/*_right.png"});
  ASSERT_EQ(patterns.code, 0) << patterns.err;
  expect_map("harbour_left.pfm", 0);
}

// ---- Frames without a partner ----

TEST_F(Inputs, MissingFramesAreSkippedAndCounted) {
  copy_frames(folder / "left", folder / "gaps/left", {{0, "0000.png"}, {1, "0001.png"}, {3, "0003.png"}});
  copy_frames(folder / "right", folder / "gaps/right", {{0, "0000.png"}, {2, "0002.png"}, {3, "0003.png"}});
  const Answer refused = match_to_out({"gaps/left", "gaps/right"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--keep-going"), std::string::npos) << refused.err;

  const Answer answer = match_to_out({"gaps/left", "gaps/right", "--keep-going", "--report", "gaps.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("2 images have no partner"), std::string::npos) << answer.err;
  expect_map("0000.pfm", 0);
  expect_map("0003.pfm", 3);
  EXPECT_FALSE(fs::exists(folder / out / "0001.pfm"));
  const Json report = json("gaps.json");
  EXPECT_EQ(report["frames"].size(), 2U);
  EXPECT_EQ(report["without_partner"], (Json{"gaps/left/0001.png", "gaps/right/0002.png"}));
}

TEST_F(Inputs, NoCommonFrameIsAnErrorEvenWithKeepGoing) {
  copy_frames(folder / "left", folder / "apart/left", {{0, "0.png"}, {1, "1.png"}});
  copy_frames(folder / "right", folder / "apart/right", {{2, "2.png"}, {3, "3.png"}});
  EXPECT_EQ(match_to_out({"apart/left", "apart/right", "--keep-going"}).code, 2);
}

// A frame that fails again is not to be repeated with --resume.
TEST_F(Inputs, ResumeIsNotOfferedWhereItFailsAgain) {
  copy_frames(folder / "left", folder / "sizes/left", {{0, "0.png"}, {1, "1.png"}});
  copy_frames(folder / "right", folder / "sizes/right", {{0, "0.png"}, {1, "1.png"}});
  for (const char* side : {"left", "right"})
    write_image(folder / "sizes" / side / "1.png", Image<std::uint8_t>({80, 60}, 3, std::uint8_t{7}));
  const Answer answer = match_to_out({"sizes/left", "sizes/right"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err.find("--resume"), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("--keep-going"), std::string::npos) << answer.err;
}

TEST_F(Inputs, MasksMayHaveFramesThatThePairsLack) {
  copy_frames(folder / "left", folder / "some/left", {{0, "0.png"}, {3, "3.png"}});
  copy_frames(folder / "right", folder / "some/right", {{0, "0.png"}, {2, "2.png"}, {3, "3.png"}});
  fs::create_directory(folder / "masks");
  for (const char* name : {"0.png", "1.png", "3.png"})
    write_image(folder / "masks" / name, Image<std::uint8_t>({90, 60}, 1, std::uint8_t{255}));
  const std::vector<std::string> call = {"some/left", "some/right", "--keep-going", "--mask-left", "masks"};
  const Answer answer = match_to_out(call);
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_map("0.pfm", 0);
  expect_map("3.pfm", 3);
  fs::remove(folder / "masks/3.png");
  const Answer without = match_to_out(call);
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("some/left/3.png has no partner in masks"), std::string::npos) << without.err;
}

TEST_F(Inputs, ResumeMatchesTheFramesOfAChangedListAgain) {
  write(folder / "pairs.csv", "s0/left.png,s0/right.png\ns1/left.png,s1/right.png\n");
  ASSERT_EQ(match_to_out({"pairs.csv"}).code, 0);
  write(folder / "pairs.csv", "s2/left.png,s2/right.png\ns1/left.png,s1/right.png\n");
  fs::last_write_time(folder / "pairs.csv", fs::file_time_type::clock::now() + std::chrono::seconds(5));
  const Answer answer = match_to_out({"pairs.csv", "--resume"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_map("s2.pfm", 2);
  expect_map("s1.pfm", 1);
}

// ---- Other subcommands ----

TEST_F(Inputs, CheckAndRectifyReadTheSamePairs) {
  write_image(folder / "one.png", joined(pixels(folder / "left/1.png"), pixels(folder / "right/1.png"), false));
  const Answer alone = call({"check", "left/1.png", "right/1.png", "--json"}),
               halves = call({"check", "one.png", "--side-by-side", "--json"}), scene = call({"check", "s1", "--json"});
  ASSERT_EQ(alone.code, 1) << "images of 90×60 pixels are not judged: " << alone.err;
  EXPECT_EQ(halves.out, alone.out) << halves.err;
  EXPECT_EQ(scene.out, alone.out) << scene.err;
  EXPECT_NE(call({"check", "left", "right"}).out.find("the first of 4 pairs"), std::string::npos);

  const std::vector<std::string> calibration = {"--calib", "cameras.yml", "-o"};
  write_calibration(folder / "cameras.yml", calibration_for({90, 60}));
  for (const auto& [given, to] :
       {std::pair<std::vector<std::string>, std::string>{{"left/1.png", "right/1.png"}, "two"},
        {{"one.png", "--side-by-side"}, "halves"}}) {
    fs::create_directory(folder / to);
    std::vector<std::string> words = {"rectify"};
    words.insert(words.end(), given.begin(), given.end());
    words.insert(words.end(), calibration.begin(), calibration.end());
    words.push_back(to);
    const Answer answer = call(words);
    ASSERT_EQ(answer.code, 0) << answer.err;
  }
  for (const char* side : {"left", "right"})
    EXPECT_TRUE(contents(folder / "two" / side / "1.png") == contents(folder / "halves" / side / "one.png")) << side;
}

// ---- Time stamps ----

TEST_F(Inputs, PairsOfNearestTimeStamps) {
  // The right camera is late by up to 24 µs, and missed the second frame.
  copy_frames(folder / "left", folder / "cam0",
              {{0, "1403636579763555584.png"}, {1, "1403636579813555456.png"}, {2, "1403636579863555328.png"}});
  copy_frames(folder / "right", folder / "cam1", {{0, "1403636579763555600.png"}, {2, "1403636579863579584.png"}});
  const Answer by_number = match_to_out({"cam0", "cam1"});
  EXPECT_EQ(by_number.code, 2);
  EXPECT_NE(by_number.err.find("--pair stamp"), std::string::npos) << by_number.err;

  const Answer answer = match_to_out({"cam0", "cam1", "--pair", "stamp"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("1 image has no partner"), std::string::npos) << answer.err;
  expect_map("1403636579763555584.pfm", 0);
  expect_map("1403636579863555328.pfm", 2);

  const Answer strict = match_to_out({"cam0", "cam1", "--pair", "stamp", "--slop", "20us", "--report", "slop.json"});
  ASSERT_EQ(strict.code, 0) << strict.err;
  EXPECT_EQ(json("slop.json")["frames"].size(), 1U);
  EXPECT_EQ(match_to_out({"cam0", "cam1", "--pair", "stamp", "--slop", "1ns"}).code, 2);
  EXPECT_EQ(match_to_out({"cam0", "cam1", "--pair", "stamp", "--slop", "soon"}).code, 2);
  EXPECT_EQ(match_to_out({"cam0", "cam1", "--slop", "5ms"}).code, 2);
  EXPECT_EQ(match_to_out({"cam0", "cam1", "--pair", "name"}).code, 2);
}

// A date without separators is one number, but no count of nanoseconds.
TEST_F(Inputs, TimesFromNamesThatAreDates) {
  for (const auto& [separator, before_fraction] : {std::pair{"T", ""}, {"_", "."}, {"", ""}}) {
    const auto name = [&](const std::string& time, const std::string& fraction) {
      return "frame_20260131" + (separator + time) + (before_fraction + fraction);
    };
    fs::remove_all(folder / "dates");
    copy_frames(folder / "left", folder / "dates/left",
                {{0, name("235958", "900") + ".png"}, {1, name("235959", "000") + ".png"}});
    copy_frames(folder / "right", folder / "dates/right",
                {{1, name("235959", "004") + ".png"}, {2, name("235959", "100") + ".png"}});
    const Answer answer = match_to_out({"dates", "--pair", "stamp", "--slop", "5ms", "--report", "dates.json"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(json("dates.json")["frames"].size(), 1U);
    expect_map(name("235959", "000") + ".pfm", 1);
  }
  copy_frames(folder / "left", folder / "long/left", {{0, "123456789012345678901234.png"}, {1, "2.png"}});
  copy_frames(folder / "right", folder / "long/right", {{0, "1.png"}, {1, "2.png"}});
  const Answer answer = match_to_out({"long", "--pair", "stamp"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("has no time in its name"), std::string::npos) << answer.err;
}

TEST_F(Inputs, TimesFromAFileBesideTheImages) {
  copy_frames(folder / "left", folder / "kitti/image_02/data", {{0, "0.png"}, {1, "1.png"}, {2, "2.png"}});
  copy_frames(folder / "right", folder / "kitti/image_03/data", {{1, "0.png"}, {2, "1.png"}});
  write(folder / "kitti/image_02/timestamps.txt",
        "2011-09-26 13:59:59.900000000\n2011-09-26 14:00:00.000000000\n2011-09-26 14:00:00.100000000\n");
  write(folder / "kitti/image_03/timestamps.txt", "2011-09-26 14:00:00.004\n2011-09-26 14:00:00.104\n");
  const Answer answer = match_to_out({"kitti", "--pair", "stamp", "--slop", "5ms"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  expect_map("1.pfm", 1);
  expect_map("2.pfm", 2);
  EXPECT_FALSE(fs::exists(folder / out / "0.pfm"));
  write(folder / "kitti/image_03/timestamps.txt", "2011-09-26 14:00:00.004\n");
  const Answer few = match_to_out({"kitti", "--pair", "stamp"});
  EXPECT_EQ(few.code, 1);
  EXPECT_NE(few.err.find("1 times for 2 images"), std::string::npos) << few.err;
}

// ---- Grey beside colour ----

TEST_F(Inputs, GreyBesideColourIsMatchedInGrey) {
  const Image<std::uint8_t> colour = pixels(folder / "right/0.png");
  Image<std::uint8_t> grey(colour.size());
  for (int y = 0; y < grey.height(); ++y)
    for (int x = 0; x < grey.width(); ++x)
      grey(x, y) = static_cast<std::uint8_t>(
          (19595U * colour(x, y, 0) + 38470U * colour(x, y, 1) + 7471U * colour(x, y, 2) + 32768U) >> 16);
  write_image(folder / "grey.png", grey);
  // `sgm` matches in grey, so that the map is the same.
  const Answer answer = call({"match", "left/0.png", "grey.png", "-o", out + "/mixed.pfm", "--disparities", "16"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("matched in grey"), std::string::npos) << answer.err;
  expect_map("mixed.pfm", 0);
  write_image(folder / "right/1.png", grey);
  const Answer later = match_to_out({"left", "right"});
  EXPECT_EQ(later.code, 2);
  EXPECT_NE(later.err.find("right/1.png is 8-bit grey; both are matched in grey, but the first"), std::string::npos)
      << later.err;
}

// ---- Videos ----

// A video without compression: grey frames of even size, 10 a second.
void write_video(const fs::path& file, const std::vector<Image<std::uint8_t>>& images) {
  std::string video = "YUV4MPEG2 W" + std::to_string(images[0].width()) + " H" + std::to_string(images[0].height()) +
                      " F10:1 Ip C420jpeg\n";
  for (const Image<std::uint8_t>& image : images) {
    video += "FRAME\n";
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) video += static_cast<char>(image(x, y, 1));
    video += std::string(static_cast<std::size_t>(image.width()) * image.height() / 2, '\x80');
  }
  write(file, video);
}

TEST_F(Inputs, Videos) {
  std::vector<Image<std::uint8_t>> left, right, both;
  for (int i = 0; i < frames; ++i) {
    const std::string n = std::to_string(i) + ".png";
    left.push_back(pixels(folder / "left" / n));
    right.push_back(pixels(folder / "right" / n));
    both.push_back(joined(left.back(), right.back(), false));
  }
  write_video(folder / "left.y4m", left);
  write_video(folder / "right.y4m", right);
  write_video(folder / "both.y4m", both);
  const Answer answer = match_to_out({"left.y4m", "right.y4m"});
#ifdef STEREOPSIS_HAS_OPENCV
  ASSERT_EQ(answer.code, 0) << answer.err;
  ASSERT_EQ(match_to_out({"both.y4m", "--side-by-side"}).code, 0);
  for (int i = 0; i < frames; ++i) {
    const std::string n = std::to_string(i), map = out + "/left_00000" + n + ".pfm";
    EXPECT_TRUE(contents(folder / map) == contents(folder / out / ("both_00000" + n + ".pfm")));
    const Answer truth = call({"evaluate", map, "--truth", "s" + n + "/disp_left.pfm", "--json", "truth.json"});
    ASSERT_EQ(truth.code, 0) << truth.err;
    EXPECT_LT(json("truth.json")["measures"]["bad2.0"].get<double>(), 30) << "frame " << n;
  }
  right.pop_back();
  write_video(folder / "short.y4m", right);
  EXPECT_EQ(match_to_out({"left.y4m", "short.y4m"}).code, 2);
  const Answer shorter = match_to_out({"left.y4m", "short.y4m", "--keep-going"});
  EXPECT_EQ(shorter.code, 0) << shorter.err;
  EXPECT_NE(shorter.err.find("frame 3 of left.y4m"), std::string::npos) << shorter.err;
#else
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(answer.err.find("the video left.y4m requires OpenCV"), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("libopencv-dev"), std::string::npos) << answer.err;
#endif
}

TEST_F(Inputs, ADamagedVideoIsAnErrorOfTheFile) {
  write(folder / "bad.avi", "RIFF this is no video");
  EXPECT_EQ(match_to_out({"bad.avi", "bad.avi"}).code, 1);
}

}  // namespace
}  // namespace stereopsis::test
