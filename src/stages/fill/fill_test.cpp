#include "stages/fill/fill.hpp"

#include <cmath>
#include <cstring>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::fill_test {
namespace {

using namespace test;
using fill::Mode;

constexpr float nan = invalid_disparity;
constexpr Mode modes[] = {Mode::background,    Mode::nearest, Mode::second_lowest,
                          Mode::hirschmueller, Mode::cross,   Mode::box};

void poison(ImageView<float> image) {
  for (int y = 0; y < image.height; ++y) std::fill_n(image.row(y), image.width, 12345.0f);
}

void expect_cpu_equals_oracle(Mode mode, const Map& map, const Image<float>& right_map) {
  SCOPED_TRACE(testing::Message() << map.disparity.width() << "x" << map.disparity.height() << ", mode "
                                  << detail::value_text(mode));
  PitchedImage<float> disparity(map.disparity.view()), right(right_map.view());
  const fill::Input input{disparity, right};
  std::vector<float> scratch((fill::scratch_bytes({mode}, map.disparity.size()) + 3) / 4, 77.0f);
  for_each_engine([&](Threads& threads) {
    expect_map_equals_oracle(
        map, [&](auto filled, auto validity) { fill::oracle({mode}, input, filled, validity); },
        [&](auto filled, auto validity) {
          poison(filled);
          std::fill(scratch.begin(), scratch.end(), 77.0f);
          fill::cpu({mode}, input, filled, validity, std::as_writable_bytes(std::span(scratch)), threads);
        });
  });
}

TEST(Fill, CpuEqualsOracle) {
  for (const Size size : awkward_sizes)
    for (const int invalid_percent : {0, 15, 60, 97, 100})
      for (const Mode mode : modes)
        expect_cpu_equals_oracle(mode, random_map(size, 8, -3, 30, invalid_percent),
                                 random_map(size, 9, -3, 30, 40).disparity);
}

// Large holes with few reasons, in a scene whose right view partly agrees with the left view.
TEST(Fill, CpuEqualsOracleInLargeHoles) {
  const Size size{150, 60};
  Map map{Image<float>(size, 1, 5), Image<std::uint8_t>(size, 1, 0)};
  Image<float> right(size, 1, 5);
  std::mt19937 generator(4);
  for (int hole = 0; hole < 25; ++hole) {
    const int x = static_cast<int>(generator() % 140), y = static_cast<int>(generator() % 50);
    const int width = 1 + static_cast<int>(generator() % 40), height = 1 + static_cast<int>(generator() % 12);
    const auto reason = hole % 5 == 0 ? validity::masked : hole % 2 == 0 ? validity::left_right : validity::speckle;
    const float disparity = hole % 3 == 0 ? static_cast<float>(hole) : nan;
    for (int j = y; j < std::min(60, y + height); ++j)
      for (int i = x; i < std::min(150, x + width); ++i) {
        map.disparity(i, j) = disparity;
        map.validity(i, j) = std::isnan(disparity) ? reason : std::uint8_t{0};
        if (hole % 4 == 0) right(i, j) = nan;
      }
  }
  for (int x = 0; x < 150; ++x)
    for (const int y : {0, 1, 30, 59}) map.disparity(x, y) = nan;  // these rows have no valid pixel
  for (const Mode mode : modes) expect_cpu_equals_oracle(mode, map, right);
}

// Occlusion spreads through a winding region of mismatches, up and down again.
TEST(Fill, OcclusionSpreadsThroughWindingRegions) {
  const Size size{70, 40};
  Map map{Image<float>(size, 1, 3), Image<std::uint8_t>(size, 1, 0)};
  Image<float> right(size, 1, 0);
  for (int x = 1; x < 69; x += 2) {
    for (int y = 1; y < 39; ++y) map.disparity(x, y) = nan;
    map.disparity(x + 1, x % 4 == 1 ? 38 : 1) = nan;
  }
  for (int x = 20; x < 70; ++x) right(x, 20) = nan;  // the only pixel to which no right pixel corresponds
  expect_cpu_equals_oracle(Mode::hirschmueller, map, right);
}

void expect_gpu_equals_oracle(gpu::Device& device, gpu::Queue& queue, Mode mode, const Map& map,
                              const Image<float>& right_map) {
  SCOPED_TRACE(testing::Message() << map.disparity.width() << "x" << map.disparity.height() << ", mode "
                                  << detail::value_text(mode));
  PitchedImage<float> disparity(map.disparity.view()), right(right_map.view());
  const OnDevice<float> disparity_there(device, queue, disparity), right_there(device, queue, right);
  const gpu::Buffer scratch = poisoned(device, queue, fill::gpu_scratch_bytes({mode}, map.disparity.size()));
  expect_gpu_map_equals_oracle(
      device, queue, map,
      [&](auto out, auto validity) {
        fill::oracle({mode}, {disparity, right}, out, validity);
      },
      [&](auto out, auto validity) {
        fill::gpu({mode}, {disparity_there, right_there}, out, validity, scratch.span(), queue);
      });
}

TEST(Fill, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Size size : awkward_sizes)
      for (const int invalid_percent : {0, 15, 60, 97, 100})
        for (const Mode mode : modes)
          expect_gpu_equals_oracle(device, queue, mode, random_map(size, 8, -3, 30, invalid_percent),
                                   random_map(size, 9, -3, 30, 40).disparity);
    const Size size{70, 40};
    Map winding{Image<float>(size, 1, 3), Image<std::uint8_t>(size, 1, 0)};
    Image<float> right(size, 1, 0);
    for (int x = 1; x < 69; x += 2) {
      for (int y = 1; y < 39; ++y) winding.disparity(x, y) = nan;
      winding.disparity(x + 1, x % 4 == 1 ? 38 : 1) = nan;
    }
    for (int x = 20; x < 70; ++x) right(x, 20) = nan;
    expect_gpu_equals_oracle(device, queue, Mode::hirschmueller, winding, right);
  });
}

