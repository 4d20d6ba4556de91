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
  refused({"--seeds", "small.pfm"}, "small.pfm is 20×10 but scene/left.png is 240×160 when it is matched");
  refused({"--seeds", "seeds.pfm", "--right", "r.pfm"}, "--right matches the mirrored pair");
  refused({"--seed-trust", "seeds.pfm"}, "--seed-trust requires --seeds; add it");
  refused({"--seeds", "refused.pfm"}, "refused.pfm");
  refused({"--seeds", "seeds.pfm", "--method", "prehn-pyramid"}, "set seeds.stage = none");
  refused({"--seed-previous"}, "--seed-previous applies to sequences");
  refused({"--seed-poses", "seeds.pfm"}, "--seed-poses requires --seed-previous; add it");
  write_text(folder / "no_points.bin", "");
  refused({"--seed-points", "no_points.bin"}, "--seed-points requires the calibration of the cameras");
  refused({"--seed-points", "no_points.bin", "--seeds", "seeds.pfm"}, "both give the seeds");
  refused({"--seed-depth", "seeds.pfm", "--seeds", "seeds.pfm"}, "--seeds and --seed-depth both give the seeds");
  refused({"--seed-depth", "seeds.pfm"}, "--seed-depth requires the calibration of the cameras");
}

TEST_F(Seeds, OfDepthAreThoseOfItsDisparities) {
  Image<float> depth(truth.size(), 1, invalid_disparity), seeds(truth.size(), 1, invalid_disparity);
  for (int y = 0; y < truth.height(); y += 5)
    for (int x = 0; x < truth.width(); x += 7) {
      depth(x, y) = x % 2 == 0 && y % 2 == 0 ? 0 : 30 / truth(x, y);
      if (depth(x, y) > 0) seeds(x, y) = 30 / depth(x, y);
    }
  write_disparity(folder / "depth.pfm", depth), write_disparity(folder / "sparse.pfm", seeds);
  ASSERT_EQ(
      match({"-o", "of_depth.pfm", "--quiet", "--focal", "300", "--baseline", "0.1m", "--seed-depth", "depth.pfm"}).err,
      "");
  ASSERT_EQ(match({"-o", "of_sparse.pfm", "--quiet", "--seeds", "sparse.pfm"}).err, "");
  EXPECT_EQ(contents(folder / "of_depth.pfm"), contents(folder / "of_sparse.pfm"));
}

// The points of the truth, as a sensor in the place of the left camera that looks along its x axis measures them.
TEST_F(Seeds, OfThePointsOfASensor) {
  std::string points;
  for (int i = 0; i < truth.width() * truth.height(); i += 37) {
    const int x = i % truth.width(), y = i / truth.width();
    const float z = 300 * 0.1F / truth(x, y);
    for (const float value :
         {z, -(static_cast<float>(x) - 119.5F) / 300 * z, -(static_cast<float>(y) - 79.5F) / 300 * z, 0.5F})
      points.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  write_text(folder / "points.bin", points);
  write_text(folder / "pose.txt", "0 -1 0 0\n0 0 -1 0\n1 0 0 0\n");
  const std::vector<std::string> camera = {"--focal", "300", "--baseline", "0.1m", "--seed-points", "points.bin"};
  std::vector<std::string> arguments = {"-o", "of_points.pfm", "--quiet", "--seed-pose", "pose.txt"};
  arguments.insert(arguments.end(), camera.begin(), camera.end());
  ASSERT_EQ(match(arguments).err, "");
  ASSERT_EQ(match({"-o", "without.pfm", "--quiet"}).err, "");
  EXPECT_LT(wrong("of_points.pfm"), 0.95 * wrong("without.pfm"));
}

TEST_F(Seeds, OfTheFrameBefore) {
  for (const char* name : {"pl", "pr"}) fs::create_directory(folder / name);
  for (const std::string n : {"0", "1"}) {
    fs::copy_file(folder / "scene/left.png", folder / ("pl/" + n + ".png"));
    fs::copy_file(folder / "scene/right.png", folder / ("pr/" + n + ".png"));
  }
  write_text(folder / "poses.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 0 0 1 0 0 0 0 1 0\n");
  write_text(folder / "one_pose.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n");
  const auto run = [](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"match", "pl", "pr", "-o", out, "--disparities", "32", "--quiet", "--align-rows", "off"});
    return call(more);
  };
  ASSERT_EQ(run("still/", {"--seed-previous"}).err, "");
  ASSERT_EQ(run("posed/", {"--seed-previous", "--seed-poses", "poses.txt", "--focal", "300", "--baseline", "0.1m"}).err,
            "");
  EXPECT_EQ(contents(folder / "still/1.pfm"), contents(folder / "posed/1.pfm"));  // the camera stays
  EXPECT_NE(contents(folder / "still/1.pfm"), contents(folder / "still/0.pfm"));  // the first frame has no seeds
  EXPECT_NE(run("x/", {"--seed-previous", "--seed-poses", "one_pose.txt", "--focal", "300", "--baseline", "0.1m"})
                .err.find("has 1 poses, and there are 2 frames"),
            std::string::npos);
  EXPECT_NE(run("still/", {"--seed-previous", "--resume"}).err.find("leave --resume out"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::test
