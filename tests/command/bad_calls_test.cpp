// A call that is wrong gets one sentence that names the value, and nothing on disk changes.
#include "command.hpp"
#include "stereopsis/simd.hpp"

namespace stereopsis::test {
namespace {

class BadCalls : public Command {
 protected:
  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    write(folder / "existing.pfm", "precious");
    write(folder / "existing.png", "precious");
    write(folder / "text.png", "this is not an image, whatever its name says");
    write(folder / "text.json", "{\"method\": ");
    write(folder / "empty.png", "");
    write(folder / "truncated.png", contents(folder / "scene/left.png").substr(0, 300));
    fs::create_directory(folder / "results");
    fs::create_directory(folder / "three");
    for (const char* name : {"0.png", "1.png", "2.png"})
      fs::copy_file(folder / "scene/left.png", folder / "three" / name);
    fs::create_directory(folder / "two");
    for (const char* name : {"0.png", "1.png"}) fs::copy_file(folder / "scene/right.png", folder / "two" / name);
    ASSERT_EQ(call({"synth", "-o", "small", "--width", "60", "--height", "40", "--disparities", "16"}).code, 0);
  }

  void expect_refused(const std::vector<std::string>& arguments, int code, const std::vector<std::string>& named) {
    std::string line;
    for (const std::string& argument : arguments) line += argument + " ";
    SCOPED_TRACE(line);
    const auto before = snapshot();
    const Answer answer = call(arguments);
    EXPECT_EQ(answer.code, code) << answer.err;
    EXPECT_TRUE(answer.err.starts_with("stereopsis: ")) << answer.err;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
    EXPECT_EQ(answer.out, "");
    for (const std::string& name : named) EXPECT_NE(answer.err.find(name), std::string::npos) << answer.err;
    EXPECT_TRUE(snapshot() == before) << "something on disk changed";
  }

  // `match` on the scene with its range given, into an existing file.
  void expect_match_refused(std::vector<std::string> more, const std::vector<std::string>& named, int code = 2) {
    more.insert(more.begin(), {"match", "scene/left.png", "scene/right.png", "-o", "existing.pfm"});
    if (std::find(more.begin(), more.end(), "--disparities") == more.end()) {
      more.push_back("--disparities");
      more.push_back("32");
    }
    expect_refused(more, code, named);
  }
};

TEST_F(BadCalls, WordsOfOtherProgramsGetAHint) {
  expect_match_refused({"--device", "gpu"}, {"did you mean 'cuda' or 'opencl'?"});
  expect_match_refused({"--max-disparity", "64"}, {"did you mean --disparities N, which counts from --min-disparity"});
  expect_match_refused({"--paths", "8"}, {"it is a parameter: --set optimisation.paths=VALUE"});
  expect_match_refused({"--method", "sgm,zncc"}, {"names several methods", "`bench`", "--method is repeatable"});
  expect_refused({"cloud", "scene/left.png", "-o", "c.ply", "--focal", "100", "--baseline", "1m"}, 2, {"--scale S"});
  expect_match_refused({"--color", "c.png", "--color-range", "1m,5m"}, {"is a range of depths", "--depth-color"});
  expect_match_refused({"--depth-color", "c.png", "--color-range", "5m,1m", "--focal", "100", "--baseline", "1m"},
                       {"LOW must be below HIGH"});
  expect_match_refused({"--depth-color", "c.png", "--color-range", "1m,5m", "--focal", "100", "--baseline", "1"},
                       {"--color-range", "unit"});
}

TEST_F(BadCalls, MissingFile) {
  expect_refused({"match", "nowhere.png", "scene/right.png", "-o", "existing.pfm"}, 2, {"nowhere.png", "left"});
  expect_refused({"match", "scene/left.png", "nowhere.png", "-o", "existing.pfm"}, 2, {"nowhere.png", "right"});
  expect_refused({"evaluate", "nowhere.pfm", "--truth", "scene/disp_left.pfm"}, 2, {"nowhere.pfm"});
  expect_refused({"evaluate", "--dataset", "nowhere"}, 2, {"nowhere"});
  expect_refused({"check", "nowhere.png", "scene/right.png"}, 2, {"nowhere.png"});
  expect_match_refused({"--mask-left", "nowhere.png"}, {"nowhere.png", "--mask-left"});
}

TEST_F(BadCalls, NotAnImage) {
  for (const char* file : {"text.png", "empty.png", "truncated.png"})
    expect_refused({"match", file, "scene/right.png", "-o", "existing.pfm"}, 1, {file});
}

TEST_F(BadCalls, NothingToMeasure) {
  write(folder / "unknown.pgm", "P5\n150 110\n255\n" + std::string(150 * 110, '\0'));
  expect_refused({"evaluate", "scene/disp_left.pfm", "--truth", "unknown.pgm", "--scale", "4", "--json", "new.json"}, 2,
                 {"unknown.pgm has no valid disparity"});
}

TEST_F(BadCalls, TwoSizes) {
  expect_refused({"match", "scene/left.png", "small/right.png", "-o", "existing.pfm"}, 2,
                 {"150×110", "60×40", "small/right.png"});
  expect_refused({"check", "scene/left.png", "small/right.png"}, 2, {"150×110", "60×40"});
  expect_match_refused({"--mask-right", "small/mask_nonocc.png"}, {"150×110", "60×40", "mask_nonocc.png"});
}

TEST_F(BadCalls, Range) {
  expect_match_refused({"--disparities", "0"}, {"--disparities 0", "from 1"});
  expect_match_refused({"--disparities", "-5"}, {"--disparities -5"});
  expect_match_refused({"--disparities", "many"}, {"--disparities many"});
  expect_match_refused({"--disparities", "64.5"}, {"--disparities 64.5"});
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "existing.pfm", "--min-disparity", "3"}, 2,
                 {"--min-disparity", "--disparities"});
  expect_match_refused({"--near", "2"}, {"--near", "--calib"});
}