Map filled(Mode mode, const Map& map, const std::vector<std::vector<float>>& right = {}) {
  Map result{Image<float>(map.disparity.size()), map.validity};
  const Image<float> right_map = right.empty() ? Image<float>() : map_of(right).disparity;
  fill::oracle({mode}, {map.disparity, right_map}, result.disparity, result.validity);
  return result;
}

std::vector<float> row(const Map& map, int y) {
  return {map.disparity.row(y), map.disparity.row(y) + map.disparity.width()};
}

TEST(FillBackground, TakesTheSmallerSideOrTheOnlyOne) {
  const Map map = filled(Mode::background, map_of({{nan, 4, nan, nan, 9, nan}}));
  EXPECT_EQ(row(map, 0), (std::vector<float>{4, 4, 4, 4, 9, 9}));
}

TEST(FillBackground, EmptyRowsTakeFromTheRowAboveElseBelow) {
  const Map map = filled(Mode::background, map_of({{nan, nan, nan}, {7, nan, 5}, {nan, nan, nan}, {1, 1, 1}}));
  EXPECT_EQ(row(map, 0), (std::vector<float>{7, 5, 5}));
  EXPECT_EQ(row(map, 2), (std::vector<float>{7, 5, 5}));
}

TEST(FillNearest, TakesTheNearestOfFourDirections) {
  const Map map = filled(Mode::nearest, map_of({{1, 2, 3, 4}, {5, nan, nan, nan}, {6, 6, nan, 8}}));
  EXPECT_EQ(row(map, 1), (std::vector<float>{5, 5, 3, 4}));  // left wins over up; up wins; up wins over down
  EXPECT_EQ(map.disparity(2, 2), 6);                         // left wins over right
}

TEST(FillNearest, WhatSeesNothingTakesTheBackground) {
  const Map map = filled(Mode::nearest, map_of({{nan, 3, 8}, {nan, nan, nan}}));
  EXPECT_EQ(row(map, 1), (std::vector<float>{3, 3, 8}));
}

// The left part is a foreground of 8 on a background of 2. Values are slightly uneven, so that the source of a value
// can be identified.
const std::vector<std::vector<float>> uneven = {
    {2.1f, 2.2f, 2.3f, 8.1f, 8.2f}, {2.4f, 2.5f, nan, 8.3f, 8.4f}, {2.6f, 2.7f, 2.8f, 8.5f, 8.6f}};

