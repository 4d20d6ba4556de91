// `match` names the fault of a pair, whoever gave the range: it checks the first pair, and every pair of which little is
// measured.
#include <array>
#include <cmath>
#include <functional>

#include "command.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Pairs : public Command {
 protected:
  using Grey = Image<std::uint8_t>;

  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    constexpr std::array scenes = {"table", "clutter", "room", "garden", "street"};  // two tables share textures
    for (std::size_t i = 0; i < scenes.size(); ++i)
      made("s" + std::to_string(i), {"--scene", scenes[i], "--seed", "5", "--noise", "2"});
    made("raw", {"--seed", "5", "--noise", "2", "--vertical-offset", "6"});
  }

  static void made(const std::string& name, std::vector<std::string> options) {
    options.insert(options.begin(), {"synth", "-o", name, "--width", "320", "--height", "240", "--disparities", "32"});
    const Answer answer = call(options);
    ASSERT_EQ(answer.code, 0) << answer.err;
  }

  static Grey grey(const fs::path& file) {
    const AnyImage image = read_image(folder / file);
    const auto& rgb = std::get<Grey>(image.pixels);
    Grey out(rgb.size());
    for (int y = 0; y < out.height(); ++y)
      for (int x = 0; x < out.width(); ++x) out(x, y) = rgb(x, y, 1);
    return out;
  }

  // Writes `name` with the pixels of `image` at source(x, y).
  static void write_moved(const std::string& name, const Grey& image, Size size,
                          const std::function<std::pair<int, int>(int, int)>& source) {
    Grey out(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto [u, v] = source(x, y);
        out(x, y) = image(u, v);
      }
    write_image(folder / name, out.view());
  }

  static Answer match_pair(const std::string& left, const std::string& right, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"match", left, right, "-o", "d.pfm", "--disparities", "32"});
    return call(more);
  }

  // Expects one warning with these words, exit code 1 with --strict, and a complaint of `check`.
  static void expect_warned(const std::string& left, const std::string& right, const std::vector<std::string>& words) {
    SCOPED_TRACE(left + " " + right);
    const Answer plain = match_pair(left, right), strict = match_pair(left, right, {"--strict"});
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(strict.code, 1) << strict.err;
    const Answer check = call({"check", left, right});
    EXPECT_EQ(check.code, 1) << check.out;
    for (const std::string& word : words)
      for (const std::string* text : {&plain.err, &strict.err, &check.out})
        EXPECT_NE(text->find(word), std::string::npos) << word << ": " << *text;
  }

  // Folders left/ and right/ of frames; frame i has the left image of scene lefts[i], and the right one of rights[i].
  static void make_sequence(const fs::path& place, const std::vector<int>& lefts, const std::vector<int>& rights) {
    for (const auto& [side, scenes] : {std::pair{"left", &lefts}, {"right", &rights}}) {
      fs::create_directories(folder / place / side);
      for (std::size_t i = 0; i < scenes->size(); ++i)
        fs::copy_file(folder / ("s" + std::to_string((*scenes)[i])) / (std::string(side) + ".png"),
                      folder / place / side / (std::to_string(i) + ".png"));
    }
    fs::create_directories(folder / place / "out");
  }

  static Answer match_sequence(const std::string& place, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"match", place + "/left", place + "/right", "-o", place + "/out", "--disparities", "32",
                               "--report", place + ".json"});
    return call(more);
  }

  static bool says(const Answer& answer, const std::string& words) {
    return answer.err.find(words) != std::string::npos;
  }

  static constexpr int frames = 5;
};

TEST_F(Pairs, AGoodPairIsNotWarnedOf) {
  for (int i = 0; i < frames; ++i) {
    const std::string s = "s" + std::to_string(i);
    for (const char* method : {"sgm", "ad-census", "esaw"}) {
      const Answer answer = match_pair(s + "/left.png", s + "/right.png", {"--method", method, "--strict"});
      EXPECT_EQ(answer.code, 0) << method << answer.err;
      EXPECT_EQ(answer.err, "") << method;
    }
  }
}

TEST_F(Pairs, RowsThatDiffer) { expect_warned("raw/left.png", "raw/right.png", {"rows do not correspond", "rectify"}); }

