#include "stages/propagation/propagation.hpp"

#include "support/devices.hpp"
#include "support/threads.hpp"

namespace stereopsis::propagation_test {
namespace {

using namespace test;

struct Maps {
  Maps(const Map& map, ImageView<const std::uint32_t> words)
      : colours(words),
        disparity(map.disparity.view()),
        between(map.disparity.size()),
        scratch(map.disparity.size()),
        validity(map.validity.view()) {}
  propagation::MapsOf<ImageView> view() {
    return {colours.view(), disparity.view(), between.view(), scratch.view(), validity.view()};
  }

  PitchedImage<std::uint32_t> colours;
  PitchedImage<float> disparity, between, scratch;
  PitchedImage<std::uint8_t> validity;
};

void expect_same(Maps& got, Maps& expected) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity.view()));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity.view()));
  EXPECT_TRUE(got.disparity.guard_intact() && got.between.guard_intact() && got.scratch.guard_intact() &&
              got.validity.guard_intact());
}

template <class F>
void for_each_case(F&& f) {
  for (const Size size : awkward_sizes)
    for (const propagation::Parameters p : {propagation::Parameters{2, 2}, {3, 4}, {4, 1020}}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", reliability " << p.reliability);
      const Map map = random_map(size, 4, 0, 1, 15);
      const Image<std::uint32_t> words = random_image<std::uint32_t>(size, 6, 0, 3);
      Maps expected(map, words);
      propagation::oracle(p, expected.view());
      f(p, map, words, expected);
    }
}

TEST(Propagation, CpuEqualsOracle) {
  for_each_case([](const auto& p, const Map& map, const auto& words, Maps& expected) {
    for_each_thread_count([&](Threads& threads) {
      Maps got(map, words);
      propagation::cpu(p, got.view(), threads);
      expect_same(got, expected);
    });
  });
}

TEST(Propagation, GpuEqualsOracle) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for_each_case([&](const auto& p, const Map& map, const auto& words, Maps& expected) {
      Maps got(map, words);
      OnDevice<std::uint32_t> colours(device, queue, got.colours);
      OnDevice<float> disparity(device, queue, got.disparity), between(device, queue, got.between),
          scratch(device, queue, got.scratch);
      OnDevice<std::uint8_t> validity(device, queue, got.validity);
      propagation::gpu(p, {colours, disparity, between, scratch, validity}, queue);
      for (auto* there : {&disparity, &between, &scratch}) there->download();
      validity.download();
      expect_same(got, expected);
    });
  });
}

// Returns the result of the oracle for a row. There are no intensity gradients unless colours are given. Columns have
// only one pixel.
std::vector<float> row(const propagation::Parameters& p, const std::vector<float>& disparities,
                       const std::vector<std::uint32_t>& grey = {}) {
  const int width = static_cast<int>(disparities.size());
  Image<std::uint32_t> words({width, 5}, 1, 100);
  Image<float> map({width, 5}, 1);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < width; ++x) {
      if (!grey.empty()) words(x, y) = grey[static_cast<std::size_t>(x)];
      map(x, y) = disparities[static_cast<std::size_t>(x)];
    }
  Maps maps({std::move(map), Image<std::uint8_t>({width, 5}, 1, 0)}, words);
  propagation::oracle(p, maps.view());
  std::vector<float> result;
  for (int x = 0; x < width; ++x) result.push_back(maps.disparity.view()(x, 2));
  return result;
}
std::vector<float> runs(const std::vector<std::pair<int, float>>& lengths_and_disparities) {
  std::vector<float> line;
  for (const auto& [length, d] : lengths_and_disparities) line.insert(line.end(), static_cast<std::size_t>(length), d);
  return line;
}

TEST(PropagationOracle, CoversWhatIsUnreliableAndWhatLiesTwoInFront) {
  // Reliability is moderate from 12 on, and slight from 9 on (85 % of 10 is 8.5). Columns of 5 pixels propagate no
  // disparities.
  const propagation::Parameters p{10, 5};
  EXPECT_EQ(row(p, runs({{12, 7}, {8, 3}, {12, 7}})), runs({{32, 7}}));
  EXPECT_EQ(row(p, runs({{12, 7}, {9, 3}, {12, 7}})), runs({{12, 7}, {9, 3}, {12, 7}})) << "slightly reliable";
  EXPECT_EQ(row(p, runs({{12, 7}, {11, 9}, {12, 7}})), runs({{35, 7}})) << "in front by two";
  EXPECT_EQ(row(p, runs({{12, 7}, {11, 8}, {12, 7}})), runs({{12, 7}, {11, 8}, {12, 7}})) << "in front by one";
}

TEST(PropagationOracle, StopsAtGradients) {
  const propagation::Parameters p{10, 5};
  std::vector<std::uint32_t> grey(24, 100);
  for (std::size_t x = 15; x < 24; ++x) grey[x] = 105;  // pixels 13 to 16 are gradients
  EXPECT_EQ(row(p, runs({{12, 7}, {6, 3}, {6, 5}}), grey), runs({{13, 7}, {5, 3}, {6, 5}}));
  for (std::size_t x = 15; x < 24; ++x) grey[x] = 104;
  EXPECT_EQ(row(p, runs({{12, 7}, {6, 3}, {6, 5}}), grey), runs({{24, 7}}));
}

TEST(PropagationOracle, TheModeWinsOverFewerThanTheThreeAroundAPixelsOwn) {
  const propagation::Parameters p{100, 5};  // nothing spreads
  EXPECT_EQ(row(p, runs({{6, 2}, {1, 9}, {6, 2}})), runs({{13, 2}}));
  EXPECT_EQ(row(p, runs({{3, 9}, {1, 5}, {1, 4}, {1, 6}})), runs({{3, 9}, {1, 5}, {2, 9}}))
      << "three from 4 to 6, two around 4 and 6";
}

TEST(PropagationOracle, APixelBetweenEqualNeighboursInAColumnTakesTheirs) {
  Maps maps(map_of({{4.25f}, {9}, {4}, {1}, {2}}), Image<std::uint32_t>({1, 5}, 1, 100));
  propagation::oracle({100, 5}, maps.view());
  EXPECT_EQ(maps.disparity.view()(0, 1), 4.25f);
  EXPECT_EQ(maps.validity.view()(0, 1), validity::repaired);
  EXPECT_EQ(maps.validity.view()(0, 0), 0);
}

TEST(PropagationOracle, MaskedPixelsStayAndStopNothing) {
  const float x = invalid_disparity;
  Maps maps(map_of({{7, 7, 7, x, x, 3}}), Image<std::uint32_t>({6, 1}, 1, 100));
  maps.validity.view()(3, 0) = validity::masked;
  maps.validity.view()(4, 0) = validity::left_right;
  propagation::oracle({2, 5}, maps.view());
  const auto d = maps.disparity.view();
  EXPECT_TRUE(std::isnan(d(3, 0)));
  EXPECT_EQ(d(4, 0), 7);
  EXPECT_EQ(maps.validity.view()(3, 0), validity::masked);
  EXPECT_EQ(maps.validity.view()(4, 0), validity::repaired);
}

}  // namespace
}  // namespace stereopsis::propagation_test