TEST(Fill, SecondLowestOfFourDirections) {
  const Map map = filled(Mode::second_lowest, map_of({{1, 7, 3}, {5, nan, 9}, {6, 2, 8}}));
  EXPECT_EQ(map.disparity(1, 1), 5);                                              // the second lowest of 5, 9, 7 and 2
  EXPECT_EQ(filled(Mode::second_lowest, map_of({{nan, 4}})).disparity(0, 0), 4);  // the only valid value
}

TEST(FillHirschmueller, OccludedPixelsTakeTheSecondLowest) {
  const std::vector<float> unknown(5, nan);
  const Map map = filled(Mode::hirschmueller, map_of(uneven), {unknown, unknown, unknown});
  EXPECT_EQ(map.disparity(2, 1), 2.3f);  // the lower median of 2.2 2.3 8.1 2.5 8.3 2.7 2.8 8.5
}

TEST(FillHirschmueller, MismatchedPixelsTakeTheMedian) {
  // Right pixel 0 has the disparity 3: it corresponds to left pixel 3, which is within one pixel of the hole.
  const std::vector<float> met = {3, nan, nan, nan, nan};
  const Map map = filled(Mode::hirschmueller, map_of(uneven), {met, met, met});
  EXPECT_EQ(map.disparity(2, 1), 2.7f);  // 2.2 2.3 2.5 2.7 | 2.8 8.1 8.3 8.5
  const std::vector<float> missed = {4, nan, nan, nan, nan};
  EXPECT_EQ(filled(Mode::hirschmueller, map_of(uneven), {missed, missed, missed}).disparity(2, 1), 2.3f);
}

TEST(FillHirschmueller, MismatchesBesideOcclusionsAreOcclusions) {
  const std::vector<std::vector<float>> rows = {{1, 2, 3, 4}, {5, nan, nan, 6}, {7, 8, 9, 10}};
  // These right pixels correspond to left pixels up to 1.
  const std::vector<float> unknown(4, nan), meets_first = {0, nan, nan, nan};
  const Map map = filled(Mode::hirschmueller, map_of(rows), {unknown, meets_first, unknown});
  EXPECT_EQ(map.disparity(1, 1), 2);  // the second lowest of 1 2 3 5 6 7 8 9; the median would be 5
}

TEST(Fill, FilledPixelsAreValidAndMarked) {
  for (const Mode mode : modes) {
    Map input = map_of({{4, nan, 6}}, validity::left_right | validity::speckle);
    input.validity(0, 0) = validity::repaired;
    const Map map = filled(mode, input, {{nan, nan, nan}});
    EXPECT_EQ(map.validity(0, 0), validity::repaired);
    EXPECT_EQ(map.validity(1, 0), validity::filled);
    EXPECT_EQ(map.validity(1, 0) & validity::reasons, 0);
  }
}

TEST(Fill, MaskedAndOutsidePixelsStayInvalid) {
  for (const Mode mode : modes)
    for (const std::uint8_t reason : {validity::masked, validity::outside}) {
      Map input = map_of({{4, nan, nan, 6}});
      input.validity(1, 0) = reason;
      const Map map = filled(mode, input, {{nan, nan, nan, nan}});
      EXPECT_TRUE(std::isnan(map.disparity(1, 0)));
      EXPECT_EQ(map.validity(1, 0), reason);
      EXPECT_FALSE(std::isnan(map.disparity(2, 0)));
    }
}

TEST(Fill, IsDenseWhereThereIsAnyValidPixelAndUnchangedWhereThereIsNone) {
  for (const Mode mode : {Mode::background, Mode::nearest, Mode::second_lowest, Mode::hirschmueller}) {
    Map map{Image<float>({30, 20}, 1, nan), Image<std::uint8_t>({30, 20}, 1, validity::ambiguous)};
    const Image<float> right({30, 20}, 1, nan);
    Map result = map;
    fill::oracle({mode}, {map.disparity, right}, result.disparity, result.validity);
    EXPECT_TRUE(result == map);
    map.disparity(7, 11) = 3;
    map.validity(7, 11) = 0;
    fill::oracle({mode}, {map.disparity, right}, result.disparity, result.validity);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 30; ++x) ASSERT_EQ(result.disparity(x, y), 3) << x << ", " << y;
  }
}