TEST_F(BadCalls, UnknownMethod) {
  expect_match_refused({"--method", "banz-sgn"}, {"banz-sgn", "banz-sgm"});
  expect_refused({"methods", "banz-sgn"}, 2, {"banz-sgn", "banz-sgm"});
}

TEST_F(BadCalls, UnknownParameterGetsTheNearestRightOne) {
  expect_match_refused({"--set", "sgm.p11=5"}, {"sgm.p11", "sgm.p1"});
  expect_match_refused({"--set", "sgm.p1"}, {"sgm.p1", "NAME.PARAMETER=VALUE"});
}

TEST_F(BadCalls, SettingsThatUndoOthers) {
  expect_match_refused({"--set", "sgm.p1=7", "--set", "optimisation.stage=sgm"}, {"overrides --set sgm.p1=7"});
  expect_match_refused({"--set", "speckle.size=50", "--set", "refinements=left_right,median"},
                       {"overrides --set speckle.size=50"});
  expect_match_refused({"--set", "refinements=left_right,median,median", "--set", "median2.enabled=false"},
                       {"overrides --set refinements=left_right,median,median; change this list instead"});
  const auto before = snapshot();
  EXPECT_EQ(call({"match", "scene/left.png", "scene/right.png", "--disparities", "32", "--explain", "--set",
                  "optimisation.stage=sgm", "--set", "sgm.p1=7", "--set", "sgm.p1=8"})
                .code,
            0);
  EXPECT_TRUE(snapshot() == before);
}

TEST_F(BadCalls, OptionsThatNothingReads) {
  expect_match_refused({"--frame", "head"}, {"--frame applies to the point cloud"});
  expect_match_refused({"--explain", "--json", "--timings"}, {"leave --timings"});
}

TEST_F(BadCalls, ValueOutOfRange) {
  expect_match_refused({"--method", "banz-sgm", "--set", "rank.window=8"}, {"window", "8", "odd"});
  expect_match_refused({"--method", "banz-sgm", "--set", "rank.window=big"}, {"window", "big"});
}

TEST_F(BadCalls, OutputFolderMissing) {
  const auto expect_not_created = [&](std::vector<std::string> call, int code) {
    call.emplace_back("--no-create");
    expect_refused(call, code, {"no/such"});
  };
  expect_not_created({"match", "scene/left.png", "scene/right.png", "-o", "no/such/out.pfm"}, 1);
  expect_match_refused({"--color", "no/such/picture.png", "--no-create"}, {"no/such"}, 1);
  expect_match_refused({"--report", "no/such/report.json", "--no-create"}, {"no/such"}, 1);
  expect_not_created({"synth", "-o", "no/such/scene"}, 2);
  expect_match_refused({"--color", "existing.pfm/picture.png"}, {"existing.pfm is a file"}, 1);
}

TEST_F(BadCalls, OutputNotWritable) {
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "results"}, 2, {"results"});
  fs::permissions(folder / "results", fs::perms::owner_read | fs::perms::owner_exec);
  // The superuser can write into it, but not there.
  const std::string read_only = access((folder / "results").c_str(), W_OK) != 0 ? "results" : "/proc";
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", read_only + "/out.pfm"}, 1, {read_only});
  fs::permissions(folder / "results", fs::perms::owner_all);
}

TEST_F(BadCalls, UnknownExtension) {
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "out.bmp"}, 2, {"out.bmp", ".pfm"});
  expect_match_refused({"--cloud", "cloud.obj", "--calib", "nowhere.txt"}, {"cloud.obj", ".ply"});
  expect_match_refused({"--cloud", "cloud.ply", "--calib", "nowhere.txt"}, {"nowhere.txt"}, 1);
  expect_match_refused({"--calib", ""}, {"--calib", "empty"});
  expect_match_refused({"--color", "picture.gif"}, {"picture.gif", ".png"});
}

