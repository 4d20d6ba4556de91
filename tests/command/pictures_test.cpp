// Tests pictures and videos of results, clouds that are reduced, meshes, and the page that compares methods.
#include "command.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/render.hpp"

namespace stereopsis::test {
namespace {

class Pictures : public Command {
 protected:
  // Two folders, l and r, with the same frame twice.
  static void make_sequence() {
    for (const char* side : {"l", "r"}) {
      fs::create_directories(folder / side);
      for (int i = 0; i < 2; ++i)
        fs::copy_file(folder / "scene" / (side[0] == 'l' ? "left.png" : "right.png"),
                      folder / side / (std::to_string(i) + ".png"), fs::copy_options::overwrite_existing);
    }
  }
  static std::vector<std::string> sequence(std::vector<std::string> more) {
    more.insert(more.begin(), {"match", "l", "r", "--disparities", "32", "-o", "maps"});
    return more;
  }
  static Image<std::uint8_t> picture(const char* file) {
    return std::get<Image<std::uint8_t>>(read_image(folder / file).pixels);
  }
  static bool same(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b) {
    if (a.size() != b.size() || a.channels() != b.channels()) return false;
    for (int y = 0; y < a.height(); ++y)
      if (!std::equal(a.row(y), a.row(y) + a.width() * a.channels(), b.row(y))) return false;
    return true;
  }
  // Returns the number after a keyword in the header of a cloud.
  static long count_in(const char* file, const std::string& keyword) {
    const std::string all = contents(folder / file);
    const std::size_t at = all.find(keyword);
    return at == std::string::npos ? -1 : std::stol(all.substr(at + keyword.size()));
  }
};

TEST_F(Pictures, AreThoseOfTheLibrary) {
  ASSERT_EQ(match({"-o", "d.pfm", "--color", "c.png"}).code, 0);
  const Image<float> disparity = read_disparity(folder / "d.pfm");
  const auto [low, high] = display_limits(disparity);
  EXPECT_TRUE(same(picture("c.png"), colour_disparity(disparity, low, high, true)));
  ASSERT_EQ(match({"-o", "d.pfm", "--color", "c.png", "--color-range", "-2.5,40", "--color-map", "turbo", "--no-legend",
                   "--show-filled", "--validity", "v.png"})
                .code,
            0);
  const Image<std::uint8_t> states = read_validity(folder / "v.png");
  EXPECT_TRUE(
      same(picture("c.png"),
           colour_values(disparity, {.low = -2.5, .high = 40, .map = "turbo", .legend = false, .validity = states})));
}

TEST_F(Pictures, OfDepthHaveWarmColoursNearby) {
  ASSERT_EQ(match({"-o", "d.pfm", "--depth", "z.pfm", "--depth-color", "z.png", "--focal", "100", "--baseline", "0.1m",
                   "--fill-depth", "--no-legend"})
                .code,
            0);
  const Image<float> depth = read_disparity(folder / "z.pfm");
  const auto [low, high] = display_limits(depth, 1e-6);
  EXPECT_TRUE(
      same(picture("z.png"),
           colour_values(depth, {.low = low, .high = high, .legend = false, .unit = "m", .near_is_low = true})));
}

TEST_F(Pictures, OfDepthHaveTheDepthsOfTheRange) {
  const auto expect_limits = [&](const char* range, double low, double high) {
    ASSERT_EQ(match({"-o", "d.pfm", "--depth", "z.pfm", "--depth-color", "z.png", "--focal", "100", "--baseline",
                     "0.1m", "--color-range", range})
                  .code,
              0);
    EXPECT_TRUE(same(picture("z.png"), colour_values(read_disparity(folder / "z.pfm"),
                                                     {.low = low, .high = high, .unit = "m", .near_is_low = true})))
        << range;
  };
  expect_limits("5,20", 0.5, 2);
  expect_limits("0,25", 0.4, 2.4);  // at most six times as far as the near end
}

TEST_F(Pictures, OfASequenceShareOneRange) {
  make_sequence();
  ASSERT_EQ(call(sequence({"--color", "colors", "--no-legend"})).code, 0);
  const Image<float> disparity = read_disparity(folder / "maps/0.pfm");
  EXPECT_TRUE(same(picture("colors/0.png"), colour_values(disparity, {.low = 0, .high = 31, .legend = false})));
  ASSERT_EQ(call(sequence({"--color", "colors", "--no-legend", "--color-range", "auto"})).code, 0);
  const auto [low, high] = display_limits(disparity);
  EXPECT_TRUE(same(picture("colors/0.png"), colour_values(disparity, {.low = low, .high = high, .legend = false})));
}

TEST_F(Pictures, OptionsThatDoNotApplyAreRefused) {
  const auto expect_refused = [&](const std::vector<std::string>& more, const std::string& part) {
    const Answer answer = match(more);
    EXPECT_EQ(answer.code, 2) << part;
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
  };
  expect_refused({"-o", "d.pfm", "--color-map", "turbo"}, "add --color");
  expect_refused({"-o", "d.pfm", "--color", "c.png", "--color-map", "rainbow"}, "sunset, turbo");
  expect_refused({"-o", "d.pfm", "--color", "c.png", "--color-range", "3,1"}, "LOW below HIGH");
  expect_refused({"-o", "d.pfm", "--color", "c.png", "--color-range", "wide"}, "auto or sequence");
  expect_refused({"-o", "d.pfm", "--color", "c.mp4"}, "one pair");
  expect_refused({"-o", "d.pfm", "--color", "c.png", "--color-range", "1,2,3"}, "--color-range 1,2,3 is");
  expect_refused({"-o", "d.pfm", "--depth-color", "z.png"}, "require a calibration");
  expect_refused({"-o", "d.pfm", "--depth-color", "z.png", "--focal", "9", "--baseline", "1m", "--show-filled"},
                 "with --fill-depth");
  expect_refused({"-o", "d.pfm", "--format", "pfm"}, "--format pfm applies to a result whose name is -");
}

#ifdef STEREOPSIS_HAS_OPENCV
TEST_F(Pictures, OfASequenceMayBeAVideo) {
  make_sequence();
  const Answer made = call(sequence({"--color", "videos/color.mp4"}));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "videos"), {}), 1) << "no temporary file is left";
  const Answer read = call({"match", "videos/color.mp4", "videos/color.mp4", "--disparities", "8", "-o", "twice"});
  ASSERT_EQ(read.code, 0) << read.err;
  EXPECT_NE(read.out.find("2 frames"), std::string::npos) << read.out;
  EXPECT_EQ(call(sequence({"--color", "videos/color.mp4", "--resume"})).code, 2);
  const Answer alone = call({"match", "l", "r", "--disparities", "32", "--color", "alone.mp4"});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(fs::exists(folder / "alone.mp4"));
  const std::string longest = std::string(251, 'n') + ".mp4";
  EXPECT_EQ(call({"match", "l", "r", "--disparities", "32", "--color", longest}).code, 0);
  EXPECT_TRUE(fs::exists(folder / longest));
}
#endif

