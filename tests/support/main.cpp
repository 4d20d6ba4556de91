// Runs the tests of a program. With --source=rank_test, only the tests of that file run. If STEREOPSIS_TEST_RESULTS
// names a folder, a file in it tells how each case ended, for tests/summary.awk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace {

// Returns a filter for the cases of a file; empty if the file has none.
std::string cases_of(std::string_view source) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::filesystem::path(test.file()).stem() == source)
        filter += std::string(test.test_suite_name()) + '.' + test.name() + ':';
    }
  }
  return filter;
}

// A line when a case starts, so that one that takes the program with it is missed, and one when it ends.
class Results : public testing::EmptyTestEventListener {
 public:
  explicit Results(const std::filesystem::path& file) : file_(file) {}

 private:
  void OnTestStart(const testing::TestInfo& test) override { line("started", test, {}); }
  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    line(result.Failed() ? "failed" : result.Skipped() ? "skipped" : "passed", test, why_skipped(result));
  }
  static std::string why_skipped(const testing::TestResult& result) {
    for (int i = 0; i < result.total_part_count(); ++i)
      if (result.GetTestPartResult(i).skipped()) return result.GetTestPartResult(i).message();
    return {};
  }
  void line(std::string_view what, const testing::TestInfo& test, std::string reason) {
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    file_ << what << '\t' << test.test_suite_name() << '.' << test.name() << '\t' << reason << std::endl;
  }

  std::ofstream file_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a process of its own
  testing::InitGoogleTest(&argc, argv);
  if (testing::internal::InDeathTestChild()) return RUN_ALL_TESTS();  // the child runs one case
  std::string name = std::filesystem::path(argv[0]).filename().string();
  for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
    constexpr std::string_view option = "--source=";
    const std::string_view source = argument.substr(std::min(option.size(), argument.size()));
    const std::string filter = argument.starts_with(option) ? cases_of(source) : "";
    if (filter.empty()) {
      std::cerr << name << ": '" << argument << "' is no option and names no source with tests; give --source=FILE, as "
                << "--source=rank_test\n";
      return 2;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  const char* folder = std::getenv("STEREOPSIS_TEST_RESULTS");
  const char* entry = std::getenv("STEREOPSIS_TEST_NAME");
  if (folder != nullptr) {
    std::filesystem::create_directories(folder);
    const auto file = std::filesystem::path(folder) / ((entry != nullptr ? entry : name) + std::string(".txt"));
    testing::UnitTest::GetInstance()->listeners().Append(new Results(file));
  }
  return RUN_ALL_TESTS();
}
