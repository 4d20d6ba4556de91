// A scene on disk for tests of runs: frames of random dots, whose right view is moved by a known disparity.
#pragma once

#include <filesystem>
#include <random>
#include <string>

#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/quiet_front_end.hpp"

namespace stereopsis::test {

class SceneFolder : public testing::Test {
 protected:
  static constexpr Size size = {200, 140};
  static constexpr int disparity = 9;

  // Writes left<i>.png and right<i>.png.
  void write_pair(int i, Size of = size, int channels = 1) {
    std::mt19937 random(static_cast<unsigned>(i) + 1);
    Image<std::uint8_t> left(of, channels), right(of, channels);
    for (int y = 0; y < of.height; ++y)
      for (int x = 0; x < of.width; ++x)
        for (int c = 0; c < channels; ++c) {
          left(x, y, c) = static_cast<std::uint8_t>(random() % 256);
          (x >= disparity ? right(x - disparity, y, c) : right(x + of.width - disparity, y, c)) = left(x, y, c);
        }
    write_image(file("left", i), left);
    write_image(file("right", i), right);
  }
  std::filesystem::path file(const std::string& view, int i) const {
    return folder / (view + std::to_string(i) + ".png");
  }

  TemporaryFolder folder;
  QuietFrontEnd front_end;
};

}  // namespace stereopsis::test
