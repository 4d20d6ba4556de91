// Tests of the parsing of numbers.
#include "core/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace stereopsis::text_test {
namespace {

// The two functions differ only in the standard library that they are for.
TEST(Text, DecimalNumbersAreParsedAsFromCharsDoes) {
  for (const char* s :
       {"0",    "-0",   "1.5",  ".5",   "1.",   "1e3",  "-1.25e-3", "0.1",  "1e400", "1317042272.459138",
        "inf",  "-inf", "nan",  "",     "+1",   "++1",  "1 ",       " 1",   "1e",    "e1",
        "0x10", "1,5",  "1.5f", "--1",  "1-2",  "12a",  "3.4e38",   "infi", "1.2.3", "9007199254740993",
        "+",    "-",    ".",    "1e+5", "1e-5", "0012", "1e5.0"}) {
    const std::string_view whole = s;
    const auto expected = parse_number<double>(whole);
    const auto found = parse_decimal<double>(whole.starts_with('+') ? whole.substr(1) : whole);
    ASSERT_EQ(found.has_value(), expected.has_value()) << s;
    if (!expected) continue;
    EXPECT_TRUE(*found == *expected || (std::isnan(*found) && std::isnan(*expected))) << s;
    EXPECT_EQ(std::signbit(*found), std::signbit(*expected)) << s;
  }
}

}  // namespace
}  // namespace stereopsis::text_test
