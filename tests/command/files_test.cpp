// Tests of the contents of input files and the places of results: confidences, colours, masks, the same picture twice, deep JSON,
// links, limits, closed pipes.
#include <cmath>

#include "command.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class CallsFiles : public Command {
 protected:
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    ASSERT_EQ(match({"-o", "d.pfm", "--confidence", "c.pgm"}).code, 0);
  }

  static Answer cloud(std::vector<std::string> more) {
    more.insert(more.begin(), {"cloud", "d.pfm", "--focal", "600", "--baseline", "0.1m", "-o", "cloud.ply"});
    return call(more);
  }
  static bool says(const Answer& answer, const std::string& part) { return answer.err.find(part) != std::string::npos; }

  // The largest colour of a cloud's points, of 15 bytes each.
  static int brightest(const fs::path& file) {
    const std::string cloud = contents(folder / file), end = "end_header\n";
    int most = 0;
    for (std::size_t point = cloud.find(end) + end.size(); point + 15 <= cloud.size(); point += 15)
      for (std::size_t c = 12; c < 15; ++c) most = std::max(most, int{static_cast<unsigned char>(cloud[point + c])});
    return most;
  }
};

TEST_F(CallsFiles, AMeshNeedsNoCloudAndColoursAreMentioned) {
  const std::vector<std::string> rig = {"cloud", "d.pfm", "--focal", "600", "--baseline", "0.1m"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), rig.begin(), rig.end());
    return call(more);
  };
  const Answer both = with({"-o", "with.ply", "--mesh", "both.ply"}), alone = with({"--mesh", "mesh.ply"});
  ASSERT_EQ(both.code, 0) << both.err;
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(contents(folder / "mesh.ply") == contents(folder / "both.ply"));
  EXPECT_NE(alone.out.find("without colours (--color LEFT"), std::string::npos) << alone.out;
  EXPECT_EQ(alone.out.rfind("mesh.ply: ", 0), 0U) << alone.out;
  const Answer coloured = with({"--mesh", "mesh.ply", "--color", "scene/left.png"});
  EXPECT_EQ(coloured.out.find("colours"), std::string::npos) << coloured.out;
  EXPECT_NE(contents(folder / "mesh.ply").find("property uchar red"), std::string::npos);
  const Answer depth = with({"--depth", "only_z.pfm"});
  EXPECT_EQ(depth.code, 0) << depth.err;
  EXPECT_EQ(depth.out.find("colours"), std::string::npos) << depth.out;
  const Answer none = with({});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(says(none, "--mesh FILE.ply")) << none.err;
}

// ---- Values ----

TEST_F(CallsFiles, AConfidenceIsTheSameInEveryFormat) {
  ASSERT_EQ(match({"-o", "d.pfm", "--confidence", "c.png"}).code, 0);
  const Answer png = cloud({"--confidence", "c.png", "--min-confidence", "0.5"});
  EXPECT_EQ(png.code, 0) << png.err;
  EXPECT_EQ(cloud({"--confidence", "c.pgm", "--min-confidence", "0.5"}).out, png.out);
  const Image<float> confidence = read_confidence(folder / "c.png");
  for (const char* name : {"c.pfm", "c.npy"}) {
    write_image(folder / name, confidence);
    EXPECT_EQ(cloud({"--confidence", name, "--min-confidence", "0.5"}).out, png.out) << name;
  }
  const Answer unfit = cloud({"--confidence", "scene/disp_left.pfm"});
  EXPECT_EQ(unfit.code, 1);
  EXPECT_TRUE(says(unfit, "the confidence at")) << unfit.err;

  const auto sparse = [](const char* file) {
    return call(
        {"evaluate", "d.pfm", "--truth", "scene/disp_left.pfm", "--sparsification", "s.svg", "--confidence", file});
  };
  EXPECT_EQ(sparse("c.pgm").out, sparse("c.pfm").out);
  EXPECT_EQ(sparse("c.png").out, sparse("c.pfm").out);
  EXPECT_TRUE(says(sparse("scene/disp_left.pfm"), "the confidence at"));
}

