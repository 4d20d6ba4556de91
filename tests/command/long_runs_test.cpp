// Long runs lose no work: what fails is named and the rest goes on; what was interrupted goes on where it was.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <limits>
#include <thread>

#include "command.hpp"
#include "stereopsis/calibration.hpp"
#include "stereopsis/io.hpp"
#include "support/rigs.hpp"
#include "support/sanitized.hpp"

namespace stereopsis::test {
namespace {

class LongRuns : public Command {
 protected:
  static constexpr int frames = 60;

  static void SetUpTestSuite() {
    Command::SetUpTestSuite();
    ASSERT_EQ(
        call({"synth", "-o", "other", "--width", "150", "--height", "110", "--disparities", "32", "--seed", "5"}).code,
        0);
    for (const std::string side : {"left", "right"}) {
      fs::create_directory(folder / side);
      for (int i = 0; i < frames; ++i)
        fs::create_hard_link(folder / (i % 2 == 0 ? "scene" : "other") / (side + ".png"),
                             folder / side / (std::to_string(i) + ".png"));
    }
    fs::create_directory(folder / "whole");
    const Answer answer = sequence("whole", {});
    ASSERT_EQ(answer.code, 0) << answer.err;
  }

  static std::vector<std::string> arguments_of(const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"match", "left",         "right",          "-o",      out, "--disparities",
                                          "32",    "--confidence", out + "/c%d.pfm", "--color", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static Answer sequence(const std::string& out, const std::vector<std::string>& more) {
    return call(arguments_of(out, more));
  }

  static void expect_as_whole(const std::string& out) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder / "whole")) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with('.')) continue;
      ++count;
      EXPECT_TRUE(contents(entry.path()) == contents(folder / out / name)) << name;
    }
    EXPECT_EQ(count, 3U * frames);
    EXPECT_EQ(hidden_in(out), 1) << "the sidecar, and no temporary file";
  }
  static int hidden_in(const std::string& out) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder / out))
      count += entry.path().filename().string().starts_with('.');
    return count;
  }

  // Begins the sequence, ends it by a signal when `least` frames are there, and says what it answered.
  static Answer interrupted(const std::string& out, const std::vector<std::string>& more, int signal, int least) {
    std::string line = "exec $S";
    for (const std::string& argument : arguments_of(out, more)) line += " '" + argument + "'";
    const fs::path err = folder / "interrupted.err";
    const std::string command = "cd '" + folder.string() + "' && S='" STEREOPSIS_COMMAND "' && " + line + " 2>'" +
                                err.string() + "' >/dev/null";
    const pid_t pid = fork();
    if (pid == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    for (int i = 0; i < 20000 && !fs::exists(folder / out / (std::to_string(least) + ".pfm")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(pid, signal);
    int status = 0;
    waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), "", contents(err)};
  }
};

// ---- Interrupts ----

TEST_F(LongRuns, AnInterruptSaysHowFarItWasAndLeavesNothingHalfDone) {
  for (const auto& [signal, name] : {std::pair{SIGINT, "int"}, {SIGTERM, "term"}}) {
    fs::create_directory(folder / name);
    const Answer answer = interrupted(name, {}, signal, 3);
    EXPECT_EQ(answer.code, 128 + signal) << answer.err;
    EXPECT_NE(answer.err.find("of 60 frames done"), std::string::npos) << answer.err;
    EXPECT_NE(answer.err.find("--resume"), std::string::npos) << answer.err;
    EXPECT_EQ(hidden_in(name), 1);
    EXPECT_FALSE(fs::exists(folder / name / "59.pfm"));
    const Answer rest = sequence(name, {"--resume", "--report", "rest.json"});
    EXPECT_EQ(rest.code, 0) << rest.err;
    EXPECT_NE(rest.err.find("from an earlier run"), std::string::npos) << rest.err;
    const Json done = json("rest.json")["frames"];  // with several writers, a later frame may have been complete first
    EXPECT_TRUE(std::ranges::any_of(done, [](const Json& frame) { return frame.contains("there_already"); }));
    expect_as_whole(name);
  }
}

