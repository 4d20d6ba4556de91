#include "io/file.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::file_test {
namespace {

using namespace test;
namespace fs = std::filesystem;

TEST(Files, TextComesBackWhole) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200001}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; i += 7) text[i] = static_cast<char>(i);
    write_text(folder / "a.txt", text);
    EXPECT_EQ(read_text(folder / "a.txt"), text);
  }
  EXPECT_EQ(folder.files(), 1U);
}

// Simulates a full disk with a limit on the size of files.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int) = nullptr;
};

TEST(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  const auto disparity = random_image<float>({100, 100}, 1, 0, 60);
  put(folder / "d.pfm", "old");
  testing::AssertionResult refused = testing::AssertionFailure();
  {
    const FullDisk full(4096);
    refused =
        refuses([&] { write_disparity(folder / "d.pfm", disparity); }, ErrorCategory::file, "d.pfm cannot be written");
  }
  EXPECT_TRUE(refused);
  EXPECT_EQ(get(folder / "d.pfm"), "old");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Files, NamesMayHave255Bytes) {
  const TemporaryFolder folder;
  const std::string longest = std::string(251, 'n') + ".pfm", too_long = "n" + longest;
  for (const std::string& name : {longest, longest.substr(1), longest.substr(20), longest.substr(80)}) {
    EXPECT_NO_THROW(check_writable(folder / name));
    write_text(folder / name, name);
    EXPECT_EQ(get(folder / name), name);
  }
  EXPECT_EQ(folder.files(), 4U);
  EXPECT_TRUE(refuses([&] { check_writable(folder / too_long); }, ErrorCategory::file, "File name too long"));
}

// The test of a bag, a raster and a video: what another library writes has a name of this process until it is complete.
TEST(Files, FilesOfOtherLibrariesAreRenamedWhenTheyAreComplete) {
  const TemporaryFolder folder;
  const fs::path file = put(folder / "c.mp4", "old");
  for (const std::string& name : {std::string("c.mp4"), std::string(251, 'n') + ".mp4"}) {
    const fs::path one = unfinished_file(folder / name), two = unfinished_file(folder / name);
    EXPECT_NE(one, two);
    EXPECT_EQ(one.extension(), ".mp4");
    EXPECT_NE(one.string().find('.' + std::to_string(getpid()) + '.'), std::string::npos) << one;
    EXPECT_LE(one.filename().string().size(), 255U);
    put(one, "new");
    finish_file(one, folder / name);
    EXPECT_EQ(get(folder / name), "new");
    fs::remove(two);
  }
  EXPECT_EQ(folder.files(), 2U);
  EXPECT_TRUE(refuses([&] { finish_file(folder / "none.mp4", file); }, ErrorCategory::file, "c.mp4 cannot be written"));
  EXPECT_TRUE(refuses([&] { unfinished_file(folder / "none/c.mp4"); }, ErrorCategory::file, "no folder"));
  EXPECT_EQ(name_beside(folder / "out", ".parts"), folder / ".out.parts");
  EXPECT_LE(name_beside(folder / std::string(255, 'n'), ".parts").filename().string().size(), 255U);
}

TEST(Files, OnlyLeftoversOfProcessesThatEndedAreRemoved) {
  const TemporaryFolder folder;
  char host[65] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  ASSERT_EQ(waitpid(ended, nullptr, 0), ended);
  const auto name = [&](const std::string& target, const std::string& machine, pid_t process, const std::string& end) {
    return "." + target + "." + machine + "." + std::to_string(process) + end;
  };
  const std::vector<std::string> removed{name("d.pfm", host, ended, ".0.tmp"), name("e.pfm", host, ended, ".7.tmp"),
                                         name("c.mp4", host, ended, ".0.tmp.mp4")},
      left{name("d.pfm", host, getpid(), ".0.tmp"),
           name("d.pfm", "elsewhere", ended, ".0.tmp"),
           name("d.pfm", host, ended, ".tmp"),
           name("d.pfm", host, ended, ".0"),
           name("d.pfm", host, ended, ".x.tmp"),
           name("d.pfm", host, ended, ".0.tmp").substr(1),
           name("c.mp4", host, getpid(), ".0.tmp.mp4"),
           ".d.pfm.0.tmp",
           ".tmp",
           "d.pfm"};
  for (const auto* names : {&removed, &left})
    for (const std::string& file : *names) put(folder / file, "half of a map");
  remove_leftovers(folder / "d.pfm");
  remove_leftovers(folder / "none/f.pfm");
  for (const std::string& file : removed) EXPECT_FALSE(fs::exists(folder / file)) << file;
  for (const std::string& file : left) EXPECT_TRUE(fs::exists(folder / file)) << file;
}

