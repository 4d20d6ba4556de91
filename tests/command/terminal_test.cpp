// Tests the output on the terminal: for people, and for programs.
#include "command.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Terminal : public Command {};

TEST_F(Terminal, NothingFromFilesSteersIt) {
  const std::string name = "\x1b]0;owned\x07\x1b[2J.png", bytes = "\xc3\x28\xff.png",
                    turned =
                        "a\xe2\x80\xae"
                        "gnp.png";
  for (const std::string& file : {name, bytes, turned}) {
    const Answer missing = call({"check", file, "scene/right.png"});
    EXPECT_EQ(missing.code, 2);
    for (const char c : missing.err)
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32) << static_cast<int>(c);
    EXPECT_EQ(missing.err.find('\xff'), std::string::npos);
    EXPECT_EQ(missing.err.find("\xe2\x80\xae"), std::string::npos);
  }
  write(folder / "evil.json", "{\"method\": \"x\x1b[31m\", \"\x1b[2J\": 1}");
  const Answer evil = call(
      {"match", "scene/left.png", "scene/right.png", "-o", "d.pfm", "--pipeline", "evil.json", "--disparities", "8"});
  EXPECT_NE(evil.code, 0);
  EXPECT_EQ(evil.err.find('\x1b'), std::string::npos) << evil.err;
  fs::create_directories(folder / "evil/\x1b[2Jscene");
  for (const auto& entry : fs::directory_iterator(folder / "scene"))
    fs::copy_file(entry.path(), folder / "evil/\x1b[2Jscene" / entry.path().filename());
  Json description = json("scene/dataset.json");
  description["name"] = "na\x1b[31mme";
  write(folder / "evil/\x1b[2Jscene/dataset.json", description.dump());
  const Answer table = call({"evaluate", "--dataset", "evil"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos);
  EXPECT_NE(table.out.find("\\x1b"), std::string::npos) << table.out;
}

TEST_F(Terminal, AliasesOfParametersAreTold) {
  const auto says = [&](std::vector<std::string> settings) {
    std::vector<std::string> call = {"match", "scene/left.png", "scene/right.png", "--disparities", "32", "--explain"};
    for (std::string& setting : settings) call.insert(call.end(), {"--set", std::move(setting)});
    const Answer answer = Command::call(call);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return answer.err;
  };
  const std::string names = "; lists of parameters and pipeline files have the names SLOT.PARAMETER\n";
  EXPECT_EQ(says({"optimisation.p1=12", "vote_fill.enabled=true", "vote_fill.sigma_color=20"}), "");
  EXPECT_EQ(says({"sgm.p1=12", "vote_fill.enabled=true", "vote_fill.sigma_colour=20"}),
            "stereopsis: --set: sgm.p1 is optimisation.p1, vote_fill.sigma_colour is vote_fill.sigma_color" + names);
  EXPECT_EQ(says({"optimisation.stage=scanline", "scanline.colour=20"}),
            "stereopsis: --set: scanline.colour is optimisation.color" + names);
}

TEST_F(Terminal, QuietAndVerbose) {
  const std::vector<std::string> pair = {"match", "scene/left.png", "scene/right.png", "-o", "d.pfm"};
  auto quiet = pair, verbose = pair;
  quiet.emplace_back("--quiet");
  verbose.emplace_back("--verbose");
  const Answer nothing = call(quiet);
  EXPECT_EQ(nothing.code, 0);
  EXPECT_EQ(nothing.out + nothing.err, "");
  EXPECT_NE(call(verbose).err.find("workspace"), std::string::npos);
  EXPECT_EQ(call({"match", "nowhere.png", "scene/right.png", "-o", "d.pfm", "--quiet"}).err.find("stereopsis: "), 0U);
}

TEST_F(Terminal, WildcardsThatTheShellExpandedGetAHint) {
  for (const char* name : {"w1.png", "w2.png", "w3.png"}) fs::copy_file(folder / "scene/left.png", folder / name);
  const Answer answer = shell("$S match w*.png scene/right.png -o d.pfm");
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("quotes"), std::string::npos) << answer.err;
  EXPECT_EQ(call({"match", "scene/left.png", "scene/right.png", "-o", "d.pfm", "more"}).err.find("quotes"),
            std::string::npos);
}

TEST_F(Terminal, ThreeNumbersAreACalibration) {
  ASSERT_EQ(match({"-o", "d.pfm", "--focal", "200", "--baseline", "100mm", "--doffs", "2", "--fill-depth", "--depth",
                   "z.pfm", "--cloud", "c.ply"})
                .code,
            0);
  const Image<float> d = read_disparity(folder / "d.pfm"), z = read_disparity(folder / "z.pfm");
  for (int x = 0; x < d.width(); ++x) ASSERT_NEAR(z(x, 50), 200.0 * 100.0 / (d(x, 50) + 2), 1e-2);
  ASSERT_EQ(match({"-o", "d.pfm", "--focal", "200", "--baseline", "0.1m", "--depth", "z.png"}).code, 0);
  const Answer range = call({"match", "scene/left.png", "scene/right.png", "-o", "d.pfm", "--focal", "200",
                             "--baseline", "100mm", "--near", "800"});
  EXPECT_NE(range.err.find("0 to 25"), std::string::npos) << range.err;
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--focal", "200"},
                                                {"--baseline", "100mm"},
                                                {"--doffs", "3"},
                                                {"--focal", "200", "--baseline", "0"},
                                                {"--focal", "200", "--baseline", "5yd"},
                                                {"--focal", "200", "--baseline", "1", "--calib", "x.txt"}}) {
    std::vector<std::string> arguments = {"-o", "d.pfm"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(match(arguments).code, 2);
  }
}

