// Compares stages that work on a disparity image and its validity with their oracles.
#pragma once

#include "stereopsis/disparity.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::test {

struct Map {
  Image<float> disparity;
  Image<std::uint8_t> validity;
};

// Disparities in quarters in [low, high], about `invalid_percent` of them invalid for some reason.
inline Map random_map(Size size, unsigned seed, int low, int high, int invalid_percent) {
  constexpr std::uint8_t reasons[] = {validity::no_candidate, validity::left_right, validity::ambiguous,
                                      validity::speckle,      validity::masked,     validity::outside};
  std::mt19937 generator(seed);
  const auto below = [&](int n) { return static_cast<int>(generator() % static_cast<unsigned>(n)); };
  Map map{Image<float>(size), Image<std::uint8_t>(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool valid = below(100) >= invalid_percent;
      map.disparity(x, y) =
          valid ? static_cast<float>(low) + 0.25f * static_cast<float>(below(4 * (high - low) + 1)) : invalid_disparity;
      map.validity(x, y) = valid ? (below(8) == 0 ? validity::repaired : std::uint8_t{0}) : reasons[below(6)];
    }
  return map;
}

// A map given as rows of numbers; NaN pixels carry `reason`.
inline Map map_of(const std::vector<std::vector<float>>& rows, std::uint8_t reason = validity::no_candidate) {
  const Size size{static_cast<int>(rows.front().size()), static_cast<int>(rows.size())};
  Map map{Image<float>(size), Image<std::uint8_t>(size, 1, 0)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      map.disparity(x, y) = rows[y][x];
      if (std::isnan(rows[y][x])) map.validity(x, y) = reason;
    }
  return map;
}

inline bool operator==(const Map& a, const Map& b) {
  return same_bits(ImageView<const float>(a.disparity), b.disparity) &&
         same_bits(ImageView<const std::uint8_t>(a.validity), b.validity);
}

// Runs oracle(disparity, validity) and, twice and with a pitch, device(disparity, validity) on copies of the map.
template <class Oracle, class Device>
void expect_map_equals_oracle(const Map& input, Oracle&& oracle, Device&& device) {
  Map expected = input;
  oracle(expected.disparity.view(), expected.validity.view());
  for (int run = 0; run < 2; ++run) {
    PitchedImage<float> disparity(input.disparity.view());
    PitchedImage<std::uint8_t> validity(input.validity.view());
    device(disparity.view(), validity.view());
    EXPECT_TRUE(same_bits(disparity.view(), expected.disparity)) << "disparity, run " << run;
    EXPECT_TRUE(same_bits(validity.view(), expected.validity)) << "validity, run " << run;
    EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact());
  }
}

}  // namespace stereopsis::test