// The nearest valid disparities of each column above (step −1) or below (step 1) row `y`; the other pixels are masked.
void put_edge(const Map& whole, int y, int step, Map& part, int row) {
  for (int x = 0; x < whole.disparity.width(); ++x) {
    int at = y + step;
    while (at >= 0 && at < whole.disparity.height() && std::isnan(whole.disparity(x, at))) at += step;
    const bool found = at >= 0 && at < whole.disparity.height();
    part.disparity(x, row) = found ? whole.disparity(x, at) : nan;
    part.validity(x, row) = found ? 0 : validity::masked;
  }
}

// Returns the rows [first, last) of a map, with a row of edges above and below unless the map ends there.
Map rows_of(const Map& whole, int first, int last, bool with_edges) {
  const int height = whole.disparity.height(), above = with_edges && first > 0 ? 1 : 0,
            below = with_edges && last < height ? 1 : 0;
  const Size size{whole.disparity.width(), above + last - first + below};
  Map part{Image<float>(size), Image<std::uint8_t>(size)};
  for (int y = first; y < last; ++y) {
    std::copy_n(whole.disparity.row(y), size.width, part.disparity.row(y - first + above));
    std::copy_n(whole.validity.row(y), size.width, part.validity.row(y - first + above));
  }
  if (above > 0) put_edge(whole, first, -1, part, 0);
  if (below > 0) put_edge(whole, last - 1, 1, part, size.height - 1);
  return part;
}

Image<float> filled_by_oracle(const fill::Parameters& p, const Map& map) {
  Image<float> filled(map.disparity.size());
  Image<std::uint8_t> validity(map.validity);
  fill::oracle(p, {map.disparity.view(), {}}, filled.view(), validity.view());
  return filled;
}

// A stripe whose rows suffice is filled as in the whole map. The whole map always suffices.
TEST(Fill, RowsThatSufficeGiveTheResultOfTheWholeMap) {
  constexpr Size size{23, 40};
  constexpr int first = 17, count = 5;
  for (const Mode mode : {Mode::background, Mode::nearest, Mode::second_lowest}) {
    int enough = 0, too_few = 0;
    for (int seed = 0; seed < 200; ++seed) {
      const Map map = random_map(size, seed, -3, 30, std::array{30, 80, 95, 99}[static_cast<std::size_t>(seed % 4)]);
      const Image<float> whole = filled_by_oracle({mode}, map);
      for (int more = 0; more <= 23; ++more) {
        const int begin = std::max(0, first - more), end = std::min(size.height, first + count + more);
        const Map read = rows_of(map, begin, end, false);
        const StripeMaps maps{read.disparity.view(), read.validity.view(), first - begin, count, begin == 0,
                              end == size.height};
        const bool suffices = fill::rows_suffice({mode}, maps);
        ++(suffices ? enough : too_few);
        ASSERT_TRUE(suffices || begin > 0 || end < size.height) << "the whole map suffices";
        if (!suffices) continue;
        const bool with_edges = mode == Mode::second_lowest;
        const Image<float> part = filled_by_oracle({mode}, rows_of(map, begin, end, with_edges));
        const int above = with_edges && begin > 0 ? 1 : 0;
        for (int y = first; y < first + count; ++y)
          ASSERT_EQ(std::memcmp(whole.row(y), part.row(y - begin + above), sizeof(float) * size.width), 0)
              << "row " << y << " of rows " << begin << " to " << end << ", map " << seed;
      }
    }
    EXPECT_GT(enough, 500) << detail::value_text(mode);
    EXPECT_GT(too_few, 20) << detail::value_text(mode);
  }
}

TEST(FillParameters, TheModeHasAnEffect) {
  const Map map = random_map({60, 30}, 3, 0, 40, 40);
  const Image<float> right = random_map({60, 30}, 4, 0, 40, 20).disparity;
  std::vector<Map> results;
  for (const Mode mode : modes) {
    results.push_back(map);
    fill::oracle({mode}, {map.disparity, right}, results.back().disparity, results.back().validity);
  }
  EXPECT_FALSE(results[0] == results[1]);
  EXPECT_FALSE(results[1] == results[2]);
  EXPECT_FALSE(results[0] == results[2]);
}