TEST_F(Pairs, CheckProposesARangeForRectifiedPairsOnly) {
  const Answer raw = call({"check", "raw/left.png", "raw/right.png"});
  EXPECT_EQ(raw.code, 1);
  EXPECT_EQ(raw.out.find("--disparities"), std::string::npos) << raw.out;
  EXPECT_NE(raw.out.find("not known before the pair is rectified"), std::string::npos) << raw.out;
  const Json report = Json::parse(call({"check", "raw/left.png", "raw/right.png", "--json"}).out);
  EXPECT_TRUE(report["disparities"].is_null() && report["min_disparity"].is_null());
  EXPECT_TRUE(report["median_dy"].is_number());
  const Answer good = call({"check", "s0/left.png", "s0/right.png"});
  EXPECT_NE(good.out.find("--disparities"), std::string::npos) << good.out;
  const Answer converging = call({"check", "s0/right.png", "s0/left.png"});
  EXPECT_NE(converging.out.find("--min-disparity -"), std::string::npos) << converging.out;
}

TEST_F(Pairs, ExchangedImagesOrConvergingCameras) {
  expect_warned("s0/right.png", "s0/left.png", {"swapped", "converge", "--doffs", "--min-disparity"});
  // A negative range says that the cameras converge.
  const Answer converging =
      call({"match", "s0/right.png", "s0/left.png", "-o", "d.pfm", "--min-disparity", "-32", "--disparities", "32"});
  EXPECT_EQ(converging.code, 0);
  EXPECT_EQ(converging.err, "");
}

TEST_F(Pairs, OnePictureTwice) {
  made("again", {"--seed", "5", "--noise", "3"});
  expect_warned("s0/left.png", "s0/left.png", {"the same pixels"});
  expect_warned("s0/left.png", "again/left.png", {"the same picture"});
}

TEST_F(Pairs, OneImageTurned) {
  const Grey right = grey("s0/right.png");
  write_image(folder / "left.png", grey("s0/left.png").view());
  const int w = right.width() - 1, h = right.height() - 1;
  write_moved("half.png", right, right.size(), [&](int x, int y) { return std::pair(w - x, h - y); });
  write_moved("rows.png", right, right.size(), [&](int x, int y) { return std::pair(x, h - y); });
  write_moved("mirrored.png", right, right.size(), [&](int x, int y) { return std::pair(w - x, y); });
  expect_warned("left.png", "half.png", {"turned by 180°"});
  expect_warned("left.png", "rows.png", {"rows in reverse order"});
  expect_warned("left.png", "mirrored.png", {"mirrored"});
}

TEST_F(Pairs, OneCameraAboveTheOther) {
  for (const char* side : {"left", "right"}) {
    const Grey image = grey("s0/" + std::string(side) + ".png");
    write_moved(std::string(side) + "_v.png", image, {image.height(), image.width()},
                [](int x, int y) { return std::pair(y, x); });
  }
  expect_warned("left_v.png", "right_v.png", {"above the other", "give left_v.png first, and --vertical"});
  expect_warned("right_v.png", "left_v.png", {"above the other", "give left_v.png first, and --vertical"});
}

// The results are those of the transposed pair, transposed back.
TEST_F(Pairs, AVerticalRigIsMatchedAlongColumns) {
  for (const char* side : {"left", "right"}) {
    const Grey image = grey("s0/" + std::string(side) + ".png");
    write_image(folder / (std::string(side) + "_h.png"), image.view());
    write_moved(std::string(side) + "_v.png", image, {image.height(), image.width()},
                [](int x, int y) { return std::pair(y, x); });
  }
  const std::vector<std::string> depth = {"--focal", "200", "--baseline", "0.1m", "--depth"};
  const auto matched = [&](const std::string& kind, std::vector<std::string> more) {
    more.insert(more.begin(), depth.begin(), depth.end());
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(depth.size()), "z_" + kind + ".pfm");
    const Answer answer = match_pair("left_" + kind + ".png", "right_" + kind + ".png", more);
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(answer.err, "");
    return answer;
  };
  const auto expect_transposed = [](const Image<float>& one, const Image<float>& other) {
    ASSERT_EQ(one.size(), (Size{other.height(), other.width()}));
    for (int y = 0; y < one.height(); ++y)
      for (int x = 0; x < one.width(); ++x)
        ASSERT_TRUE(one(x, y) == other(y, x) || (std::isnan(one(x, y)) && std::isnan(other(y, x)))) << x << "," << y;
  };
  matched("h", {"--cloud", "h.ply"});
  const Image<float> along_rows = read_disparity(folder / "d.pfm");
  EXPECT_NE(matched("v", {"--vertical", "--cloud", "v.ply"}).out.find("240×320"), std::string::npos);
  expect_transposed(along_rows, read_disparity(folder / "d.pfm"));
  expect_transposed(read_disparity(folder / "z_h.pfm"), read_disparity(folder / "z_v.pfm"));
  EXPECT_EQ(fs::file_size(folder / "h.ply"), fs::file_size(folder / "v.ply"));
  EXPECT_TRUE(says(match_pair("left_h.png", "right_h.png", {"--vertical"}), "leave --vertical out"));
  EXPECT_EQ(match_pair("left_v.png", "right_v.png", {"--vertical", "--roi", "0,0,50,50"}).code, 2);
}

