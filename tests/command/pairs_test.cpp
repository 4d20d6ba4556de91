// `match` names the fault of a pair, whoever gave the range: it checks the first pair, and every pair of which little is
// measured.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "command.hpp"
#include "geometry/rotations.hpp"
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
    if (std::ranges::find(options, "--width") == options.end())
      options.insert(options.begin(), {"--width", "320", "--height", "240", "--disparities", "32"});
    options.insert(options.begin(), {"synth", "-o", name});
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
  static void expect_warned(const std::string& left, const std::string& right, const std::vector<std::string>& words,
                            std::vector<std::string> more = {}) {
    SCOPED_TRACE(left + " " + right);
    const Answer plain = match_pair(left, right, more);
    more.emplace_back("--strict");
    const Answer strict = match_pair(left, right, more);
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

TEST_F(Pairs, RowsThatDiffer) {
  expect_warned("raw/left.png", "raw/right.png", {"rows do not correspond", "rectify"}, {"--align-rows", "off"});
}

// One judge: the same verdict of `check`, `match` and `match --strict` for every size from 160×120 on.
TEST_F(Pairs, SmallImagesWhoseRowsDifferByLittle) {
  for (const auto& [width, height] : {std::pair{"160", "120"}, {"320", "240"}, {"640", "480"}}) {
    for (const char* offset : {"0", "2"})
      made(std::string(width) + "_" + offset, {"--seed", "5", "--noise", "2", "--vertical-offset", offset, "--width",
                                               width, "--height", height, "--disparities", "24"});
    const std::string off = std::string(width) + "_2", right = std::string(width) + "_0";
    expect_warned(off + "/left.png", off + "/right.png", {"rows do not correspond: they differ by up to 2.", "rectify"},
                  {"--align-rows", "off"});
    EXPECT_EQ(match_pair(off + "/left.png", off + "/right.png", {"--strict"}).code, 0);  // aligned
    EXPECT_EQ(match_pair(right + "/left.png", right + "/right.png", {"--strict"}).code, 0);
    EXPECT_EQ(call({"check", right + "/left.png", right + "/right.png"}).code, 0);
  }
}

TEST_F(Pairs, ImagesThatAreTooSmallAreNotJudged) {
  made("small", {"--seed", "5", "--width", "150", "--height", "110", "--disparities", "32"});
  const std::string left = "small/left.png", right = "small/right.png", words = "not judged: images of 150×110 pixels";
  const Answer check = call({"check", left, right}), match = match_pair(left, right, {"--verbose"}),
               strict = match_pair(left, right, {"--strict"});
  EXPECT_EQ(check.code, 1);
  EXPECT_EQ(match.code, 0);
  EXPECT_EQ(strict.code, 1);
  EXPECT_NE(check.out.find(words), std::string::npos) << check.out;
  EXPECT_TRUE(says(match, words) && says(strict, words)) << match.err << strict.err;
  EXPECT_FALSE(Json::parse(call({"check", left, right, "--json"}).out)["judged"].get<bool>());
}

TEST_F(Pairs, ARollOfTwoRows) {
  made("roll", {"--scene", "mix", "--seed", "5", "--noise", "2", "--vertical-slope", "4"});
  expect_warned("roll/left.png", "roll/right.png", {"rows do not correspond: they differ by up to 2.", "roll"},
                {"--align-rows", "off"});
  const Json report = Json::parse(call({"check", "roll/left.png", "roll/right.png", "--json"}).out);
  EXPECT_NEAR(std::abs(report["row_roll"].get<double>()), 4, 0.3);
  EXPECT_NEAR(report["rows_apart"].get<double>(), 2.2, 0.3);
}

TEST_F(Pairs, APatternOfBothEyes) {
  for (const char* side : {"left", "right"}) {
    Grey image = grey("s0/" + std::string(side) + ".png");
    unsigned state = 1;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) {
        state = state * 1664525U + 1013904223U;
        image(x, y) = static_cast<std::uint8_t>(std::clamp(image(x, y) + static_cast<int>(state >> 28U) - 8, 0, 255));
      }
    write_image(folder / (std::string(side) + "_pattern.png"), image.view());
  }
  expect_warned("left_pattern.png", "right_pattern.png", {"the same pattern at the same place", "--mask-left"});
}

