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