TEST_F(CallsFiles, CloudReadsColoursAsMatchDoes) {
  Image<std::uint16_t> ten(Size{150, 110});
  Image<float> one(Size{150, 110});
  const Image<std::uint8_t> grey({150, 110}, 1, 200);
  for (int y = 0; y < 110; ++y)
    for (int x = 0; x < 150; ++x) {
      ten(x, y) = x < 15 ? 0 : 802;
      one(x, y) = x < 15 ? 0 : 200.0F / 255;
    }
  write_image(folder / "eight.png", grey);
  write_image(folder / "ten.png", AnyImageView(ten));
  write_image(folder / "one.npy", one);
  const std::vector<std::vector<std::string>> calls = {
      {"--color", "eight.png"}, {"--color", "ten.png", "--bit-depth", "10"}, {"--color", "one.npy", "--white", "1"}};
  for (const auto& options : calls) {
    const Answer answer = cloud(options);
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_NEAR(brightest("cloud.ply"), 200, 1) << options[1];
    EXPECT_EQ(answer.err.find("low contrast"), std::string::npos) << answer.err;
  }
  for (const char* dark : {"ten.png", "one.npy"}) EXPECT_TRUE(says(cloud({"--color", dark}), "low contrast")) << dark;
  EXPECT_TRUE(says(cloud({"--bit-depth", "10"}), "--color"));
  EXPECT_EQ(cloud({"--color", "ten.png", "--bit-depth", "9"}).code, 2);
}

TEST_F(CallsFiles, MasksCountWhereTheyAre255) {
  Image<std::uint8_t> mask({150, 110}, 1, 255);
  for (int y = 0; y < 110; ++y)
    for (int x = 0; x < 75; ++x) mask(x, y) = x < 40 ? 0 : 128;
  write_image(folder / "mask.png", mask);
  ASSERT_EQ(match({"-o", "masked.pfm", "--mask-left", "mask.png", "--validity", "v.png"}).code, 0);
  const Image<std::uint8_t> validity = read_validity(folder / "v.png");
  for (const int x : {10, 60}) EXPECT_TRUE(validity(x, 50) & validity::masked) << x;
  EXPECT_FALSE(validity(100, 50) & validity::masked);
  for (const int value : {1, 7}) {
    write_image(folder / "wrong.png", Image<std::uint8_t>({150, 110}, 1, static_cast<std::uint8_t>(value)));
    for (const Answer& answer :
         {match({"-o", "x.pfm", "--mask-left", "wrong.png"}),
          call({"evaluate", "d.pfm", "--truth", "scene/disp_left.pfm", "--mask", "wrong.png"})}) {
      EXPECT_EQ(answer.code, 1) << answer.err;
      EXPECT_TRUE(says(answer, value == 1 ? "multiply the mask by 255" : "the mask is 7 at 0,0")) << answer.err;
    }
  }
}

// ---- Inputs ----

TEST_F(CallsFiles, TheSamePictureTwiceIsNoPair) {
  fs::copy_file(folder / "scene/left.png", folder / "copy.png");
  for (const char* right : {"scene/left.png", "copy.png"}) {
    const std::vector<std::string> pair = {"match", "scene/left.png", right, "-o", "twice.pfm", "--disparities", "32"};
    const Answer plain = call(pair);
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_TRUE(says(plain, "warning: ") && says(plain, "the same pixels")) << plain.err;
    auto strict = pair;
    strict.push_back("--strict");
    EXPECT_EQ(call(strict).code, 1);
    EXPECT_TRUE(says(call(strict), "the same pixels"));
    const Answer check = call({"check", "scene/left.png", right});
    EXPECT_EQ(check.code, 1) << check.out;
    EXPECT_NE(check.out.find("the same pixels"), std::string::npos) << check.out;
  }
  EXPECT_TRUE(Json::parse(call({"check", "scene/left.png", "copy.png", "--json"}).out)["same_image"].get<bool>());
  EXPECT_FALSE(says(match({"-o", "d.pfm"}), "the same pixels"));
}

