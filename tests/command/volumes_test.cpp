// Matching costs into and out of files.
#include <sstream>

#include "command.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Volumes : public Command {
 protected:
  // Matches without refinements, because some need the right view's own costs.
  static Answer match_plainly(std::vector<std::string> more) {
    more.insert(more.begin(), {"--set", "refinements=none", "--quiet"});
    return match(more);
  }
};

TEST_F(Volumes, SavedCostsGiveTheSameMap) {
  const Answer first = match_plainly({"-o", "first.pfm", "--save-volume", "cost=cost.npy"});
  ASSERT_EQ(first.code, 0) << first.err;
  const Answer again = match_plainly({"-o", "again.pfm", "--cost-volume", "cost.npy"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(contents(folder / "first.pfm"), contents(folder / "again.pfm"));
}

// `sgm-learned` adds a second cost. A saved volume contains both.
TEST_F(Volumes, ASavedVolumeOfTwoCostsGivesTheSameMap) {
  const auto run = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--method", "sgm-learned", "--set", "refinements=none"});
    return match(more);
  };
  ASSERT_EQ(run({"-o", "first.pfm", "--save-volume", "cost=both.npy"}).code, 0);
  const Answer again = run({"-o", "again.pfm", "--cost-volume", "both.npy"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("--cost-volume replaces the costs of sgm-learned, cost and plus"), std::string::npos);
  EXPECT_EQ(contents(folder / "first.pfm"), contents(folder / "again.pfm"));
}

TEST_F(Volumes, AProbeShowsWhatASavedVolumeHolds) {
  const Answer answer = match({"--save-volume", "optimised=sums.npy", "-o", "d.pfm", "--quiet"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const AnyImage volume = read_volume(folder / "sums.npy");
  const auto sums = volume.view().as<std::uint16_t>();
  ASSERT_EQ(sums.channels, disparities);

  std::istringstream probe(match({"--probe", "70,50"}).out);
  std::string line;
  for (int title = 0; title < 3; ++title) std::getline(probe, line);
  for (int d = 0; d < disparities; ++d) {
    int disparity = -1, cost = -1, optimised = -1;
    std::getline(probe, line);
    std::istringstream(line) >> disparity >> cost >> optimised;
    EXPECT_EQ(disparity, d);
    EXPECT_EQ(optimised, sums(70, 50, d));
  }
}

TEST_F(Volumes, FloatCostsCountUpToTheLargestThatWasSaid) {
  const Size size = read_image(folder / "scene/left.png").size();
  Image<float> volume(size, disparities, 20.f);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) volume.view().row(y)[x * disparities + 5] = 3;
  write_volume(folder / "float.npy", volume.view());
  const Answer unsaid = match_plainly({"-o", "unsaid.pfm", "--cost-volume", "float.npy"});
  EXPECT_EQ(unsaid.code, 2);
  EXPECT_NE(
      unsaid.err.find(
          "the given cost volume has costs up to 20, and costs above 1 would be clamped to 1; set cost.largest=20"),
      std::string::npos)
      << unsaid.err;
  EXPECT_FALSE(fs::exists(folder / "unsaid.pfm"));

  const Answer said = match_plainly(
      {"-o", "said.pfm", "--cost-volume", "float.npy", "--set", "cost.largest=20", "--set", "wta.subpixel=none"});
  ASSERT_EQ(said.code, 0) << said.err;
  const Image<float> disparity = read_disparity(folder / "said.pfm");
  EXPECT_EQ(disparity(size.width / 2, size.height / 2), 5);
}

TEST_F(Volumes, CostsBelowZeroAreRefused) {
  Image<float> volume(read_image(folder / "scene/left.png").size(), disparities, 0.5f);
  volume(3, 4, 2) = -0.25f;
  write_volume(folder / "negative.npy", volume.view());
  const Answer answer = match({"-o", "d.pfm", "--cost-volume", "negative.npy"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("has costs down to -0.25"), std::string::npos) << answer.err;
}

TEST_F(Volumes, AProbeIsOfWhatIsMatched) {
  const auto refuses = [](const std::vector<std::string>& arguments, const char* part) {
    const Answer answer = match(arguments);
    EXPECT_EQ(answer.code, 2);
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
  };
  refuses({"--probe", "50,5", "--roi", "0,10,20,20"}, "50,5");
  for (const char* upsample : {"true", "false"})
    refuses({"--probe", "70,50", "--method", "zncc", "--set", "reduce.factor=2", "--set",
             std::string("reduce.upsample=") + upsample},
            "set reduce.factor=1");
}

TEST_F(Volumes, WhatDoesNotFitIsRefused) {
  const auto refuses = [](const std::vector<std::string>& arguments, const char* part) {
    const Answer answer = match(arguments);
    EXPECT_NE(answer.code, 0);
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
  };
  refuses({"--probe", "150,3"}, "is outside the image");
  refuses({"--probe", "3"}, "as X,Y");
  refuses({"-o", "d.pfm", "--save-volume", "sums=s.npy"}, "must be cost=FILE.npy");
  refuses({"-o", "d.pfm", "--save-volume", "aggregated=s.npy"}, "no stage that computes the output 'aggregated'");
  EXPECT_FALSE(fs::exists(folder / "s.npy"));
}

}  // namespace
}  // namespace stereopsis::test
