#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::whole_file_test {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr Size size{37, 23};

// Writes results in each format that the command writes, and returns the files.
std::vector<fs::path> results_in(const TemporaryFolder& folder) {
  std::vector<fs::path> files;
  const auto next = [&](const char* name) { return files.emplace_back(folder / name); };
  const auto disparity = random_image<float>(size, 1, 0, 60);
  const auto bytes = random_image<std::uint8_t>(size, 2, 0, 255);
  for (const char* name : {"d.pfm", "d.npy", "d.png"}) write_disparity(next(name), disparity);
  for (const char* name : {"b.pgm", "b.png", "b.npy", "b.jpg"}) write_image(next(name), bytes);
  write_image(next("w.pgm"), random_image<std::uint16_t>(size, 3, 0, 65535));
  write_image(next("c.ppm"), Image<std::uint8_t>(size, 3, 90));
#ifdef STEREOPSIS_TIFF
  write_disparity(next("d.tiff"), disparity);
#endif
  return files;
}

TEST(WholeFiles, AreToldFromThoseThatWereCutOffOrOfAnotherSize) {
  const TemporaryFolder folder;
  for (const fs::path& file : results_in(folder)) {
    EXPECT_TRUE(is_whole(file)) << file;
    EXPECT_TRUE(is_whole(file, size)) << file;
    EXPECT_FALSE(is_whole(file, {size.width, size.height + 1})) << file;
    const std::string contents = get(file);
    const bool tiff = file.extension() == ".tiff";  // the last bytes state that no other image follows
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{40},
                                     contents.size() / 2, contents.size() - (tiff ? 12 : 1)}) {
      put(file, contents.substr(0, length));
      EXPECT_FALSE(is_whole(file, size)) << file << " of " << length << " bytes";
    }
    put(file, contents + "x");
    EXPECT_EQ(is_whole(file, size), tiff) << file;  // trailing bytes are allowed in a TIFF
  }
}

TEST(WholeFiles, CloudsAndVolumes) {
  const TemporaryFolder folder;
  const Image<float> xyz(size, 3, 1);
  for (const bool coloured : {false, true}) {
    const Image<std::uint8_t> colour = coloured ? Image<std::uint8_t>(size, 3, 50) : Image<std::uint8_t>();
    const Image<float> confidence = coloured ? Image<float>(size, 1, 0.5F) : Image<float>();
    write_point_cloud(folder / "a.ply", xyz, colour, confidence, false);
    EXPECT_TRUE(is_whole(folder / "a.ply"));
    fs::resize_file(folder / "a.ply", fs::file_size(folder / "a.ply") - 1);
    EXPECT_FALSE(is_whole(folder / "a.ply"));
  }
  write_volume(folder / "v.npy", Image<std::uint16_t>(size, 8, 3));
  EXPECT_TRUE(is_whole(folder / "v.npy", size));
  fs::resize_file(folder / "v.npy", fs::file_size(folder / "v.npy") - 2);
  EXPECT_FALSE(is_whole(folder / "v.npy", size));
  EXPECT_FALSE(is_whole(folder / "none.pfm"));
  EXPECT_FALSE(is_whole(folder.path()));
}

}  // namespace
}  // namespace stereopsis::whole_file_test