TEST_F(CallsFiles, APipeIsReadOnce) {
  for (const char* start : {"cat scene/left.png | $S ", "<scene/left.png $S "})
    for (const char* rest : {"match /dev/stdin /dev/stdin -o p.pfm", "check /dev/stdin /dev/stdin",
                             "match /dev/fd/0 /dev/fd/0 -o p.pfm"}) {
      const Answer answer = shell(std::string(start) + rest);
      EXPECT_EQ(answer.code, 2) << rest << answer.err;
      EXPECT_TRUE(says(answer, "can be read only once")) << answer.err;
    }
  const Answer one = shell("cat scene/left.png | $S match /dev/stdin scene/right.png --disparities 32 -o p.pfm");
  EXPECT_EQ(one.code, 0) << one.err;
}

TEST_F(CallsFiles, DeepJsonIsASentence) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  write(folder / "deep.json", deep);
  const Answer pipeline = match({"--pipeline", "deep.json", "-o", "x.pfm"});
  EXPECT_EQ(pipeline.code, 1);
  EXPECT_TRUE(says(pipeline, "deep.json: the JSON is nested more than 64 levels deep")) << pipeline.err;

  fs::create_directories(folder / "set/bad");
  fs::copy(folder / "scene", folder / "set/good");
  write(folder / "set/bad/dataset.json", R"({"left":"a","right":"b","gt":"c","ndisp":)" + deep + "}");
  const Answer set = call({"evaluate", "--dataset", "set", "--method", "fast", "--json", "set.json"});
  EXPECT_EQ(set.code, 1);
  EXPECT_TRUE(says(set, "more than 64 levels deep")) << set.err;
  EXPECT_EQ(json("set.json")["scenes"].size(), 1U);

  for (const char* side : {"l", "r", "o"}) fs::create_directory(folder / side);
  fs::copy_file(folder / "scene/left.png", folder / "l/1.png");
  fs::copy_file(folder / "scene/right.png", folder / "r/1.png");
  const std::vector<std::string> sequence = {"match", "l", "r", "--disparities", "32", "-o", "o", "--resume"};
  ASSERT_EQ(call(sequence).code, 0);
  write(folder / "o/.stereopsis.json", R"({"call":{"left":)" + deep + "}}");
  const Answer resumed = call(sequence);
  EXPECT_EQ(resumed.code, 1);
  EXPECT_TRUE(says(resumed, ".stereopsis.json: the JSON is nested more than 64 levels deep")) << resumed.err;
}

// ---- Results ----

TEST_F(CallsFiles, ADanglingLinkIsFollowed) {
  fs::create_symlink("later.pfm", folder / "link.pfm");
  ASSERT_EQ(match({"-o", "link.pfm"}).code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "link.pfm"));
  EXPECT_TRUE(contents(folder / "later.pfm") == contents(folder / "d.pfm"));
  // Both would be one file.
  fs::create_symlink("much_later.pfm", folder / "link2.pfm");
  const Answer twice = match({"-o", "link2.pfm", "--confidence", "much_later.pfm"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_TRUE(says(twice, "link2.pfm is also --confidence")) << twice.err;
}

TEST_F(CallsFiles, ALimitOnTheSizeOfFilesIsASentence) {
  fs::create_directory(folder / "limited");
  const Answer answer = shell(
      "ulimit -f 8; $S match scene/left.png scene/right.png --disparities 32 -o limited/d.pfm --quiet; echo rc $?");
  EXPECT_NE(answer.out.find("rc 1"), std::string::npos) << answer.out;
  EXPECT_TRUE(says(answer, "limited/d.pfm cannot be written")) << answer.err;
  EXPECT_TRUE(fs::is_empty(folder / "limited"));
}

TEST_F(CallsFiles, AClosedPipeIsQuiet) {
  // `true` may end before or after the command writes; the pipe is closed for certain when `sleep` is over.
  for (const char* arguments : {"methods", "--help", "match --help", "methods --json"}) {
    const Answer answer = shell(std::string("{ sleep 0.2; $S ") + arguments + "; echo rc $? >&2; } | true");
    EXPECT_EQ(answer.err, "rc 1\n") << arguments;
  }
  const Answer work =
      shell("{ sleep 0.2; $S match scene/left.png scene/right.png --disparities 32 -o kept.pfm; } | true");
  EXPECT_EQ(work.err, "");
  EXPECT_TRUE(contents(folder / "kept.pfm") == contents(folder / "d.pfm")) << "the work is done all the same";
}

}  // namespace
}  // namespace stereopsis::test
