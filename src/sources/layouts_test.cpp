// The layouts of folders: pairs by the sides in their names, folders of scenes, ambiguous folders, names of results.
#include "sources/layouts.hpp"

#include <gtest/gtest.h>

#include "sources/side_names.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/pair_source.hpp"
#include "support/files.hpp"

namespace stereopsis::layouts_test {
namespace {

namespace fs = std::filesystem;
using sources::left_words, sources::SideWord;
using test::put, test::refuses;

class Layouts : public testing::Test {
 protected:
  void images(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      fs::create_directories((folder / name).parent_path());
      write_image(folder / name, Image<std::uint8_t>({4, 2}, 1, 7));
    }
  }
  // Returns the pairs as "left right name", with paths below the folder.
  std::vector<std::string> pairs(const std::string& left, const std::string& right = "",
                                 bool keep_going = false) const {
    const PairSource source(folder / left, right.empty() ? fs::path() : folder / right, {.keep_going = keep_going});
    std::vector<std::string> found;
    for (std::size_t i = 0; i < source.size(); ++i)
      found.push_back(fs::relative(source.left_file(i), folder.path()).string() + ' ' +
                      fs::relative(source.right_file(i), folder.path()).string() + ' ' + source.result_name(i));
    return found;
  }
  using Found = std::vector<std::string>;

  test::TemporaryFolder folder;
};

std::vector<std::string> others_of(const std::string& name) {
  std::vector<std::string> others;
  for (const SideWord& word : left_words(name)) others.push_back(word.other);
  return others;
}

TEST(SideNames, AreExchangedWhereAWordEnds) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(others_of("harbour_left"), Names{"harbour_right"});
  EXPECT_EQ(others_of("LEFT-harbour"), Names{"RIGHT-harbour"});
  EXPECT_EQ(others_of("leftImg8bit"), Names{"rightImg8bit"});
  EXPECT_EQ(others_of("cameraLeft01"), Names{"cameraRight01"});
  EXPECT_EQ(others_of("0001_L"), Names{"0001_R"});
  EXPECT_EQ(others_of("l12"), Names{"r12"});
  EXPECT_EQ(others_of("-L__J5_left"), Names{"-L__J5_right"});  // the letter is part of the name
  EXPECT_EQ(others_of("left_0_left"), (Names{"right_0_left", "left_0_right", "right_0_right"}));
  for (const char* name : {"bright", "leftover", "cleft", "harbour_right", "label", "rl"})
    EXPECT_EQ(others_of(name), Names{}) << name;
}

TEST_F(Layouts, OneFolderWithNamesOfBothSides) {
  images({"a/harbour_left.png", "a/harbour_right.png", "a/-L__J5_left.png", "a/-L__J5_right.png"});
  EXPECT_EQ(pairs("a"), (Found{"a/-L__J5_left.png a/-L__J5_right.png -L__J5",
                               "a/harbour_left.png a/harbour_right.png "
                               "harbour"}));
  images({"b/left_x.png", "b/right_x.png", "c/0001_L.png", "c/0001_R.png", "d/x-l.png", "d/x-r.png"});
  EXPECT_EQ(pairs("b"), (Found{"b/left_x.png b/right_x.png x"}));
  EXPECT_EQ(pairs("c"), (Found{"c/0001_L.png c/0001_R.png 0001"}));
  EXPECT_EQ(pairs("d"), (Found{"d/x-l.png d/x-r.png x"}));
  EXPECT_TRUE(has_both_views(folder / "d"));
}

TEST_F(Layouts, OtherDataBesideThePicturesIsNoPair) {
  images({"a/x_left.png", "a/x_right.png", "a/x_left.disp.png", "a/x_right.disp.png"});
  EXPECT_EQ(pairs("a"), (Found{"a/x_left.png a/x_right.png x"}));
  images({"b/image_left/0.png", "b/image_right/0.png", "b/depth_left/0.png", "b/depth_right/0.png"});
  EXPECT_EQ(pairs("b"), (Found{"b/image_left/0.png b/image_right/0.png 0"}));
}