// Half transparent dots at the same place in both eyes of all frames.
TEST_F(Pairs, AMarkOverBothEyesOfASequence) {
  for (const std::string seed : {"1", "2"}) {
    made("f" + seed, {"--scene", "mix", "--seed", seed, "--noise", "2", "--width", "640", "--height", "480"});
    for (const std::string side : {"left", "right"}) {
      Grey image = grey("f" + seed + "/" + side + ".png");
      unsigned state = 1;
      for (int i = 0; i < 24 * 35; ++i) {
        state = state * 1664525U + 1013904223U;
        for (int k = 0; k < 16 && state >> 31U != 0; ++k) {
          std::uint8_t& value = image(30 + (i / 35 * 6 + i % 5) * 4 + k % 4, 200 + i % 35 / 5 * 4 + k / 4);
          value = static_cast<std::uint8_t>((value + 255) / 2);
        }
      }
      fs::create_directories(folder / "marked" / side);
      write_image(folder / "marked" / side / (seed + ".png"), image.view());
    }
  }
  const Answer answer = call({"match", "marked", "-o", "out_marked", "--disparities", "64"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("the same pattern at the same place"), std::string::npos) << answer.err;
  EXPECT_EQ(call({"match", "marked", "-o", "strict_marked", "--disparities", "64", "--strict"}).code, 1);
}

TEST_F(Pairs, ARangeThatStartsTooHighOrEndsTooLow) {
  made("range",
       {"--scene", "room", "--seed", "5", "--noise", "2", "--width", "640", "--height", "480", "--disparities", "64"});
  const auto with = [](const char* first, const char* count) {
    return call({"match", "range/left.png", "range/right.png", "-o", "d.pfm", "--min-disparity", first, "--disparities",
                 count});
  };
  EXPECT_EQ(with("0", "64").err, "");
  EXPECT_TRUE(says(with("24", "48"), "beyond the lower end of the search range: they are farther"));
  EXPECT_EQ(call({"match", "range/left.png", "range/right.png", "-o", "d.pfm", "--disparities", "24", "--strict"}).code,
            0);
  EXPECT_TRUE(says(with("0", "24"), "beyond the upper end of the search range: they are nearer"));
}

// With --raw, the pair is already rectified, so that its calibration is at fault.
TEST_F(Pairs, RowsThatDifferAfterRectification) {
  constexpr double focal = 300, cx = 159.5, cy = 119.5, degree = 0.01745329;
  const Matrix3 r = rotation_by({0.5 * degree, 3 * degree, degree}), back = transposed(r);
  const Grey scene = grey("s2/right.png");
  write_moved("turned.png", scene, {320, 240}, [&](int x, int y) {
    const Vector3 ray = turned(back, {(x - cx) / focal, (y - cy) / focal, 1});
    const auto at = [](double position, int length) {
      return std::clamp(static_cast<int>(std::lround(position)), 0, length - 1);
    };
    return std::pair(at(focal * ray[0] / ray[2] + cx, 320), at(focal * ray[1] / ray[2] + cy, 240));
  });
  write_moved("straight.png", grey("s2/left.png"), {320, 240}, [](int x, int y) { return std::pair(x, y); });
  const Vector3 t = turned(r, {-0.12, 0, 0});
  const auto calibration = [&](const std::string& name, const Matrix3& rotation) {
    const auto list = [](const auto& numbers) {
      std::string all;
      for (const double number : numbers) all += (all.empty() ? "" : ", ") + std::to_string(number);
      return all;
    };
    std::string text = "image_width: 320\nimage_height: 240\n";
    for (const char* camera : {"1", "2"})
      text +=
          std::string("M") + camera + ": [300, 0, 159.5, 0, 300, 119.5, 0, 0, 1]\nD" + camera + ": [0, 0, 0, 0, 0]\n";
    write(folder / name, text + "R: [" + list(rotation) + "]\nT: [" + list(t) + "]\n");
  };
  calibration("right.yml", r);
  calibration("transposed.yml", back);
  const auto match_raw = [&](const char* left, const char* right, const char* file) {
    return match_pair(left, right, {"--raw", "--calib", file});
  };
  const Answer sound = match_raw("straight.png", "turned.png", "right.yml");
  EXPECT_FALSE(says(sound, "warning")) << sound.err;
  const Answer matlab = match_raw("straight.png", "turned.png", "transposed.yml");
  EXPECT_TRUE(says(matlab, "transpose R in transposed.yml")) << matlab.err;
  const Answer exchanged = match_raw("turned.png", "straight.png", "right.yml");
  EXPECT_TRUE(says(exchanged, "exchange LEFT and RIGHT")) << exchanged.err;
  for (const Answer* answer : {&matlab, &exchanged})
    for (const char* circle : {"rectify the pair first", "as the left one"})
      EXPECT_FALSE(says(*answer, circle)) << answer->err;
  const Answer other = match_raw("raw/left.png", "raw/right.png", "right.yml");
  EXPECT_TRUE(says(other, "check that it is the calibration of these cameras")) << other.err;
}

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

// A field of rows would follow the scene, and hide the fault.
TEST_F(Pairs, OneCameraALittleAboveTheOther) {
  for (const char* scene : {"table", "interior"}) {
    call({"synth", "-o", "low", "--scene", scene, "--width", "480", "--height", "640", "--disparities", "8", "--noise",
          "2"});
    for (const char* side : {"left", "right"})
      write_moved("low/" + std::string(side) + "_v.png", grey("low/" + std::string(side) + ".png"), {640, 480},
                  [](int x, int y) { return std::pair(y, x); });
    expect_warned("low/left_v.png", "low/right_v.png", {"above the other"});
  }
}

TEST_F(Pairs, CheckNamesTheFieldOfRowsWithWaves) {
  call({"synth", "-o", "waves", "--width", "640", "--height", "480", "--noise", "2", "--vertical-wave", "2",
        "--vertical-period", "160"});
  const Answer check = call({"check", "waves/left.png", "waves/right.png"});
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_NE(check.out.find("rows                a field of 1×19 knots, up to 2."), std::string::npos) << check.out;
  EXPECT_EQ(check.out.find("zoom"), std::string::npos) << check.out;
  const Json report = Json::parse(call({"check", "waves/left.png", "waves/right.png", "--json"}).out);
  EXPECT_EQ(report["row_field"]["rows"].get<int>(), 19);
  EXPECT_NEAR(report["row_field"]["most"].get<double>(), 2, 0.5);
  EXPECT_LT(report["median_dy"].get<double>(), 0.3);
  EXPECT_TRUE(Json::parse(call({"check", "s0/left.png", "s0/right.png", "--json"}).out)["row_field"].is_null());
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
