// Tests of the sentences for calls that cannot be done: the value, what is allowed, what to do.
#include "command.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class Sentences : public Command {
 protected:
  static void expect_says(const Answer& answer, int code, const std::vector<std::string>& parts) {
    EXPECT_EQ(answer.code, code) << answer.out << answer.err;
    for (const std::string& part : parts)
      EXPECT_NE(answer.err.find(part), std::string::npos) << part << ": " << answer.err;
  }
};

TEST_F(Sentences, HelpAndVersionHaveTheirCustomaryNames) {
  EXPECT_EQ(call({"-V"}).out, call({"--version"}).out);
  EXPECT_EQ(call({"help"}).out, call({"--help"}).out);
  for (const char* name : {"match", "evaluate", "methods", "devices", "conformance", "bench", "synth", "check",
                           "calibrate", "rectify", "cloud", "help"}) {
    const Answer answer = call({"help", name});
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(answer.out, call({name, "--help"}).out);
    EXPECT_NE(answer.out.find(std::string("stereopsis ") + name), std::string::npos) << answer.out;
  }
}

// Returns parts of the sentence about a video that cannot be decoded, or in a build without OpenCV about any video.
std::vector<std::string> damaged_video(const std::string& file) {
#ifdef STEREOPSIS_HAS_OPENCV
  return {file + " cannot be decoded as a video", "PNG"};
#else
  return {"the video " + file + " requires OpenCV", "libopencv-dev"};
#endif
}

// The headers of files that a camera or a phone gives.
TEST_F(Sentences, AVideoIsSentToTheViewer) {
  using namespace std::string_literals;
  const std::vector<std::pair<const char*, std::string>> videos = {{"clip.mp4",
                                                                    "\0\0\0\x18"
                                                                    "ftypisom\0\0\2\0"s},
                                                                   {"clip.mov",
                                                                    "\0\0\0\x14"
                                                                    "ftypqt  \0\0\0\0"s},
                                                                   {"clip.avi", "RIFF\x10\0\0\0AVI LIST"s},
                                                                   {"clip.mkv", "\x1a\x45\xdf\xa3\x93\x42\x82"s},
                                                                   {"clip.webm", "\x1a\x45\xdf\xa3\x9f\x42\x86"s},
                                                                   {"clip.mpg", "\0\0\x01\xba\x44\0\x04\0"s}};
  for (const auto& [name, header] : videos) {
    SCOPED_TRACE(name);
    write(folder / name, header + std::string(1000, 'x'));
    const std::string unnamed = std::string(name) + ".png";  // known by its header alone
    write(folder / unnamed, header + std::string(1000, 'x'));
    for (const std::string& file : {std::string(name), unnamed})
      for (const std::vector<std::string>& arguments :
           {std::vector<std::string>{"match", file, file, "-o", "video.pfm", "--disparities", "8"},
            {"check", file, file},
            {"evaluate", file, "--truth", "scene/disp_left.pfm"},
            {"evaluate", "scene/disp_left.pfm", "--truth", file},
            {"match", "scene/left.png", "scene/right.png", "--mask-left", file, "-o", "video.pfm", "--disparities",
             "8"},
            {"cloud", "scene/disp_left.pfm", "--focal", "100", "--baseline", "1", "--color", file, "-o",
             "video.ply"}}) {
        const Answer answer = call(arguments);
        const bool as_pair = file == name && arguments[1] == file && arguments[2] == file;
        expect_says(answer, 1,
                    as_pair
                        ? damaged_video(file)
                        : std::vector<std::string>{file + ": this is a video", "`stereopsis view LEFT RIGHT`", "PNG"});
        EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
      }
  }
  write(folder / "broken.mp4", "nothing that a player knows");
  expect_says(call({"check", "broken.mp4", "scene/right.png"}), 1, damaged_video("broken.mp4"));
  write(folder / "still.heic",
        "\0\0\0\x18"
        "ftypheic\0\0\0\0"s);
  expect_says(call({"check", "still.heic", "scene/right.png"}), 1, {"write each view as a PNG file"});
}

TEST_F(Sentences, MemoryLimitsAreNamedAsTheyWereGiven) {
  const auto limited = [](const std::string& limit, const std::string& threads) {
    return match({"-o", "limited.pfm", "--device", "cpu", "--memory-limit", limit, "--threads", threads});
  };
  expect_says(limited("170K", "1"), 1,
              {"images of 150×110 need 0.2 MiB of memory in addition to the matching",
               "the memory limit is 0.1 MiB (--memory-limit 170K)"});
  for (const char* threads : {"1", "2"})
    expect_says(limited("250K", threads), 1,
                {std::string("disparities with ") + threads + " thread", " needs at least ", " MiB (",
                 " bytes) of memory", "of --memory-limit 250K, the images and results use 0.2 MiB"});
  EXPECT_FALSE(fs::exists(folder / "limited.pfm"));
}