TEST_F(Layouts, AnImageWithoutPartnerIsSkippedOnlyOnRequest) {
  images({"a/x_left.png", "a/x_right.png", "a/y_left.png"});
  EXPECT_TRUE(refuses([&] { pairs("a"); }, ErrorCategory::call, "y_left.png has no partner"));
  EXPECT_EQ(pairs("a", "", true).size(), 1U);
}

TEST_F(Layouts, TwoFoldersOrPatternsWithNamesOfTheSides) {
  images({"left/-L__J5_left.png", "left/harbour_left.png", "right/-L__J5_right.png", "right/harbour_right.png"});
  const Found expected = {"left/-L__J5_left.png right/-L__J5_right.png -L__J5_left",
                          "left/harbour_left.png right/harbour_right.png harbour_left"};
  EXPECT_EQ(pairs("left", "right"), expected);
  EXPECT_EQ(pairs("left/*_left.png", "right/*_right.png"), expected);
  EXPECT_TRUE(refuses([&] { pairs("right", "left"); }, ErrorCategory::call, "exchange the two inputs"));
  images({"a/one-A.png", "a/two-A.png", "b/one-B.png", "b/two-B.png"});
  EXPECT_EQ(pairs("a/*-A.png", "b/*-B.png"), (Found{"a/one-A.png b/one-B.png one-A", "a/two-A.png b/two-B.png two-A"}));
}

TEST_F(Layouts, FoldersOfScenes) {
  images({"q/Motorcycle/im0.png", "q/Motorcycle/im1.png", "q/Adirondack/im0.png", "q/Adirondack/im1.png"});
  fs::create_directories(folder / "q/notes");
  const Found expected = {"q/Adirondack/im0.png q/Adirondack/im1.png Adirondack",
                          "q/Motorcycle/im0.png q/Motorcycle/im1.png Motorcycle"};
  EXPECT_EQ(pairs("q"), expected);
  EXPECT_EQ(pairs("q/*/im0.png", "q/*/im1.png"), expected);
  put(folder / "l.csv", "q/Adirondack/im0.png,q/Adirondack/im1.png\nq/Motorcycle/im0.png,q/Motorcycle/im1.png\n");
  EXPECT_EQ(pairs("l.csv"), expected);
  images({"lab/0/left.png", "lab/0/right.png", "lab/1/left.png", "lab/1/right.png"});
  EXPECT_EQ(pairs("lab"), (Found{"lab/0/left.png lab/0/right.png 0", "lab/1/left.png lab/1/right.png 1"}));
  images({"q/x_left.png", "q/x_right.png"});
  EXPECT_TRUE(refuses([&] { pairs("q"); }, ErrorCategory::call, "give LEFT and RIGHT"));
}