TEST_F(Pictures, CloudsAreReducedAndCleaned) {
  const auto cloud = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"cloud", "scene/disp_left.pfm", "--focal", "150", "--baseline", "0.1m"});
    return call(more);
  };
  ASSERT_EQ(cloud({"-o", "all.ply"}).code, 0);
  const long all = count_in("all.ply", "element vertex ");
  EXPECT_EQ(all, 150 * 110);
  ASSERT_EQ(cloud({"-o", "all.pcd", "--normals", "--color", "scene/left.png"}).code, 0);
  EXPECT_EQ(count_in("all.pcd", "\nPOINTS "), all);
  EXPECT_NE(contents(folder / "all.pcd").find("FIELDS x y z normal_x normal_y normal_z rgb\n"), std::string::npos);
  const Answer some =
      cloud({"-o", "some.ply", "--near", "0.6", "--far", "1.5", "--outliers", "8,2", "--voxel", "0.02"});
  ASSERT_EQ(some.code, 0) << some.err;
  const long left = count_in("some.ply", "element vertex ");
  EXPECT_LT(left, all / 2);
  EXPECT_GT(left, 100);
  EXPECT_NE(some.out.find(std::to_string(left) + " points"), std::string::npos) << some.out;
  ASSERT_EQ(cloud({"-o", "new/all.ply", "--mesh", "new/mesh.ply"}).code, 0);
  EXPECT_GT(count_in("new/mesh.ply", "element face "), 150 * 110);
  EXPECT_EQ(cloud({"-o", "x.ply", "--organised", "--voxel", "1"}).code, 2);
  EXPECT_EQ(cloud({"-o", "x.ply", "--outliers", "8"}).code, 2);
  EXPECT_NE(cloud({"-o", "x.ply", "--outliers", "8,2,1"}).err.find("--outliers 8,2,1 is"), std::string::npos);
  EXPECT_EQ(cloud({"-o", "x.ply", "--format", "ply"}).code, 2);
  EXPECT_EQ(cloud({"-o", "x.ply", "--near", "2", "--far", "1"}).code, 2);
  EXPECT_FALSE(fs::exists(folder / "x.ply"));
}