TEST_F(Pairs, ImagesOfTwoScenes) { expect_warned("s0/left.png", "s1/right.png", {"same scene", "same time"}); }

TEST_F(Pairs, AnEyeThatIsAFrameLateIsNamed) {
  make_sequence("late", {0, 1, 2, 3, 4}, {0, 1, 1, 2, 3});
  const Answer answer = match_sequence("late");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(says(answer, "late/right/2.png is a frame late: it fits late/left/1.png")) << answer.err;
  EXPECT_TRUE(says(answer, "2 more frames have the fault of late/left/2.png")) << answer.err;
  const Json report = json("late.json");
  EXPECT_NE(report["warnings"][0].get<std::string>().find("is a frame late"), std::string::npos);
  for (int i = 0; i < frames; ++i)
    EXPECT_EQ(report["frames"][static_cast<std::size_t>(i)].contains("complaint"), i >= 2) << i;
  make_sequence("late_left", {0, 1, 1, 2, 3}, {0, 1, 2, 3, 4});
  EXPECT_TRUE(says(match_sequence("late_left"), "late_left/left/2.png is a frame late"));
}

TEST_F(Pairs, StrictJudgesEveryFrame) {
  make_sequence("strict", {0, 1, 2, 3, 4}, {0, 1, 2, 1, 4});
  const Answer answer = match_sequence("strict", {"--strict"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_TRUE(says(answer, "strict/left/3.png and strict/right/3.png")) << answer.err;
  EXPECT_TRUE(says(answer, "--strict")) << answer.err;
  EXPECT_FALSE(fs::exists(folder / "strict/out/3.pfm"));
}

// With --resume, a call would fail again at a frame that cannot be read.
TEST_F(Pairs, ResumeIsNotOfferedWhereItWouldFailAgain) {
  make_sequence("sizes", {0, 1, 2}, {0, 1, 2});
  for (const char* side : {"left", "right"}) {
    const fs::path file = folder / "sizes" / side / "1.png";
    fs::remove(file);
    fs::copy_file(folder / "scene" / (std::string(side) + ".png"), file);
  }
  const Answer answer = match_sequence("sizes");
  EXPECT_EQ(answer.code, 2);
  EXPECT_FALSE(says(answer, "--resume")) << answer.err;
  EXPECT_TRUE(says(answer, "--keep-going")) << answer.err;
  EXPECT_EQ(match_sequence("sizes", {"--keep-going"}).code, 1);
  EXPECT_TRUE(fs::exists(folder / "sizes/out/2.pfm"));
}

// ---- Pixels that are no data ----

TEST_F(Pairs, PixelsThatAreNoDataAreMaskedAndCounted) {
  for (const char* side : {"left", "right"}) {
    const Grey image = grey("s0/" + std::string(side) + ".png");
    Image<float> floats(image.size());
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) floats(x, y) = y < 24 ? -9999.0F : image(x, y);
    write_image(folder / (std::string(side) + ".pfm"), floats.view());
  }
  const Answer answer = match_pair("left.pfm", "right.pfm", {"--report", "no_data.json", "--no-fill"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(says(answer, "7680 pixels of left.pfm (10.0 %) are no data, and are masked")) << answer.err;
  EXPECT_EQ(json("no_data.json")["frames"][0]["no_data"]["right"], 7680);
  const Image<float> disparity = read_disparity(folder / "d.pfm");
  for (int x = 0; x < 320; ++x) EXPECT_TRUE(std::isnan(disparity(x, 10)));
}

}  // namespace
}  // namespace stereopsis::test