TEST_F(Layouts, FoldersOfScenesWithFoldersOfImages) {
  images({"b/Bathroom/camera_00/im0.png", "b/Bathroom/camera_00/im1.png", "b/Bathroom/camera_02/im0.png",
          "b/Bathroom/camera_02/im1.png", "b/Car/camera_00/im0.png", "b/Car/camera_02/im0.png"});
  EXPECT_EQ(pairs("b/Car"), Found{"b/Car/camera_00/im0.png b/Car/camera_02/im0.png im0"});
  EXPECT_EQ(pairs("b"), (Found{"b/Bathroom/camera_00/im0.png b/Bathroom/camera_02/im0.png Bathroom_im0",
                               "b/Bathroom/camera_00/im1.png b/Bathroom/camera_02/im1.png Bathroom_im1",
                               "b/Car/camera_00/im0.png b/Car/camera_02/im0.png Car_im0"}));
  images({"s/0001/frame_left/frame_left_0001.png", "s/0001/frame_right/frame_right_0001.png",
          "s/0001/maps/matchmap_left_0001.png"});
  for (const char* other :
       {"disp1_left", "disp1_right", "disp2_FW_left", "disp2_FW_right", "flow_BW_left", "flow_BW_right", "cam_data"})
    fs::create_directories(folder / "s/0001" / other);
  const std::string pair = "s/0001/frame_left/frame_left_0001.png s/0001/frame_right/frame_right_0001.png ";
  EXPECT_EQ(pairs("s/0001"), Found{pair + "frame_left_0001"});
  EXPECT_EQ(pairs("s"), Found{pair + "0001_frame_left_0001"});
  const fs::path truth = put(folder / "s/0001/disp1_left/disp1_left_0001.dsp5", "\x89HDF\r\n\x1a\n");
  EXPECT_TRUE(refuses([&] { read_disparity(truth); }, ErrorCategory::format, "HDF5 file, as Spring's .dsp5"));
  images({"s/0001/frame_left/frame_left_0002.png"});
  EXPECT_TRUE(refuses([&] { pairs("s"); }, ErrorCategory::call, "frame_left_0002.png"));
  EXPECT_EQ(pairs("s", "", true).size(), 1U);
}

TEST_F(Layouts, TheTableFindsTruthAndCalibration) {
  images({"s/im0.png", "s/im1.png", "s/mask0nocc.png"});
  put(folder / "s/disp0.pfm", "truth");
  put(folder / "s/calib.txt", "calibration");
  auto scene = sources::scene_in(folder / "s");
  ASSERT_TRUE(scene);
  EXPECT_EQ(scene->truth, folder / "s/disp0.pfm");
  EXPECT_EQ(scene->nonocc, folder / "s/mask0nocc.png");
  EXPECT_EQ(scene->calibration, folder / "s/calib.txt");
  put(folder / "s/disp0GT.pfm", "truth");
  EXPECT_EQ(sources::scene_in(folder / "s")->truth, folder / "s/disp0GT.pfm");
  images({"drive/image_02/data/0.png", "drive/image_03/data/0.png", "old/im0.pgm", "old/im1.pgm", "old/im2.pgm",
          "old/im6.pgm"});
  EXPECT_EQ(sources::scene_in(folder / "drive")->left, folder / "drive/image_02/data");
  EXPECT_EQ(sources::scene_in(folder / "old")->left, folder / "old/im2.pgm");
  EXPECT_FALSE(sources::scene_in(folder.path()));
}

TEST_F(Layouts, SeveralKindsOfViewsAreAmbiguous) {
  images({"a/left/0.png", "a/right/0.png", "a/cam0/0.png", "a/cam1/0.png"});
  EXPECT_TRUE(refuses([&] { pairs("a"); }, ErrorCategory::call, "several pairs of views"));
  images({"b/x_left.png", "b/x_right.png", "b/y_left_small.png", "b/y_right_small.png"});
  EXPECT_TRUE(refuses([&] { pairs("b"); }, ErrorCategory::call, "several kinds of pairs"));
}

TEST(NamesOfResults, AreDistinct) {
  using Names = std::vector<std::string>;
  const auto stems = [](std::initializer_list<fs::path> files) {
    return sources::distinct_stems(std::vector<fs::path>(files));
  };
  EXPECT_EQ(stems({"a/1.png", "a/2.png"}), (Names{"1", "2"}));
  EXPECT_EQ(stems({"d/a/im0.png", "d/b/im0.png"}), (Names{"a", "b"}));
  EXPECT_EQ(stems({"a/image/1.png", "b/image/1.png", "b/image/2.png"}), (Names{"a_1", "b_1", "b_2"}));
  EXPECT_EQ(stems({"a/1.png", "a/1.png"}), (Names{"000000", "000001"}));
}

}  // namespace
}  // namespace stereopsis::layouts_test
