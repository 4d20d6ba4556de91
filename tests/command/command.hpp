// Calls the command in a temporary folder that holds a made scene, `scene/`, and says what came back.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace stereopsis::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Answer {
  int code = -1;
  std::string out, err;
};

inline std::string contents(const fs::path& file) {
  std::ostringstream all;
  all << std::ifstream(file, std::ios::binary).rdbuf();
  return all.str();
}

inline void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

class Command : public testing::Test {
 protected:
  static constexpr int disparities = 32;

  // The scene is made once, by the command itself.
  static void SetUpTestSuite() {
    folder = fs::temp_directory_path() / ("stereopsis_command_" + std::to_string(getpid()));
    fs::remove_all(folder);
    fs::create_directory(folder);
    const Answer made = call({"synth", "-o", "scene", "--width", "150", "--height", "110", "--disparities", "32"});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  static void TearDownTestSuite() { fs::remove_all(folder); }

  static Answer call(const std::vector<std::string>& arguments) { return run(STEREOPSIS_COMMAND, arguments); }

  // A line for the shell, in which $S is the command.
  static Answer shell(const std::string& line) { return run("/bin/sh", {"-c", "S='" STEREOPSIS_COMMAND "'; " + line}); }

  static Answer run(const char* program, const std::vector<std::string>& arguments) {
    const fs::path out = folder.string() + ".out", err = folder.string() + ".err";
    std::vector<char*> argv = {const_cast<char*>(program)};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    pid_t pid = 0;
    const int failure = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(failure, 0) << argv[0];
    int status = 0;
    waitpid(pid, &status, 0);
    const Answer answer{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
    fs::remove(out);
    fs::remove(err);
    return answer;
  }

  // `match` on the scene, with its range.
  static Answer match(std::vector<std::string> more) {
    more.insert(more.begin(),
                {"match", "scene/left.png", "scene/right.png", "--disparities", std::to_string(disparities)});
    return call(more);
  }

  static Json json(const fs::path& file) { return Json::parse(contents(folder / file)); }

  // All files below the folder, with their contents.
  static std::vector<std::pair<std::string, std::string>> snapshot() {
    std::vector<std::pair<std::string, std::string>> files;
    std::error_code ignored;  // from links that form a circle
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      files.emplace_back(entry.path().string(), entry.is_regular_file(ignored) ? contents(entry.path()) : "");
    std::sort(files.begin(), files.end());
    return files;
  }

  static inline fs::path folder;
};

}  // namespace stereopsis::test