TEST_F(Terminal, LengthsHaveUnits) {
  const auto range_of = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"match", "scene/left.png", "scene/right.png", "-o", "d.pfm", "--focal", "200"});
    return call(more).err;
  };
  for (const char* baseline : {"100mm", "10cm", "0.1m"})
    EXPECT_NE(range_of({"--baseline", baseline, "--near", "80cm", "--far", "4m"}).find("disparities 5 to 25"),
              std::string::npos)
        << baseline;
  const auto expect = [](const std::string& err, const std::string& part) {
    EXPECT_NE(err.find(part), std::string::npos) << err;
  };
  expect(range_of({"--baseline", "100mm", "--near", "0.8"}),
         "a number without a unit is in mm, the unit of --baseline 100mm: write --near 0.8m for metres");
  expect(range_of({"--baseline", "10cm", "--near", "80"}), "write --near 80cm or --near 80mm");
  expect(range_of({"--baseline", "0.1", "--near", "1m"}), "--baseline 0.1 has none; write --baseline 0.1m");
  expect(range_of({"--baseline", "12yd", "--near", "1m"}),
         "--baseline 12yd is not allowed; it must be a length such as");
  expect(range_of({"--baseline", "0.1", "--depth", "z.png"}), "write --baseline 0.1m");
}

TEST_F(Terminal, AFocalLengthInMillimetresIsWarnedOf) {
  const Answer warned = match({"-o", "d.pfm", "--focal", "4", "--baseline", "100mm"});
  EXPECT_EQ(warned.code, 0);
  EXPECT_NE(warned.err.find("the focal length is 4 for images 150 pixels wide"), std::string::npos) << warned.err;
  EXPECT_EQ(match({"-o", "d.pfm", "--focal", "4", "--baseline", "100mm", "--strict"}).code, 1);
  const Answer refused = match({"-o", "d.pfm", "--focal", "4mm", "--baseline", "100mm"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--focal 4mm is a length"), std::string::npos) << refused.err;
  EXPECT_EQ(match({"-o", "d.pfm", "--focal", "200px", "--baseline", "100mm"}).code, 0);
}

TEST_F(Terminal, CheckAndDevicesSpeakJson) {
  ASSERT_EQ(call({"synth", "-o", "large", "--width", "400", "--height", "300", "--disparities", "40"}).code, 0);
  const Json fit = Json::parse(call({"check", "large/left.png", "large/right.png", "--json"}).out);
  EXPECT_TRUE(fit["fit"].get<bool>());
  for (const char* key : {"matches", "median_dy", "p95_dy", "median_disparity", "min_disparity", "disparities"})
    EXPECT_TRUE(fit[key].is_number()) << key;
  const Answer swapped = call({"check", "large/right.png", "large/left.png", "--json"});
  EXPECT_EQ(swapped.code, 1);
  EXPECT_TRUE(Json::parse(swapped.out)["swapped"].get<bool>());
  EXPECT_EQ(Json::parse(swapped.out)["complaints"].size(), 1U);
  const Json devices = Json::parse(call({"devices", "--json"}).out)["devices"];
  EXPECT_EQ(devices[0]["name"], "cpu");
  EXPECT_TRUE(devices[0]["usable"].get<bool>());
}

TEST_F(Terminal, PicturesHaveLegends) {
  ASSERT_EQ(match({"-o", "d.pfm", "--validity-color", "v.png"}).code, 0);
  const AnyImage validity = read_image(folder / "v.png");
  EXPECT_EQ(validity.channels(), 3);
  EXPECT_GT(validity.size().height, 110);
  ASSERT_EQ(call({"evaluate", "d.pfm", "--truth", "scene/disp_left.pfm", "--error-image", "e.png"}).code, 0);
  EXPECT_GT(read_image(folder / "e.png").size().height, 110);
}

TEST_F(Terminal, LatenciesAreMedianPercentileAndMaximum) {
  for (const std::string side : {"left", "right", "out"}) {
    fs::create_directory(folder / side);
    for (int i = 0; i < 5 && side != "out"; ++i)
      fs::copy_file(folder / "scene" / (side + ".png"), folder / side / (std::to_string(i) + ".png"));
  }
  const Answer answer =
      call({"match", "left", "right", "-o", "out", "--disparities", "32", "--timings", "--report", "r.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  for (const char* line : {"latency of a frame: median", "99th percentile", "maximum", "to the first frame"})
    EXPECT_NE(answer.out.find(line), std::string::npos) << answer.out;
  const Json latency = json("r.json")["latency"];
  EXPECT_GT(latency["median_ms"].get<double>(), 0);
  EXPECT_LE(latency["median_ms"].get<double>(), latency["p99_ms"].get<double>());
  EXPECT_LE(latency["p99_ms"].get<double>(), latency["max_ms"].get<double>());
  EXPECT_GT(json("r.json")["first_frame_ms"].get<double>(), 0);
  ASSERT_EQ(
      call({"bench", "--size", "96x64x16", "--repeat", "3", "--no-peers", "--device", "cpu", "--json", "b.json"}).code,
      0);
  const Json bench = json("b.json")["results"][0];
  EXPECT_LE(bench["median_ms"].get<double>(), bench["p99_ms"].get<double>());
  EXPECT_LE(bench["p99_ms"].get<double>(), bench["max_ms"].get<double>());
  EXPECT_GT(bench["first_ms"].get<double>(), 0);
}

}  // namespace
}  // namespace stereopsis::test
