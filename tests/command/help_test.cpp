// Tests the text for people: its width, its colours, and where results go when their folder is missing or they are
// piped.
#include "command.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::test {
namespace {

class HelpText : public Command {
 protected:
  // Returns the lines of `text` that are wider than this, with characters counted.
  static std::vector<std::string> wider_than(std::size_t columns, const std::string& text) {
    std::vector<std::string> wide;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      if (static_cast<std::size_t>(width) > columns) wide.push_back(line);
    }
    return wide;
  }

  static bool needs_package(const Answer& answer) {
    return answer.code == 1 && answer.err.find("is a command of the Python package") != std::string::npos;
  }
};

// A subcommand whose options have a name twice aborts when it is called, and not before.
TEST_F(HelpText, EverySubcommandStarts) {
  std::istringstream lines(call({"--help"}).out);
  std::string line;
  while (std::getline(lines, line) && line != "Commands:") continue;
  int started = 0;
  while (std::getline(lines, line) && !line.empty()) {
    if (line.size() < 3 || line[2] == ' ') continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    const Answer help = call({name, "--help"}), wrong = call({name, "--no-such-option"});
    EXPECT_TRUE(help.code == 0 || needs_package(help)) << name << help.err;
    EXPECT_TRUE(wrong.code == 2 || needs_package(wrong)) << name << wrong.code << wrong.err;
    ++started;
  }
  EXPECT_GT(started, 10);
}

TEST_F(HelpText, EveryLineFits80ColumnsOrTheGivenWidth) {
  unsetenv("COLUMNS");
  for (const char* name : {"match", "evaluate", "methods", "devices", "conformance", "bench", "synth", "check",
                           "calibrate", "rectify", "cloud", "help"})
    EXPECT_EQ(wider_than(80, call({name, "--help"}).out), std::vector<std::string>()) << name;
  EXPECT_EQ(wider_than(80, call({"--help"}).out), std::vector<std::string>());
  EXPECT_EQ(wider_than(80, call({"methods"}).out), std::vector<std::string>());
  for (const Json& method : Json::parse(call({"methods", "--json"}).out))
    EXPECT_EQ(wider_than(80, call({"methods", method["name"].get<std::string>()}).out), std::vector<std::string>());
  EXPECT_EQ(wider_than(60, shell("COLUMNS=60 $S match --help").out), std::vector<std::string>());
  EXPECT_GT(wider_than(80, shell("COLUMNS=120 $S match --help").out).size(), 20u);
}

TEST_F(HelpText, EveryOptionHasItsExplanation) {
  std::istringstream lines(shell("COLUMNS=1000 $S match --help").out);
  int options = 0;
  for (std::string line, below; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    ++options;
    if (line.find("  ", 3) == std::string::npos) {
      ASSERT_TRUE(std::getline(lines, below));
      EXPECT_TRUE(below.starts_with(std::string(26, ' '))) << line << "\n" << below;
    }
  }
  EXPECT_GT(options, 60);
}

TEST_F(HelpText, ColoursAreForTerminalsAndOnRequest) {
  const auto coloured = [](const std::string& line) {
    const Answer answer = shell(line);
    return (answer.out + answer.err).find('\x1b') != std::string::npos;
  };
  EXPECT_FALSE(coloured("$S match --help"));
  EXPECT_TRUE(coloured("$S match --color-output always --help"));
  EXPECT_FALSE(coloured("$S match --color-output never --help"));
  EXPECT_TRUE(coloured("$S methods --color-output=always"));
  EXPECT_TRUE(coloured("NO_COLOR=1 $S methods --color-output always")) << "the option overrides the variable";
  EXPECT_TRUE(coloured("$S check missing.png missing.png --color-output always")) << "the prefix of an error";
  EXPECT_EQ(shell("$S methods --color-output sometimes").code, 2);
  if (shell("command -v script").code != 0) GTEST_SKIP() << "needs `script`, which runs a program on a terminal";
  EXPECT_TRUE(coloured("env -u NO_COLOR TERM=xterm script -qec \"$S match --help\" /dev/null"));
  EXPECT_FALSE(coloured("NO_COLOR=1 TERM=xterm script -qec \"$S match --help\" /dev/null"));
  EXPECT_FALSE(coloured("env -u NO_COLOR TERM=dumb script -qec \"$S match --help\" /dev/null"));
}