TEST_F(LongRuns, KilledRunsGoOnToTheSameFiles) {
  fs::create_directory(folder / "killed");
  for (const int least : {2, 11, 30}) interrupted("killed", {"--resume"}, SIGKILL, least);
  char host[65] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  // As a killed writer leaves it: no process has this number.
  write(folder / "killed" / (std::string(".40.pfm.") + host + ".2000000000.0.tmp"), "half of a map");
  ASSERT_EQ(sequence("killed", {"--resume"}).code, 0);
  expect_as_whole("killed");
  const auto before = fs::last_write_time(folder / "killed/7.pfm");
  const Answer again = sequence("killed", {"--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("60 of 60 frames are complete from an earlier run"), std::string::npos) << again.err;
  EXPECT_TRUE(fs::last_write_time(folder / "killed/7.pfm") == before);
}

TEST_F(LongRuns, ResumeDoesAnewWhatIsNotWholeOrNotOfThisCall) {
  fs::create_directory(folder / "again");
  ASSERT_EQ(sequence("again", {}).code, 0);
  // Another call's results are not taken.
  const Answer other = sequence("again", {"--resume", "--set", "sgm.p1=11"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("another call"), std::string::npos) << other.err;
  EXPECT_NE(other.err.find("optimisation.p1 was 20 and is 11"), std::string::npos) << other.err;
  // Results that are missing, empty or older than their images are matched again.
  fs::remove(folder / "again/c5.pfm");
  write(folder / "again/9.pfm", "");
  write(folder / "again/12.pfm", "old");
  fs::last_write_time(folder / "again/12.pfm", fs::file_time_type::clock::now() - std::chrono::hours(24));
  ASSERT_EQ(sequence("again", {"--resume"}).code, 0);
  expect_as_whole("again");
  EXPECT_EQ(call({"match", "scene/left.png", "scene/right.png", "-o", "d.pfm", "--disparities", "32", "--resume"}).code,
            2);
}

TEST_F(LongRuns, ResumeDoesAnewWhatWasCutOff) {
  fs::create_directory(folder / "cut");
  ASSERT_EQ(sequence("cut", {}).code, 0);
  for (const char* name : {"3.pfm", "c8.pfm", "20.png"})
    fs::resize_file(folder / "cut" / name, fs::file_size(folder / "cut" / name) / 2);
  write(folder / "cut/30.pfm", "Pf\n2 2\n-1.0\n0123456789abcdef");  // whole, of another size
  const Answer answer = sequence("cut", {"--resume"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("56 of 60 frames are complete from an earlier run"), std::string::npos) << answer.err;
  expect_as_whole("cut");
}

TEST_F(LongRuns, RectifyGoesOnWhereItWas) {
  write_calibration(folder / "rig.yml", calibration_for({150, 110}));
  write_calibration(folder / "fisheye.yml", calibration_for({150, 110}, Lens::Model::fisheye));
  for (const char* out : {"flat", "resumed"}) fs::create_directory(folder / out);
  const auto rectify = [](const std::string& out, const std::string& rig, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"rectify", "left", "right", "--calib", rig, "-o", out});
    return call(more);
  };
  const auto files_of = [](const std::string& out) {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder / out))
      if (entry.is_regular_file())
        files.emplace_back(fs::relative(entry.path(), folder / out).string(), contents(entry.path()));
    std::sort(files.begin(), files.end());
    return files;
  };
  ASSERT_EQ(rectify("flat", "rig.yml").code, 0);
  shell(
      "$S rectify left right --calib rig.yml -o resumed >/dev/null 2>&1 & "
      "while [ ! -e resumed/right/20.png ]; do sleep 0.001; done; kill -KILL $!");
  EXPECT_FALSE(fs::exists(folder / "resumed/rig.yml")) << "it was done before it was killed";
  const Answer rest = rectify("resumed", "rig.yml", {"--resume"});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_NE(rest.err.find("of 60 frames are complete from an earlier run"), std::string::npos) << rest.err;
  EXPECT_TRUE(files_of("resumed") == files_of("flat"));

  const auto before = fs::last_write_time(folder / "resumed/left/7.png");
  fs::remove(folder / "resumed/mask_right.png");
  write(folder / "resumed/right/9.png", "");
  const Answer again = rectify("resumed", "rig.yml", {"--resume"});
  EXPECT_NE(again.err.find("58 of 60 frames"), std::string::npos) << again.err;
  EXPECT_TRUE(files_of("resumed") == files_of("flat"));
  EXPECT_TRUE(fs::last_write_time(folder / "resumed/left/7.png") == before);

  const Answer other = rectify("resumed", "fisheye.yml", {"--resume"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("--calib"), std::string::npos) << other.err;
  EXPECT_EQ(call({"rectify", "scene/left.png", "scene/right.png", "--calib", "rig.yml", "-o", "flat", "--resume"}).code,
            2);
}

TEST_F(LongRuns, ARefusedCallLeavesWhatResumeGoesBy) {
  const auto before = snapshot();
  const Answer refused = sequence("whole", {"--method", "zncc", "--set", "reduce.factor=2", "--set",
                                            "reduce.upsample=false", "--roi", "0,0,64,64", "--crop"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("--crop"), std::string::npos) << refused.err;
  EXPECT_TRUE(snapshot() == before);
}

// ---- Failures ----

TEST_F(LongRuns, AFailingFrameSaysHowManyAreDoneAndKeepGoingGoesOn) {
  for (const std::string side : {"left", "right"}) {
    fs::create_directories(folder / "broken" / side);
    for (int i = 0; i < 6; ++i)
      fs::copy_file(folder / side / (std::to_string(i) + ".png"),
                    folder / "broken" / side / (std::to_string(i) + ".png"));
  }
  write(folder / "broken/left/3.png", contents(folder / "left/3.png").substr(0, 500));
  fs::create_directory(folder / "broken/out");
  const std::vector<std::string> arguments = {"match",         "broken/left", "broken/right", "-o",    "broken/out",
                                              "--disparities", "32",          "--report",     "b.json"};
  const Answer stopped = call(arguments);
  EXPECT_EQ(stopped.code, 1);
  EXPECT_NE(stopped.err.find("broken/left/3.png"), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.err.find("3 of 6 frames are done"), std::string::npos) << stopped.err;
  EXPECT_TRUE(fs::exists(folder / "broken/out/2.pfm"));
  EXPECT_TRUE(json("b.json")["frames"][3].contains("failed"));

  auto on = arguments;
  on.insert(on.end(), {"--keep-going", "--resume"});
  const Answer kept = call(on);
  EXPECT_EQ(kept.code, 1);
  EXPECT_NE(kept.err.find("1 of 6 frames failed"), std::string::npos) << kept.err;
  for (const char* name : {"0.pfm", "2.pfm", "4.pfm", "5.pfm"})
    EXPECT_TRUE(fs::exists(folder / "broken/out" / name)) << name;
  EXPECT_FALSE(fs::exists(folder / "broken/out/3.pfm"));
  const Json report = json("b.json");
  EXPECT_NE(report["frames"][3]["failed"].get<std::string>().find("3.png"), std::string::npos);
  EXPECT_TRUE(report["frames"][4]["density"]["measured"].is_number());
  // The first one, too.
  write(folder / "broken/left/0.png", "nothing");
  on.erase(on.end() - 1);
  EXPECT_EQ(call(on).code, 1);
  EXPECT_TRUE(json("b.json")["frames"][0].contains("failed"));
  EXPECT_FALSE(json("b.json")["frames"][5].contains("failed"));
}

TEST_F(LongRuns, AFrameThatFailsKeepsNoEarlierResults) {
  fs::create_directory(folder / "stale");
  const auto run = [](const std::string& left) {
    return call({"match", left, "right", "-o", "stale", "--confidence", "stale/c%d.pfm", "--disparities", "32",
                 "--keep-going", "--report", "stale.json"});
  };
  ASSERT_EQ(run("left").code, 0);
  fs::create_directory(folder / "damaged");
  for (int i = 0; i < frames; ++i)
    fs::copy_file(folder / "left" / (std::to_string(i) + ".png"), folder / "damaged" / (std::to_string(i) + ".png"));
  write(folder / "damaged/7.png", "damaged");
  const Answer answer = run("damaged");
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(answer.err.find("stale/7.pfm was removed"), std::string::npos) << answer.err;
  for (const char* name : {"7.pfm", "c7.pfm"}) EXPECT_FALSE(fs::exists(folder / "stale" / name)) << name;
  EXPECT_TRUE(fs::exists(folder / "stale/8.pfm"));
  EXPECT_EQ(json("stale.json")["frames"][7]["removed"], (std::vector<std::string>{"stale/c7.pfm", "stale/7.pfm"}));
  EXPECT_FALSE(json("stale.json")["frames"][8].contains("removed"));
}

// A frame that fails gives its buffers back out of turn, while an earlier frame is still being written from its own: here
// to a pipe that nobody reads for a while.
TEST_F(LongRuns, FailingFramesLeaveTheOneThatIsWrittenAlone) {
  for (const char* seed : {"1", "2"})  // smaller pairs are not judged, which --strict requires
    ASSERT_EQ(call({"synth", "-o", std::string("wide") + seed, "--width", "240", "--height", "180", "--disparities",
                    "32", "--seed", seed})
                  .code,
              0);
  for (const std::string side : {"left", "right"}) {
    fs::create_directories(folder / "mixed" / side);
    for (int i = 0; i < 6; ++i) {
      const fs::path source = folder / (i == 0 ? "wide1" : "wide2") / (side + ".png");
      const auto bytes = std::get<Image<std::uint8_t>>(read_image(source).pixels);
      const bool fails = i == 1 || i == 2;  // its images are NaN, so that no pixel is measured
      Image<float> pixels(bytes.size());
      for (int y = 0; y < bytes.height(); ++y)
        for (int x = 0; x < bytes.width(); ++x)
          pixels(x, y) = fails ? std::numeric_limits<float>::quiet_NaN() : bytes(x, y);
      write_image(folder / "mixed" / side / (std::to_string(i) + ".pfm"), pixels);
    }
  }
  fs::create_directory(folder / "mixed/out");
  if (shell("mkfifo mixed/out/c0.pfm").code != 0) GTEST_SKIP() << "needs mkfifo";
  const Answer answer = shell(
      "(sleep 1; timeout 60 cat mixed/out/c0.pfm >c0.pfm) & $S match mixed/left mixed/right -o mixed/out --disparities "
      "32 "
      "--device cpu --strict --keep-going --confidence mixed/out/c%d.pfm; echo rc $?; wait");
  EXPECT_NE(answer.out.find("rc 1"), std::string::npos) << answer.out;
  EXPECT_NE(answer.err.find("2 of 6 frames failed"), std::string::npos) << answer.err;
  for (const std::string frame : {"0", "3", "4", "5"}) {
    ASSERT_EQ(call({"match", "mixed/left/" + frame + ".pfm", "mixed/right/" + frame + ".pfm", "-o", "alone.pfm",
                    "--disparities", "32"})
                  .code,
              0);
    EXPECT_TRUE(contents(folder / "mixed/out" / (frame + ".pfm")) == contents(folder / "alone.pfm")) << frame;
  }
}

TEST_F(LongRuns, DatasetsGoOnBehindADamagedScene) {
  for (const char* name : {"one", "two", "three", "four"}) {
    fs::create_directories(folder / "set");
    fs::copy(folder / "scene", folder / "set" / name);
  }
  write(folder / "set/three/left.png", "damaged");
  write(folder / "set/four/dataset.json",
        "{\"left\": 3, \"right\": \"right.png\", \"gt\": \"disp_left.pfm\", \"ndisp\": 32}");
  const Answer answer = call({"evaluate", "--dataset", "set", "--json", "set.json"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(answer.err.find("set/three/left.png"), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("set/four"), std::string::npos) << answer.err;
  EXPECT_EQ(json("set.json")["scenes"].size(), 2U);
  EXPECT_EQ(json("set.json")["failed"].size(), 2U);
  const Answer bench = call({"bench", "--dataset", "set", "--no-peers", "--repeat", "1", "--json", "bench.json"});
  EXPECT_EQ(bench.code, 1);
  EXPECT_EQ(json("bench.json")["results"][0]["scenes"].size(), 2U);
}

TEST_F(LongRuns, ReportsHoldNamesThatAreNotUtf8) {
  const std::string name = "na\xffme.png";
  fs::copy_file(folder / "scene/left.png", folder / name);
  EXPECT_EQ(
      call({"match", name, "scene/right.png", "-o", "d.pfm", "--disparities", "32", "--report", "named.json"}).code, 0);
  EXPECT_FALSE(json("named.json")["frames"][0]["left"].get<std::string>().empty());
  write_disparity(folder / "d\xff.pfm", read_disparity(folder / "d.pfm"));
  EXPECT_EQ(call({"evaluate", "d\xff.pfm", "--truth", "scene/disp_left.pfm", "--json", "named.json"}).code, 0);
}

TEST_F(LongRuns, AFullStandardOutputIsAFailure) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "/dev/full is not there";
  const Answer answer = shell("$S methods >/dev/full");
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(answer.err.find("standard output"), std::string::npos) << answer.err;
  EXPECT_EQ(shell("$S --help >/dev/full").code, 1);
}

// ---- Limits ----

TEST_F(LongRuns, MoreThreadsThanTheSystemGivesAreASentence) {
  if (sanitized) GTEST_SKIP() << "a sanitizer needs more address space than the limit leaves";
  const Answer answer = shell(
      "ulimit -v 700000; $S match scene/left.png scene/right.png -o threads.pfm --disparities 32 --device cpu "
      "--threads 200");
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_NE(answer.err.find("200 threads"), std::string::npos) << answer.err;
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  EXPECT_FALSE(fs::exists(folder / "threads.pfm"));
}

TEST_F(LongRuns, SizesFromFilesCountBeforeTheyAreAllocated) {
  const std::string rig =
      "%YAML:1.0\n---\nimage_width: 150\nimage_height: 110\nrectified_size: [20000, 13000]\nunit: mm\n"
      "M1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [100, 0, 75, 0, 100, 55, 0, 0, 1]\n"
      "D1: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n   data: [0, 0, 0, 0, 0]\n"
      "M2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [100, 0, 75, 0, 100, 55, 0, 0, 1]\n"
      "D2: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n   data: [0, 0, 0, 0, 0]\n"
      "R1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
      "R2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
      "P1: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n   data: [100, 0, 75, 0, 0, 100, 55, 0, 0, 0, 1, 0]\n"
      "P2: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n   data: [100, 0, 75, -5000, 0, 100, 55, 0, 0, 0, 1, "
      "0]\n";
  write(folder / "huge.yml", rig);
  const std::string matching =
      "$S match scene/left.png scene/right.png -o huge.pfm --disparities 16 --calib huge.yml --raw";
  // It would not get the 4 GB that it must not ask for.
  const std::string limit = sanitized ? "" : "ulimit -v 2000000; ";
  const Answer answer = shell(limit + matching + " --memory-limit 500M");
  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_NE(answer.err.find("20000×13000"), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("memory limit"), std::string::npos) << answer.err;
  std::string beyond = rig;
  beyond.replace(beyond.find("[20000, 13000]"), 14, "[90000, 90000]");
  write(folder / "huge.yml", beyond);
  const Answer refused = shell(matching);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("90000×90000"), std::string::npos) << refused.err;
}

TEST_F(LongRuns, MapsAndImagesCountTowardsTheLimit) {
  const Answer answer = call(
      {"match", "scene/left.png", "scene/right.png", "-o", "d.pfm", "--disparities", "32", "--memory-limit", "100K"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(answer.err.find("memory limit"), std::string::npos) << answer.err;
}

TEST_F(LongRuns, SynthOfMoreThanTheMemoryIsASentence) {
  const Answer answer = call({"synth", "-o", "vast", "--width", "100000", "--height", "100000"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(answer.err.find("100000×100000"), std::string::npos) << answer.err;
  EXPECT_FALSE(fs::exists(folder / "vast"));
}

}  // namespace
}  // namespace stereopsis::test
