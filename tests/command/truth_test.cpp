// `evaluate` and a ground truth that is read wrongly: the likely reason is named, with the option that mends it.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "command.hpp"
#include "stereopsis/disparity.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Truth : public Command {
 protected:
  static constexpr const char* truth_file = "scene/disp_left.pfm";

  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    ASSERT_EQ(match({"-o", "d.pfm"}).code, 0);
  }

  static Answer evaluate(const std::string& truth, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"evaluate", "d.pfm", "--truth", truth, "--json", "e.json"});
    return call(more);
  }

  template <class F>
  static std::string changed(const std::string& name, F&& f) {
    Image<float> values = read_disparity(folder / truth_file);
    for (int y = 0; y < values.height(); ++y)
      for (int x = 0; x < values.width(); ++x) values(x, y) = f(values(x, y));
    write_disparity(folder / name, values);
    return name;
  }

  template <class T>
  static void write_codes(const std::string& name, float scale) {
    const Image<float> values = read_disparity(folder / truth_file);
    Image<T> codes(values.size());
    for (int y = 0; y < values.height(); ++y)
      for (int x = 0; x < values.width(); ++x) codes(x, y) = static_cast<T>(values(x, y) * scale + 0.5F);
    write_image(folder / name, codes.view());
  }

  // Expects a warning with this option, none with the option given, and the measures of the true file then.
  static void expect_mended(const std::string& file, const std::vector<std::string>& option) {
    const Answer plain = evaluate(file);
    EXPECT_EQ(plain.code, 0) << plain.err;
    std::string text = option[0];
    for (std::size_t i = 1; i < option.size(); ++i) text += " " + option[i];
    EXPECT_NE(plain.err.find("give " + text), std::string::npos) << plain.err;
    EXPECT_EQ(json("e.json")["warnings"].size(), 1U);
    const Answer mended = evaluate(file, option);
    EXPECT_EQ(mended.code, 0) << mended.err;
    EXPECT_EQ(mended.err, "");
    const Json measures = json("e.json")["measures"];
    ASSERT_EQ(evaluate(truth_file).code, 0);
    EXPECT_NEAR(measures["bad1.0"].get<double>(), json("e.json")["measures"]["bad1.0"].get<double>(), 0.2);
  }
};

TEST_F(Truth, AFittingTruthIsNotWarnedOf) {
  const Answer answer = evaluate(truth_file);
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.err, "");
  EXPECT_TRUE(json("e.json")["warnings"].empty());
}

TEST_F(Truth, DepthIsRecognisedAndConverted) {
  const std::string metres = changed("depth.pfm", [](float d) { return 200 * 0.12F / d; });
  const Answer plain = evaluate(metres);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.err.find("is nearly constant (about 24"), std::string::npos) << plain.err;
  EXPECT_NE(plain.err.find("--truth-depth"), std::string::npos) << plain.err;
  const Answer converted = evaluate(metres, {"--truth-depth", "1m", "--focal", "200", "--baseline", "120mm"});
  EXPECT_EQ(converted.code, 0) << converted.err;
  EXPECT_EQ(converted.err, "");
  const Json measures = json("e.json")["measures"];
  ASSERT_EQ(evaluate(truth_file).code, 0);
  EXPECT_NEAR(measures["bad1.0"].get<double>(), json("e.json")["measures"]["bad1.0"].get<double>(), 0.2);
  EXPECT_EQ(evaluate(metres, {"--truth-depth", "1m"}).code, 2);
  EXPECT_EQ(evaluate(truth_file, {"--focal", "200", "--baseline", "120mm"}).code, 2);
}

TEST_F(Truth, ACloudOfADepthMapIsRefusedOrConverted) {
  const std::string depth = changed("millimetres.pfm", [](float d) { return 200 * 120 / d; });
  const std::vector<std::string> cloud = {"cloud", depth, "--focal", "200", "--baseline", "0.12m", "-o", "c.ply"};
  const Answer refused = call(cloud);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--depth-input"), std::string::npos) << refused.err;
  std::vector<std::string> converted = cloud;
  converted.insert(converted.end(), {"--depth-input", "1mm", "--depth", "again.pfm", "--near", "10cm"});
  const Answer answer = call(converted);
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Image<float> mm = read_disparity(folder / depth), m = read_disparity(folder / "again.pfm");
  EXPECT_NEAR(m(40, 40), mm(40, 40) / 1000, 1e-4);
}