TEST(FillParameters, MissingInputsAreRefused) {
  fill::Parameters p;
  EXPECT_THROW(set_parameter("fill", p, "mode", "zero"), Error);
  EXPECT_TRUE(set_parameter("fill", p, "mode", "hirschmueller"));
  Map map = map_of({{1, nan, 3}});
  Image<float> out(3, 1);
  Threads threads(1);
  std::vector<float> scratch(fill::scratch_bytes(p, {3, 1}) / 4 + 1);
  const auto memory = std::as_writable_bytes(std::span(scratch));
  EXPECT_THROW(fill::oracle(p, {map.disparity, {}}, out, map.validity), Error);
  EXPECT_THROW(fill::cpu(p, {map.disparity, {}}, out, map.validity, memory, threads), Error);
  EXPECT_THROW(fill::cpu(p, {map.disparity, out}, out, map.validity, memory.first(8), threads), Error);
  EXPECT_THROW(fill::cpu({}, {map.disparity, {}}, map.disparity, map.validity, memory, threads), Error);
}

// Tests the modes cross and box with other parameters than the defaults, which the tests above cover.
TEST(Fill, CrossAndBoxEqualTheOracleAtOtherReaches) {
  const Map map = random_map({131, 37}, 8, -3, 30, 90);
  PitchedImage<float> disparity(map.disparity.view());
  for (const fill::Parameters p : {fill::Parameters{Mode::cross, 1, 9},
                                   {Mode::cross, 300, 9},
                                   {Mode::box, 16, 3},
                                   {Mode::box, 16, 15},
                                   {Mode::box, 16, 31}}) {
    SCOPED_TRACE(testing::Message() << detail::value_text(p.mode) << ", " << p.distance << ", " << p.window);
    std::vector<std::byte> scratch(fill::scratch_bytes(p, map.disparity.size()));
    for_each_engine([&](Threads& threads) {
      expect_map_equals_oracle(
          map,
          [&](auto out, auto validity) {
            fill::oracle(p, {disparity, {}}, out, validity);
          },
          [&](auto out, auto validity) {
            fill::cpu(p, {disparity, {}}, out, validity, scratch, threads);
          });
    });
    for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
      const OnDevice<float> disparity_there(device, queue, disparity);
      const gpu::Buffer memory = poisoned(device, queue, fill::gpu_scratch_bytes(p, map.disparity.size()));
      expect_gpu_map_equals_oracle(
          device, queue, map,
          [&](auto out, auto validity) {
            fill::oracle(p, {disparity, {}}, out, validity);
          },
          [&](auto out, auto validity) {
            fill::gpu(p, {disparity_there, {}}, out, validity, memory.span(), queue);
          });
    });
  }
}

TEST(FillParameters, WhatOnlyOneModeReadsIsRefusedForOthers) {
  EXPECT_THROW(fill::check({Mode::background, 5, 9}), Error);
  EXPECT_THROW(fill::check({Mode::cross, 5, 11}), Error);
  EXPECT_NO_THROW(fill::check({Mode::cross, 5, 9}));
  EXPECT_NO_THROW(fill::check({Mode::box, 16, 11}));
}

TEST(FillOracle, CrossLooksOnlySoFar) {
  const Map map = map_of({{7, nan, nan, nan, nan, 4}});
  Map result{Image<float>(map.disparity.size()), map.validity};
  fill::oracle({Mode::cross, 2, 9}, {map.disparity, {}}, result.disparity, result.validity);
  EXPECT_EQ(row(result, 0), (std::vector<float>{7, 7, 7, 4, 4, 4}));
  fill::oracle({Mode::cross, 1, 9}, {map.disparity, {}}, result.disparity, result.validity);
  EXPECT_TRUE(std::isnan(result.disparity(2, 0)));
  EXPECT_EQ(result.validity(1, 0), validity::filled);
}

TEST(FillOracle, BoxTakesTheLowerMedianOfTheWindow) {
  const Map map = map_of({{1, 9, 5}, {5, nan, nan}, {nan, 8, nan}});
  Map result{Image<float>(map.disparity.size()), map.validity};
  fill::oracle({Mode::box, 16, 3}, {map.disparity, {}}, result.disparity, result.validity);
  EXPECT_EQ(result.disparity(1, 1), 5);  // median of 1 5 5 8 9
  EXPECT_EQ(result.disparity(2, 2), 8);
  EXPECT_EQ(result.disparity(0, 2), 5);  // the lower median of 5 and 8
}

}  // namespace
}  // namespace stereopsis::fill_test
