// Tests of the settings of row alignment in a run.
#include "jobs/rows.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "stereopsis/io.hpp"
#include "support/quiet_front_end.hpp"

namespace stereopsis::row_settings_test {
namespace {

using namespace jobs;

RowSettings settings_of(const std::string& given) {
  test::QuietFrontEnd front_end;
  return row_settings(given, front_end);
}

TEST(RowSettings, AreReadFromATextOrAFile) {
  for (const char* automatic : {"", "auto"})
    EXPECT_TRUE(!settings_of(automatic).is_off && !settings_of(automatic).fixed) << automatic;
  EXPECT_TRUE(settings_of("off").is_off);
  EXPECT_EQ(settings_of("0.5").fixed, (RowAlignment{0.5, 0, 0, 0}));
  EXPECT_EQ(settings_of("-0.5, +0.25,0,1e-1").fixed, (RowAlignment{-0.5, 0.25, 0, 0.1}));
  const auto file = std::filesystem::temp_directory_path() / "stereopsis_rows_test.txt";
  write_text(file, "0.5,-1\n");
  EXPECT_EQ(settings_of(file.string()).fixed, (RowAlignment{0.5, -1, 0, 0}));
  write_text(file, "rows");
  EXPECT_THROW(settings_of(file.string()), Error);
  std::filesystem::remove(file);
}

TEST(RowSettings, ThatAreNotAllowedAreRefused) {
  for (const char* wrong : {"on", "1,2,3,4,5", "0.5px", ",", "nan", "33", "0,80"})
    EXPECT_THROW(settings_of(wrong), Error) << wrong;
}

TEST(MirroredRows, MoveTheOtherWay) {
  const RowEstimate rows{.alignment = RowAlignment{1, 2, 3, 4}};
  EXPECT_EQ(mirrored(rows)->alignment, (RowAlignment{-1, 2, -3, 4}));
  EXPECT_FALSE(mirrored(std::nullopt));
  EXPECT_FALSE(mirrored(RowEstimate())->alignment);
}

}  // namespace
}  // namespace stereopsis::row_settings_test
