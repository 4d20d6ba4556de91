// Disparities that are known beforehand, from files.
#include <cmath>

#include "command.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Seeds : public Command {
 protected:
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    fs::remove_all(folder / "scene");
    const Answer made = call({"synth", "-o", "scene", "--scene", "table", "--width", "240", "--height", "160",
                              "--disparities", "32", "--seed", "3"});
    ASSERT_EQ(made.code, 0) << made.err;
    truth = read_disparity(folder / "scene/disp_left.pfm");
    Image<float> seeds(truth.size(), 1, invalid_disparity);
    for (int i = 0; i < truth.width() * truth.height(); i += 37)
      seeds.row(i / truth.width())[i % truth.width()] = truth.row(i / truth.width())[i % truth.width()];
    write_disparity(folder / "seeds.pfm", seeds);
    write_disparity(folder / "seeds.png", seeds);
    write_disparity(folder / "none.pfm", Image<float>(truth.size(), 1, invalid_disparity));
    write_disparity(folder / "small.pfm", Image<float>({20, 10}, 1, 5));
  }

  static int wrong(const fs::path& map) {
    const Image<float> disparity = read_disparity(folder / map);
    int count = 0;
    for (int y = 0; y < truth.height(); ++y)
      for (int x = disparities; x < truth.width(); ++x)
        if (!(std::abs(disparity(x, y) - truth(x, y)) <= 1)) ++count;
    return count;
  }

  static inline Image<float> truth;
};

TEST_F(Seeds, OfAnyFormatGuideTheMatch) {
  for (const auto& [out, more] : {std::pair{"plain.pfm", std::vector<std::string>{}},
                                  {"none_seeded.pfm", {"--seeds", "none.pfm"}},
                                  {"seeded.pfm", {"--seeds", "seeds.pfm"}},
                                  {"png.pfm", {"--seeds", "seeds.png"}}}) {
    std::vector<std::string> arguments = {"-o", out, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer answer = match(arguments);
    ASSERT_EQ(answer.code, 0) << answer.err;
  }
  EXPECT_LT(wrong("seeded.pfm"), 0.95 * wrong("plain.pfm"));
  EXPECT_LT(wrong("png.pfm"), 0.95 * wrong("plain.pfm"));
  EXPECT_EQ(contents(folder / "none_seeded.pfm"), contents(folder / "plain.pfm"));
}

TEST_F(Seeds, OutsideTheRangeAreCounted) {
  const Answer answer = call(
      {"match", "scene/left.png", "scene/right.png", "-o", "few.pfm", "--seeds", "seeds.pfm", "--disparities", "8"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find(" seeds of "), std::string::npos) << answer.err;
  EXPECT_EQ(match({"-o", "all.pfm", "--seeds", "seeds.pfm"}).err.find("outside the search range"), std::string::npos);
}

TEST_F(Seeds, OfASequenceComeWithTheirFrames) {
  for (const char* name : {"l", "r", "s"}) fs::create_directory(folder / name);
  for (const std::string n : {"0", "1"}) {
    fs::copy_file(folder / "scene/left.png", folder / ("l/" + n + ".png"));
    fs::copy_file(folder / "scene/right.png", folder / ("r/" + n + ".png"));
    fs::copy_file(folder / (n == "0" ? "none.pfm" : "seeds.pfm"), folder / ("s/" + n + ".pfm"));
  }
  const Answer answer =
      call({"match", "l", "r", "-o", "maps", "--seeds", "s", "--disparities", "32", "--quiet", "--align-rows", "off"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_LT(wrong("maps/1.pfm"), 0.95 * wrong("maps/0.pfm"));
}

TEST_F(Seeds, ThatDoNotFitAreRefused) {
  const auto refused = [](std::vector<std::string> more, const std::string& why) {
    more.insert(more.end(), {"-o", "refused.pfm", "--quiet"});
    const Answer answer = match(more);
    EXPECT_NE(answer.code, 0);
    EXPECT_NE(answer.err.find(why), std::string::npos) << answer.err;
    EXPECT_FALSE(fs::exists(folder / "refused.pfm"));
  };
  refused({"--seeds", "small.pfm"}, "small.pfm is 20×10; both must have the same size");
  refused({"--seeds", "seeds.pfm", "--right", "r.pfm"}, "--right matches the mirrored pair");
  refused({"--seed-trust", "seeds.pfm"}, "--seed-trust applies to seeds; give them with --seeds");
  refused({"--seeds", "refused.pfm"}, "refused.pfm");
  refused({"--seeds", "seeds.pfm", "--method", "prehn-pyramid"}, "set seeds.stage = none");
}

}  // namespace
}  // namespace stereopsis::test