// A folder of results is scored against a folder of scenes.
TEST_F(Truth, SeveralMapsAreScoredAtOnce) {
  for (const char* scene : {"a", "b", "c"}) {
    fs::create_directories(folder / "trainingQ" / scene);
    for (const auto& [from, to] : {std::pair{"scene/left.png", "im0.png"}, {"scene/right.png", "im1.png"}})
      fs::copy_file(folder / from, folder / "trainingQ" / scene / to);
    fs::copy_file(folder / truth_file, folder / "trainingQ" / scene / "disp0GT.pfm");
  }
  fs::create_directory(folder / "results");
  for (const char* name : {"a.pfm", "b.pfm"}) fs::copy_file(folder / "d.pfm", folder / "results" / name);
  const Answer answer = call({"evaluate", "results", "--truth", "trainingQ", "--json", "all.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("1 ground truths have no disparity map"), std::string::npos) << answer.err;
  EXPECT_NE(answer.out.find("average"), std::string::npos) << answer.out;
  const Json maps = json("all.json")["maps"];
  ASSERT_EQ(maps.size(), 2U);
  ASSERT_EQ(evaluate(truth_file).code, 0);
  EXPECT_EQ(maps[1]["measures"]["bad1.0"], json("e.json")["measures"]["bad1.0"]);
  EXPECT_EQ(call({"evaluate", "results/*.pfm", "--truth", "trainingQ/*/disp0GT.pfm"}).code, 0);
  EXPECT_EQ(call({"evaluate", "results", "--truth", "trainingQ", "--error-image", "e.png"}).code, 2);
  fs::copy_file(folder / "d.pfm", folder / "results/d.pfm");
  EXPECT_NE(call({"evaluate", "results", "--truth", "trainingQ"}).err.find("d.pfm has no partner"), std::string::npos);
  const Answer dataset = call({"evaluate", "--dataset", "trainingQ"});
  EXPECT_EQ(dataset.code, 0) << dataset.err;
}

TEST_F(Truth, ScalesAreRecognised) {
  for (const int scale : {4, 16, 64, 256}) {
    const std::string s = std::to_string(scale);
    expect_mended(changed("x" + s + ".pfm", [=](float d) { return d * static_cast<float>(scale); }), {"--scale", s});
  }
  expect_mended(changed("negated.pfm", [](float d) { return -d; }), {"--scale", "-1"});
  write_codes<std::uint16_t>("x64.png", 64);
  expect_mended("x64.png", {"--scale", "64"});
}

TEST_F(Truth, TheScaleOfEightBitsIsSuggested) {
  write_codes<std::uint8_t>("x4.png", 4);
  const Answer answer = evaluate("x4.png");
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("suggests 4"), std::string::npos) << answer.err;
  EXPECT_EQ(evaluate("x4.png", {"--scale", "4"}).err, "");
}

TEST_F(Truth, TheOrderOfRowsAndOfBytesIsRecognised) {
  const Image<float> truth = read_disparity(folder / truth_file);
  write_disparity(folder / "flipped.pfm", upside_down(truth));
  expect_mended("flipped.pfm", {"--flip"});
  const Image<float> reversed = with_reversed_bytes(truth);
  write_image(folder / "reversed.npy", reversed.view());
  const Answer plain = evaluate("reversed.npy");
  EXPECT_NE(plain.err.find("--swap-bytes"), std::string::npos) << plain.err;
  EXPECT_EQ(evaluate("reversed.npy", {"--swap-bytes"}).err, "");
}

TEST_F(Truth, ZerosThatAreUnknownAreRecognised) {
  int i = 0;
  expect_mended(changed("zeros.pfm", [&](float d) { return ++i % 3 == 0 ? 0 : d; }), {"--zero-unknown"});
}

TEST_F(Truth, ValuesThatAreNoDisparitiesAreRejected) {
  int i = 0;
  const std::string file = changed("large.pfm", [&](float d) { return ++i == 77 ? 2e6F : d; });
  const Answer answer = evaluate(file);
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("beyond 1000000"), std::string::npos) << answer.err;
}

}  // namespace
}  // namespace stereopsis::test