TEST_F(HelpText, FoldersOfResultsAreCreated) {
  for (const char* side : {"l", "r"}) {
    fs::create_directory(folder / side);
    for (int i = 0; i < 2; ++i)
      fs::copy_file(folder / "scene" / (side[0] == 'l' ? "left.png" : "right.png"),
                    folder / side / (std::to_string(i) + ".png"));
  }
  const auto before = snapshot();
  EXPECT_EQ(match({"-o", "made/here/d.pfm", "--no-create"}).code, 1);
  EXPECT_EQ(call({"match", "l", "r", "-o", "frames", "--disparities", "32", "--no-create"}).code, 2);
  EXPECT_EQ(match({"-o", "made/here/d.pfm", "--roi", "0,0,9999,9"}).code, 2);
  EXPECT_EQ(match({"-o", "scene/left.png/d.pfm"}).code, 1) << "a file is no folder";
  EXPECT_TRUE(snapshot() == before) << "a rejected call creates nothing";
  ASSERT_EQ(match({"-o", "made/here/d.pfm", "--color", "made/there/c.png", "--report", "made/r/r.json"}).code, 0);
  for (const char* file : {"made/here/d.pfm", "made/there/c.png", "made/r/r.json"})
    EXPECT_TRUE(fs::exists(folder / file)) << file;
  ASSERT_EQ(call({"match", "l", "r", "-o", "frames", "--depth", "depths/%02d.pfm", "--disparities", "32", "--focal",
                  "100", "--baseline", "1"})
                .code,
            0);
  for (const char* file : {"frames/0.pfm", "frames/1.pfm", "depths/00.pfm", "depths/01.pfm"})
    EXPECT_TRUE(fs::exists(folder / file)) << file;
  EXPECT_EQ(call({"evaluate", "made/here/d.pfm", "--truth", "scene/disp_left.pfm", "--json", "e/e.json",
                  "--error-image", "e/f/e.png"})
                .code,
            0);
  EXPECT_TRUE(fs::exists(folder / "e/f/e.png"));
  for (const char* wrong : {"nowhere/d.xyz", "nowhere/below/d.xyz"})
    EXPECT_NE(match({"-o", wrong}).err.find(std::string(wrong) + ": the extension"), std::string::npos) << wrong;
}

TEST_F(HelpText, ADashIsStandardInputAndOutput) {
  ASSERT_EQ(match({"-o", "d.pfm"}).code, 0);
  const std::string pair = "$S match scene/left.png scene/right.png --disparities 32 ";
  ASSERT_EQ(shell(pair + "-o - --format pfm >piped.pfm").code, 0);
  EXPECT_TRUE(contents(folder / "d.pfm") == contents(folder / "piped.pfm"));
  ASSERT_EQ(shell("$S match - scene/right.png --disparities 32 -o read.pfm <scene/left.png").code, 0);
  EXPECT_TRUE(contents(folder / "d.pfm") == contents(folder / "read.pfm"));
  const Answer cloud =
      shell(pair + "-o - --format pfm 2>note | $S cloud - --focal 100 --baseline 1 -o - --format ply 2>>note >c.ply");
  ASSERT_EQ(cloud.code, 0) << cloud.err << contents(folder / "note");
  ASSERT_EQ(call({"cloud", "d.pfm", "--focal", "100", "--baseline", "1", "-o", "d.ply"}).code, 0);
  EXPECT_TRUE(contents(folder / "c.ply") == contents(folder / "d.ply"));
  const std::string note = contents(folder / "note");
  EXPECT_NE(note.find("measured"), std::string::npos) << "the summary goes to standard error";
  EXPECT_TRUE(note.starts_with("-: 150×110")) << note;
  EXPECT_NE(note.find("\n-: "), std::string::npos) << note;
  EXPECT_EQ(note.find("/stereopsis-"), std::string::npos) << "the name of the temporary file: " << note;
  // A call that ends while its reader waits leaves nothing.
  ASSERT_EQ(
      shell("mkdir temporary && mkfifo pipe && (sleep 9 <pipe & echo $! >reader) && export TMPDIR=$PWD/temporary; " +
            pair +
            "-o - --format pfm 2>note >pipe & p=$!; "
            "while ! grep -q measured note; do sleep .1; done; kill $p; wait $p; "
            "test $? = 143 && kill $(cat reader)")
          .code,
      0);
  EXPECT_TRUE(fs::is_empty(folder / "temporary"));
  for (const char* wrong : {"-o -", "-o - --color - --format png", "-o - --format xyz"}) {
    const Answer answer = shell(pair + wrong + " | cat >nothing");
    EXPECT_NE(answer.err, "") << wrong;
    EXPECT_EQ(contents(folder / "nothing"), "") << wrong;
    EXPECT_EQ(answer.err.find("/stereopsis-"), std::string::npos) << answer.err;
  }
}

}  // namespace
}  // namespace stereopsis::test