TEST(Files, FoldersThatCannotBeWrittenAreRefused) {
  const TemporaryFolder folder;
  put(folder / "file", "");
  const auto category = ErrorCategory::file;
  EXPECT_TRUE(refuses([&] { check_writable(folder / "none/a.png"); }, category, "no folder"));
  EXPECT_TRUE(refuses([&] { check_writable(folder / "file/a.png"); }, category, "no folder"));
  EXPECT_TRUE(refuses([&] { check_writable(folder.path()); }, category, "is a folder"));
  EXPECT_TRUE(refuses([&] { check_writable(folder / ""); }, category, "is a folder"));
  EXPECT_TRUE(refuses([&] { check_writable(""); }, ErrorCategory::call, "empty"));
  EXPECT_TRUE(refuses([&] { write_text(folder / "none/a.txt", "x"); }, category, "no folder"));
  EXPECT_NO_THROW(check_writable(folder / "a.png"));
  EXPECT_NO_THROW(check_writable(folder / "file"));
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Files, FoldersWithoutPermissionAreRefused) {
  const TemporaryFolder folder;
  // The superuser may write to every folder except /proc/self.
  const bool superuser = geteuid() == 0;
  if (superuser && !fs::is_directory("/proc/self")) GTEST_SKIP() << "needs /proc, or a user without all rights";
  const fs::path closed = superuser ? fs::path("/proc/self") : folder / "closed";
  if (!superuser) {
    fs::create_directory(closed);
    put(closed / "old.txt", "old");
    fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  }
  EXPECT_TRUE(refuses([&] { check_writable(closed / "a.png"); }, ErrorCategory::file, "cannot be written"));
  EXPECT_TRUE(refuses([&] { write_text(closed / "a.txt", "x"); }, ErrorCategory::file, "cannot be written"));
  if (!superuser) fs::permissions(closed, fs::perms::owner_all);
}

TEST(Files, ALinkStaysALinkAndPermissionsStay) {
  const TemporaryFolder folder;
  put(folder / "target", "old");
  fs::permissions(folder / "target", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", folder / "link");
  write_text(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(get(folder / "target"), "new");
  EXPECT_EQ(fs::status(folder / "target").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(folder.files(), 2U);
}

TEST(Files, ADanglingLinkIsFollowed) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  fs::create_symlink("there/later", folder / "link");
  fs::create_symlink("link", folder / "chain");
  for (const char* name : {"link", "chain"}) {
    EXPECT_NO_THROW(check_writable(folder / name));
    write_text(folder / name, name);
    EXPECT_TRUE(fs::is_symlink(folder / name));
    EXPECT_EQ(get(folder / "there/later"), name);
    fs::remove(folder / "there/later");
  }
  EXPECT_EQ(folder.files(), 3U) << "no temporary file";
  fs::create_symlink("none/later", folder / "nowhere");
  EXPECT_TRUE(refuses([&] { write_text(folder / "nowhere", "x"); }, ErrorCategory::file, "there is no folder"));
  fs::create_symlink("circle", folder / "circle");
  EXPECT_TRUE(refuses([&] { write_text(folder / "circle", "x"); }, ErrorCategory::file, "cannot be written"));
}

TEST(Files, ADeviceIsWrittenNotReplaced) {
  if (!fs::is_character_file("/dev/null")) GTEST_SKIP() << "needs /dev/null";
  EXPECT_NO_THROW(write_text("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::is_character_file("/dev/full")) {
    EXPECT_TRUE(refuses([&] { write_text("/dev/full", "x"); }, ErrorCategory::file, "cannot be written"));
  }
}

TEST(Files, WhatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  EXPECT_TRUE(refuses([&] { read_image(folder / "none.png"); }, ErrorCategory::file, "none.png cannot be opened"));
  EXPECT_TRUE(refuses([&] { read_disparity(folder / "none.pfm"); }, ErrorCategory::file, "none.pfm cannot be opened"));
  EXPECT_TRUE(refuses([&] { read_text(folder.path()); }, ErrorCategory::file, "is a folder"));
  EXPECT_TRUE(
      refuses([&] { io::read_file(put(folder / "a", "12345"), 4); }, ErrorCategory::format, "larger than the 4 bytes"));
}

TEST(Files, ReadsPipes) {
  const TemporaryFolder folder;
  const auto image = random_image<std::uint8_t>({300, 301}, 3, 0, 255);
  write_image(folder / "a.pgm", image);
  if (std::system(("mkfifo " + (folder / "pipe").string()).c_str()) != 0) GTEST_SKIP() << "needs mkfifo";
  ASSERT_EQ(std::system(("cat " + (folder / "a.pgm").string() + " > " + (folder / "pipe").string() + " &").c_str()), 0);
  EXPECT_TRUE(same_bits(std::get<Image<std::uint8_t>>(read_image(folder / "pipe").pixels).view(), image.view()));
}

}  // namespace
}  // namespace stereopsis::file_test