TEST_F(Sentences, ResumeNamesTheOptionThatDiffers) {
  for (const char* name : {"l", "r", "o"}) fs::create_directory(folder / name);
  for (const char* name : {"1.png", "2.png"}) {
    fs::copy_file(folder / "scene/left.png", folder / "l" / name);
    fs::copy_file(folder / "scene/right.png", folder / "r" / name);
  }
  write(folder / "rig.txt",
        "cam0=[100 0 75; 0 100 55; 0 0 1]\ncam1=[100 0 75; 0 100 55; 0 0 1]\ndoffs=0\n"
        "baseline=50\nwidth=150\nheight=110\nndisp=32\n");
  const auto sequence = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"match", "l", "r", "--disparities", "32", "-o", "o", "--quiet", "--calib", "rig.txt"});
    return call(more);
  };
  ASSERT_EQ(sequence({}).code, 0);
  expect_says(sequence({"--resume", "--no-fill"}), 2, {"fill.enabled was true and is false", "leave --resume out"});
  expect_says(sequence({"--resume", "--set", "sgm.p1=13"}), 2, {"optimisation.p1 was 20 and is 13"});
  expect_says(sequence({"--resume", "--roi", "0,0,90,90"}), 2, {"--roi was not given and is 0,0,90,90"});
  expect_says(sequence({"--resume", "--measured-only"}), 2, {"--measured-only was false and is true"});
  expect_says(sequence({"--resume", "--min-disparity", "1"}), 2, {"the search range was 0 to 31 and is 1 to 32"});
  const Answer method = sequence({"--resume", "--method", "banz-sgm"});
  expect_says(method, 2, {"--method was sgm and is banz-sgm", "others differ"});
  EXPECT_LT(method.err.size(), 400U) << method.err;
  std::string rig = contents(folder / "rig.txt");
  rig.replace(rig.find("baseline=50"), 11, "baseline=60");
  write(folder / "rig.txt", rig);
  expect_says(sequence({"--resume"}), 2, {"line 4 of the --calib file was baseline=50 and is baseline=60"});
}

TEST_F(Sentences, ACalibrationOfRawCamerasSuggestsRaw) {
  const auto matrix = [](const std::string& name, int rows, int columns, const std::string& data) {
    return name + ": !!opencv-matrix\n   rows: " + std::to_string(rows) + "\n   cols: " + std::to_string(columns) +
           "\n   dt: d\n   data: [" + data + "]\n";
  };
  const std::string camera = "200, 0, 150, 0, 200, 110, 0, 0, 1", identity = "1, 0, 0, 0, 1, 0, 0, 0, 1";
  write(folder / "rig.yml", "%YAML:1.0\n---\nimage_width: 300\nimage_height: 220\nunit: mm\n" +
                                matrix("M1", 3, 3, camera) + matrix("D1", 1, 5, "0, 0, 0, 0, 0") +
                                matrix("M2", 3, 3, camera) + matrix("D2", 1, 5, "0, 0, 0, 0, 0") +
                                matrix("R1", 3, 3, identity) + matrix("R2", 3, 3, identity) +
                                matrix("P1", 3, 4, "200, 0, 150, 0, 0, 200, 110, 0, 0, 0, 1, 0") +
                                matrix("P2", 3, 4, "200, 0, 150, -10000, 0, 200, 110, 0, 0, 0, 1, 0"));
  ASSERT_EQ(call({"synth", "-o", "judged", "--width", "300", "--height", "220", "--disparities", "32"}).code, 0);
  const AnyImage right = read_image(folder / "judged/right.png");
  const auto& pixels = std::get<Image<std::uint8_t>>(right.pixels);
  Image<std::uint8_t> lower(pixels.size(), pixels.channels());
  for (int y = 0; y < lower.height(); ++y)
    std::copy_n(pixels.row(std::max(0, y - 8)), lower.width() * lower.channels(), lower.row(y));
  write_image(folder / "lower.png", lower.view());
  const auto matched = [](const std::string& right_file, std::vector<std::string> more) {
    more.insert(more.begin(), {"match", "judged/left.png", right_file, "-o", "raw.pfm", "--calib", "rig.yml"});
    return call(more);
  };
  const std::string advice = "rows do not correspond: they differ by up to 8.";
  expect_says(matched("lower.png", {"--disparities", "32"}), 0, {advice, "; add --raw"});
  expect_says(matched("lower.png", {}), 0, {advice, "; add --raw"});
  expect_says(matched("lower.png", {"--disparities", "32", "--strict"}), 1, {advice});
  EXPECT_EQ(matched("judged/right.png", {"--disparities", "32"}).err.find("--raw"), std::string::npos);
  expect_says(call({"check", "judged/left.png", "lower.png"}), 1, {});
}

}  // namespace
}  // namespace stereopsis::test