TEST_F(BadCalls, RegionOutsideTheImage) {
  expect_match_refused({"--roi", "100,0,51,10"}, {"--roi 100,0,51,10", "150×110"});
  expect_match_refused({"--roi", "0,0,10,111"}, {"--roi 0,0,10,111", "150×110"});
  expect_match_refused({"--roi", "2000000000,0,2000000000,1"}, {"--roi", "150×110"});
  expect_match_refused({"--roi", "0,0,10"}, {"--roi 0,0,10"});
  expect_match_refused({"--roi", "0,0,0,10"}, {"--roi 0,0,0,10"});
  expect_match_refused({"--crop"}, {"--crop", "--roi"});
}

TEST_F(BadCalls, NegativeDisparitiesDoNotFitPng) {
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "existing.png", "--disparities", "32",
                  "--min-disparity", "-8"},
                 2, {"existing.png", "-8", ".pfm"});
}

TEST_F(BadCalls, ResultsMustHaveNamesOfTheirOwn) {
  expect_match_refused({"--right", "existing.pfm"}, {"existing.pfm"});
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "scene/left.png", "--disparities", "8"}, 2,
                 {"scene/left.png", "input"});
}

TEST_F(BadCalls, Sequences) {
  expect_refused({"match", "three", "two", "-o", "results"}, 2, {"three has 3", "two has 2"});
  expect_refused({"match", "three/%d.png", "two/%d.png", "-o", "results"}, 2, {"3", "2"});
  expect_refused({"match", "three/%d.png", "scene/right.png", "-o", "results"}, 2, {"sequence", "one file"});
  expect_refused({"match", "three/x%d.png", "two/%d.png", "-o", "results"}, 2, {"three/x%d.png"});
  expect_refused({"match", "three", "three", "-o", "existing.pfm"}, 2, {"existing.pfm", "directory"});
  expect_refused({"match", "results", "results", "-o", "results"}, 2, {"results"});
}

TEST_F(BadCalls, Pipelines) {
  expect_match_refused({"--pipeline", "text.json"}, {"text.json"}, 1);
  expect_match_refused({"--pipeline", "text.json", "--method", "sgm"}, {"--pipeline", "--method"});
}

TEST_F(BadCalls, Devices) {
  expect_match_refused({"--device", "abacus"}, {"abacus"});
  expect_match_refused({"--threads", "0"}, {"--threads 0"});
  expect_match_refused({"--memory-limit", "2X"}, {"--memory-limit 2X"});
  for (const char* option : {"--memory-limit", "--device", "--report", "--mask-left", "--set"})
    expect_match_refused({option, ""}, {"the value of ", option, " is empty; write `"});
}

TEST_F(BadCalls, CommandLine) {
  expect_refused({}, 2, {"--help"});
  expect_refused({"match", "scene/left.png", "-o", "existing.pfm"}, 2, {"RIGHT is missing", "LEFT RIGHT"});
  expect_refused({"match", "scene/left.png", "scene/right.png", "-o", "existing.pfm", "--nonsense"}, 2, {"--nonsense"});
  expect_refused({"mach"}, 2, {"mach"});
  expect_refused({"bench", "--size", "640x480"}, 2, {"--size 640x480"});
  expect_refused({"bench", "--simd", "avx3"}, 2, {"avx3", "avx512"});
  const std::string missing = simd_targets().front() == "neon" ? "sse4" : "neon";
  expect_match_refused({"--simd", missing}, {missing, simd_targets().front()}, 1);
  expect_refused({"synth", "-o", "new", "--disparities", "0"}, 2, {"--disparities 0"});
  expect_refused({"synth", "-o", "new", "--scene", "nowhere"}, 2, {"nowhere"});
  expect_refused({"synth", "-o", "new", "--random", "--gain", "2"}, 2, {"--random", "--gain"});
  expect_refused({"synth", "-o", "new", "--count", "2"}, 2, {"--count", "--random"});
  expect_refused({"synth", "-o", "new", "--random", "--width", "90", "--picture-width", "50"}, 2, {"90", "50"});
}

TEST_F(BadCalls, UnknownCommandsGetTheNearestKnownOne) {
  expect_refused({"mach"}, 2, {"there is no command 'mach' (did you mean 'match'?)", "stereopsis --help"});
  expect_refused({"evalaute", "a", "--truth", "b"}, 2, {"'evalaute' (did you mean 'evaluate'?)"});
  expect_refused({"help", "mtach"}, 2, {"there is no command 'mtach' (did you mean 'match'?)"});
  expect_refused({"scene/left.png", "scene/right.png"}, 2, {"before 'scene/left.png'", "stereopsis match LEFT RIGHT"});
  const Answer far = call({"photogrammetry"});
  EXPECT_EQ(far.code, 2);
  EXPECT_EQ(far.err, "stereopsis: there is no command 'photogrammetry'; `stereopsis --help` lists all commands\n");
}