TEST_F(Pictures, AComparisonIsOnePageOfItsOwn) {
  const std::vector<std::string> methods = {"--method", "sgm", "--method", "banz-sgm:optimisation.paths=4"};
  std::vector<std::string> evaluate = {"evaluate",         "--dataset", "scene", "--html",
                                       "report/page.html", "--json",    "r.json"};
  evaluate.insert(evaluate.end(), methods.begin(), methods.end());
  const Answer answer = call(evaluate);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(json("r.json")["results"].size(), 2u);
  const std::string page = contents(folder / "report/page.html");
  for (const char* part : {"<!doctype html>", "sgm", "banz-sgm:optimisation.paths=4", "medal gold", "medal silver",
                           "Accuracy over time", "Worst scenes", "data:image/png;base64,", "optimisation.p1"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const char* outside : {"http://", "https://", "src=\"/", "<script"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  // The measures are those of one method alone.
  ASSERT_EQ(call({"evaluate", "--dataset", "scene", "--method", "sgm", "--json", "one.json"}).code, 0);
  EXPECT_EQ(json("one.json")["scenes"][0]["measures"], json("r.json")["results"][0]["scenes"][0]["measures"]);
  EXPECT_EQ(json("one.json")["method"], "sgm");
  std::vector<std::string> bench = {"bench", "--dataset", "scene",  "--no-peers", "--repeat",
                                    "1",     "--html",    "b.html", "--device",   "cpu"};
  bench.insert(bench.end(), methods.begin(), methods.end());
  ASSERT_EQ(call(bench).code, 0);
  EXPECT_NE(contents(folder / "b.html").find("Settings that differ"), std::string::npos);
  EXPECT_EQ(call({"bench", "--size", "96x64x16", "--html", "b.html"}).code, 2);
}

TEST_F(Pictures, AComparisonNamesEachOfSeveralThreadCounts) {
  const Answer answer = call({"bench", "--dataset", "scene", "--no-peers", "--repeat", "1", "--device", "cpu",
                              "--threads", "1", "--threads", "2", "--html", "b.html", "--json", "b.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::string page = contents(folder / "b.html");
  for (const int threads : {1, 2}) {
    const std::string name = "sgm on cpu, threads: " + std::to_string(threads);
    EXPECT_NE(answer.out.find(name), std::string::npos) << answer.out;
    EXPECT_NE(page.find("<td>" + name + "</td>"), std::string::npos);
    EXPECT_EQ(json("b.json")["results"][threads - 1]["threads"], threads);
    EXPECT_EQ(json("b.json")["results"][threads - 1]["method"], "sgm");
  }
}

TEST_F(Pictures, AComparisonDoesNotReplaceItsPipelines) {
  const std::string pipeline = call({"methods", "zncc", "--json"}).out;
  write(folder / "p.json", pipeline);
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"evaluate", "--pipeline", "p.json", "--html", "p.json"},
                                             {"evaluate", "--method", "p.json", "--method", "sgm", "--json", "p.json"},
                                             {"bench", "--method", "p.json", "--html", "p.json"}}) {
    std::vector<std::string> arguments = more;
    arguments.insert(arguments.end(), {"--dataset", "scene"});
    const Answer answer = call(arguments);
    EXPECT_EQ(answer.code, 2) << answer.err;
    EXPECT_NE(answer.err.find("p.json is also"), std::string::npos) << answer.err;
    EXPECT_EQ(contents(folder / "p.json"), pipeline);
  }
  ASSERT_EQ(call({"evaluate", "--dataset", "scene", "--pipeline", "p.json", "--html", "page.html"}).code, 0);
  EXPECT_NE(contents(folder / "page.html").find("<td>p.json</td>"), std::string::npos);
}

}  // namespace
}  // namespace stereopsis::test
