// Files that hold several pictures: pages of a TIFF, thumbnails, pyramids, raw files, MPO, animations.
#include "io/pictures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stereopsis/io.hpp"
#include "support/files.hpp"
#include "support/pictures.hpp"

namespace stereopsis::pictures_test {
namespace {

using namespace test;

int value_of(const std::filesystem::path& file) { return std::get<Image<std::uint8_t>>(read_image(file).pixels)(0, 0); }

TEST(Pictures, ThePartAfterTheNameIsAPicture) {
  const TemporaryFolder folder;
  put(folder / "a.tif", "x");
  put(folder / "b.tif[1]", "x");
  put(folder / "b.tif", "x");
  EXPECT_EQ(image_file(folder / "a.tif[12]"), folder / "a.tif");
  EXPECT_EQ(io::image_name(folder / "a.tif[12]").picture, 12U);
  for (const char* name : {"b.tif[1]", "a.tif", "a.tif[]", "a.tif[-1]", "a.tif[x]", "none.tif[0]", "[0]"}) {
    EXPECT_EQ(image_file(folder / name), folder / name) << name;
    EXPECT_FALSE(io::image_name(folder / name).picture) << name;
  }
  EXPECT_EQ(image_file(folder.path() / "[0]"), folder.path() / "[0]");
}

TEST(Pictures, FormatsWithOnePictureHaveTheFirstOne) {
  const TemporaryFolder folder;
  write_image(folder / "a.png", Image<std::uint8_t>({4, 2}, 1, 7));
  EXPECT_EQ(picture_count(folder / "a.png"), 1U);
  EXPECT_EQ(value_of(folder / "a.png[0]"), 7);
  EXPECT_TRUE(refuses([&] { read_image(folder / "a.png[1]"); }, ErrorCategory::format, "there is no picture [1]"));
}

TEST(Pictures, AnimationsAndJoinedImagesAreNamed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& contents, ErrorCategory category, const char* part) {
    return refuses([&] { read_image(put(folder / "a", contents)); }, category, part);
  };
  const std::string control{'\0', '\0', '\0', '\3', '\0', '\0', '\0', '\0'};
  EXPECT_TRUE(refused(RawPng(1, 1, 8, 0).chunk("acTL", control).with({'\0', 'x'}), ErrorCategory::unsupported,
                      "animation of 3 frames"));
  EXPECT_TRUE(refused("P5\n2 1\n255\nabP5\n2 1\n255\ncd", ErrorCategory::format, "several PNM images"));
  EXPECT_EQ(read_image(put(folder / "a", "P5\n2 1\n255\nab\n")).size(), (Size{2, 1}));
  EXPECT_TRUE(refused("GIF89a\1\0\1\0", ErrorCategory::format, "this is a GIF"));
  EXPECT_TRUE(refused(std::string("\0\0\0\x18"
                                  "ftypheic\0\0\0\0",
                                  16),
                      ErrorCategory::format, "HEIF"));
}

TEST(Jpeg, TheViewsOfAnMpo) {
  const TemporaryFolder folder;
  const auto file = put(folder / "a.MPO", mpo({{1}, {2}}));
  EXPECT_EQ(picture_count(file), 2U);
  EXPECT_TRUE(refuses([&] { read_image(file); }, ErrorCategory::format, "holds 2 pictures, and one is required"));
  EXPECT_EQ(value_of(folder / "a.MPO[0]"), 10);
  EXPECT_EQ(value_of(folder / "a.MPO[1]"), 20);
  EXPECT_TRUE(refuses([&] { read_image(folder / "a.MPO[2]"); }, ErrorCategory::format, "[0] to [1]"));
  EXPECT_EQ(io::stored_views(file).views, io::Views::pictures);
}

TEST(Jpeg, ThumbnailsAndMapsOfBrightnessAreNoViews) {
  const TemporaryFolder folder;
  constexpr std::uint32_t thumbnail = 0x010001;
  const auto file = put(folder / "a.jpg", mpo({{1},
                                               {2, {16, 8}, thumbnail},
                                               {3, {8, 8}, 0},
                                               {4, {16, 8}, 0, "http://ns.adobe.com/xap/1.0/ hdrgm:Version"}}));
  EXPECT_EQ(picture_count(file), 1U);
  EXPECT_EQ(value_of(file), 10);
  // A damaged index does not hide the first picture.
  const std::string whole = mpo({{1}, {2}});
  for (std::size_t at = whole.find("MPF") + 4; at < whole.find("MPF") + 62; ++at) {
    std::string damaged = whole;
    damaged[at] = '\x7f';
    const auto one = put(folder / "b.jpg", damaged);
    EXPECT_GE(picture_count(one), 1U);
    EXPECT_EQ(value_of(folder / "b.jpg[0]"), 10) << at;
  }
}

TEST(Jpeg, TheViewsOfAJps) {
  const TemporaryFolder folder;
  const auto views_of = [&](const std::string& name, const std::string& contents) {
    return io::stored_views(put(folder / name, contents));
  };
  auto stored = views_of("a.jps", jps(2, 0));
  EXPECT_EQ(stored.views, io::Views::side_by_side);
  EXPECT_TRUE(stored.right_first);
  stored = views_of("b.jps", jps(2, 4));
  EXPECT_EQ(stored.views, io::Views::side_by_side);
  EXPECT_FALSE(stored.right_first);
  EXPECT_EQ(views_of("c.jpg", jps(3, 4)).views, io::Views::top_bottom);
  EXPECT_EQ(views_of("d.jps", jps(1, 4)).views, io::Views::none);  // interleaved rows
  stored = views_of("e.JPS", io::encode_jpeg(Image<std::uint8_t>({16, 8}, 1, 9)));
  EXPECT_EQ(stored.views, io::Views::side_by_side);
  EXPECT_TRUE(stored.right_first);
  EXPECT_EQ(views_of("f.jpg", io::encode_jpeg(Image<std::uint8_t>({16, 8}, 1, 9))).views, io::Views::none);
  EXPECT_EQ(io::stored_views(folder / "none.jpg").views, io::Views::none);
}

#ifdef STEREOPSIS_TIFF
TEST(Tiff, Pages) {
  const TemporaryFolder folder;
  for (const bool big : {false, true}) {
    const auto file = put(folder / "a.tif", tiff_of({{1}, {2}, {3}}, big));
    EXPECT_EQ(picture_count(file), 3U);
    EXPECT_TRUE(refuses([&] { read_image(file); }, ErrorCategory::format, "3 pictures"));
    for (const int i : {0, 1, 2}) EXPECT_EQ(value_of(folder / text("a.tif[", i, ']')), 10 * (i + 1));
    EXPECT_TRUE(refuses([&] { read_image(folder / "a.tif[3]"); }, ErrorCategory::format, "[0] to [2]"));
  }
  EXPECT_EQ(read_mask(put(folder / "m.tif", tiff_of({{0, {8, 4}}}))).size(), (Size{8, 4}));
  EXPECT_TRUE(refuses([&] { read_disparity(folder / "a.tif", 1); }, ErrorCategory::format, "3 pictures"));
  EXPECT_EQ(read_disparity(folder / "a.tif[1]", 1)(0, 0), 20);
}

TEST(Tiff, ThumbnailsPyramidsAndMasksAreNoPictures) {
  const TemporaryFolder folder;
  constexpr std::uint32_t reduced = 1, mask = 4;
  const auto value = [&](const std::vector<Page>& pages) {
    const auto file = put(folder / "a.tif", tiff_of(pages));
    EXPECT_EQ(picture_count(file), 1U);
    return value_of(file);
  };
  EXPECT_EQ(value({{1, {8, 4}, reduced}, {2}}), 20);                        // a thumbnail first
  EXPECT_EQ(value({{1, {4, 2}}, {2}}), 20);                                 // an unmarked thumbnail
  EXPECT_EQ(value({{1}, {2, {8, 4}, reduced}, {3, {4, 2}, reduced}}), 10);  // a pyramid
  EXPECT_EQ(value({{1}, {2, {16, 8}, mask}}), 10);
  EXPECT_EQ(value({{1, {8, 4}, reduced}, {2, {4, 2}, reduced}}), 10);  // only reduced images
  EXPECT_EQ(value({{1, {4, 2}, reduced, {{2}}}}), 20);                 // the full image is below the thumbnail
}

TEST(Tiff, TheRawDataOfACameraAreNamed) {
  const TemporaryFolder folder;
  constexpr std::uint32_t reduced = 1, mosaic = 32803;
  const auto file = put(folder / "a.dng", tiff_of({{1, {4, 2}, reduced, {{2, {16, 8}, 0, {}, mosaic}}}}));
  EXPECT_TRUE(refuses([&] { read_image(file); }, ErrorCategory::unsupported, "raw data"));
}

// A chain of directories that leads in a circle, or anywhere, ends.
TEST(Tiff, DamagedDirectoriesAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::string whole = tiff_of({{1}, {2}});
  for (std::size_t at = 4; at < whole.size(); ++at)
    for (const char byte : {'\0', '\x08', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      const io::FileBytes source(io::bytes_of(damaged));
      for (const io::Picture& picture : io::pictures_of(source)) try {
          io::decode_tiff(source, picture.offset);
        } catch (const Error& error) {
          EXPECT_NE(error.category(), ErrorCategory::call) << error.what();
        }
    }
  EXPECT_EQ(picture_count(put(folder / "cut.tif", whole.substr(0, 20))), 1U);
}
#endif

}  // namespace
}  // namespace stereopsis::pictures_test