TEST_F(BadCalls, UnknownOptionsGetTheNearestKnownOne) {
  expect_match_refused({"--disparity", "64"}, {"match has no option '--disparity' (did you mean '--disparities'?)"});
  expect_match_refused({"--min-disprity=3"}, {"'--min-disprity' (did you mean '--min-disparity'?)"});
  expect_match_refused({"-x", "3"}, {"match has no option '-x'; `stereopsis match --help`"});
  expect_match_refused({"--time", "3"}, {"match has no option '--time'; `stereopsis match --help`"});  // --simd is far
  // The value of an unknown option takes the place of an image.
  expect_refused({"match", "--dispaities", "64", "scene/left.png", "scene/right.png"}, 2,
                 {"'--dispaities' (did you mean '--disparities'?)"});
  expect_refused({"match", "--ouptut", "a.pfm", "scene/left.png"}, 2, {"'--ouptut' (did you mean '--output'?)"});
  expect_refused({"--versoin"}, 2, {"there is no option '--versoin' (did you mean '--version'?)"});
  expect_refused({"--disparities", "8", "match", "scene/left.png", "scene/right.png"}, 2,
                 {"--disparities is an option of match; write it after the command"});
  for (const char* command : {"evaluate", "bench", "methods", "devices", "conformance", "check", "synth", "calibrate",
                              "rectify", "cloud", "help"})
    expect_refused(
        {command, "--qiet", "7"}, 2,
        {std::string(command) + " has no option '--qiet'", std::string("`stereopsis ") + command + " --help`"});
}

TEST_F(BadCalls, ArgumentsThatAreMissingOrTooMany) {
  expect_refused({"cloud"}, 2, {"DISPARITY is missing; write `stereopsis cloud DISPARITY …`"});
  expect_refused({"check", "scene/left.png"}, 2, {"RIGHT is missing", "--side-by-side"});
  expect_refused({"check", "scene/left.png", "scene/right.png", "third.png"}, 2,
                 {"unexpected argument 'third.png': stereopsis check accepts only LEFT and RIGHT"});
  expect_refused({"check", "scene/left.png", "scene/right.png", "scene/mask_nonocc.png"}, 2, {"wildcard", "quotes"});
  expect_refused({"devices", "cuda"}, 2, {"unexpected argument 'cuda'", "devices accepts only options"});
  expect_refused({"match", "scene/left.png", "scene/right.png", "--min-disparity"}, 2,
                 {"--min-disparity requires a value; write `--min-disparity N`"});
  expect_match_refused({"--disparities", "8", "--disparities", "9"}, {"--disparities is given 2 times; give it once"});
  for (const char* value : {"perhaps", "1", "false"})
    expect_match_refused({std::string("--explain=") + value}, {"--explain is a switch and has no value"});
  expect_match_refused({"--confidence", "--timings"}, {"--confidence requires a value, and --timings is an option"});
  expect_match_refused({"--set", "--timings"}, {"--set requires a value, and --timings is an option"});
  expect_refused({"help", "match", "check"}, 2, {"unexpected argument 'check'", "one command at a time"});
  expect_match_refused({"--pipeline", "text.json", "--method", "sgm"},
                       {"--method and --pipeline cannot be given together; leave one of them out"});
  expect_refused({"synth", "-o", "new", "--count", "2"}, 2, {"--count and --random must be given together; give both"});
  expect_refused({"synth"}, 2, {"--output is missing; write `stereopsis synth --output "});
}

TEST_F(BadCalls, UnknownNamesOfStagesAndDevices) {
  expect_match_refused({"--set", "cost.stage=cenus"}, {"no stage 'cenus'", "(did you mean 'census'?)", "zncc"});
  expect_match_refused({"--set", "refinements=medain"}, {"'medain' (did you mean 'median'?)"});
  expect_match_refused({"--set", "gradient=8"}, {"no parameter 'gradient' (did you mean 'optimisation.gradient'?)"});
  expect_match_refused({"--set", "nonsense.xyzzy=8"},
                       {"no parameter 'nonsense.xyzzy'; `stereopsis methods sgm` lists"});
  expect_match_refused({"--method", "watershed"}, {"there is no method 'watershed'; `stereopsis methods` lists all"});
  expect_match_refused({"--device", "cdua:1"}, {"no device 'cdua:1' (did you mean 'cuda'?)", "opencl[:N]"});
}

}  // namespace
}  // namespace stereopsis::test
