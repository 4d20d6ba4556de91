// Pairs that PairSource finds: by number and by time, with files beside them, from videos that the program decodes. The
// tests of the command (tests/command/inputs_test.cpp) cover lists, folders and halves of pictures.
#include "stereopsis/pair_source.hpp"

#include <gtest/gtest.h>

#include "support/files.hpp"
#include "support/pictures.hpp"

namespace stereopsis::pair_source_test {
namespace {

namespace fs = std::filesystem;
using test::put, test::refuses;

class Sources : public testing::Test {
 protected:
  // Writes a grey image of 4×2 pixels with this value.
  void image(const std::string& name, int value) {
    fs::create_directories((folder / name).parent_path());
    write_image(folder / name, Image<std::uint8_t>({4, 2}, 1, static_cast<std::uint8_t>(value)));
  }
  static int value_of(const MaskedImage& read) { return std::get<Image<std::uint8_t>>(read.image.pixels)(0, 0); }
  static std::vector<int> values_of(const PairSource& source) {
    std::vector<int> values;
    for (std::size_t i = 0; i < source.size(); ++i)
      for (const PairOfImages pair = source.read(i); const MaskedImage* image : {&pair.left, &pair.right})
        values.push_back(value_of(*image));
    return values;
  }

  test::TemporaryFolder folder;
};

TEST_F(Sources, SequencesArePairedByNumberAndGapsAreSkippedOnRequest) {
  for (const int i : {2, 9, 10}) image("left/l" + std::to_string(i) + ".png", i);
  for (const int i : {2, 10, 11}) image("right/r" + std::to_string(i) + ".png", 100 + i);
  EXPECT_TRUE(has_both_views(folder.path()));
  EXPECT_FALSE(has_both_views(folder / "left"));
  EXPECT_TRUE(refuses([&] { PairSource(folder.path()); }, ErrorCategory::call, "l9.png"));
  const PairSource source(folder.path(), {}, {.keep_going = true});
  EXPECT_EQ(values_of(source), (std::vector<int>{2, 102, 10, 110}));
  EXPECT_EQ(source.dropped(), (std::vector{(folder / "left/l9.png").string(), (folder / "right/r11.png").string()}));
  EXPECT_TRUE(source.is_sequence());
  EXPECT_EQ(source.rate(), 0);
  EXPECT_EQ(source.left_file(1), folder / "left/l10.png");
  EXPECT_EQ(source.right_file(1), folder / "right/r10.png");
  EXPECT_EQ(source.name(1), (folder / "left/l10.png").string());
  EXPECT_FALSE(source.seconds_apart(1));
}

TEST_F(Sources, APairOfFilesIsNoSequence) {
  image("one.png", 1);
  image("two.png", 2);
  const PairSource source(folder / "one.png", folder / "two.png");
  EXPECT_FALSE(source.is_sequence());
  EXPECT_EQ(values_of(source), (std::vector<int>{1, 2}));
  EXPECT_TRUE(refuses([&] { PairSource(folder / "one.png", folder / "none.png"); }, ErrorCategory::call, "none.png"));
  EXPECT_TRUE(refuses([&] { PairSource("", folder / "two.png"); }, ErrorCategory::call, "LEFT is empty"));
}

TEST_F(Sources, FilesWithTwoPicturesArePairs) {
  put(folder / "one.mpo", test::mpo({{1}, {2}}));
  const PairSource source(folder / "one.mpo");
  EXPECT_FALSE(source.is_sequence());
  EXPECT_EQ(values_of(source), (std::vector<int>{10, 20}));
  EXPECT_EQ(source.right_file(0), folder / "one.mpo[1]");
  EXPECT_EQ(values_of(PairSource(folder / "one.mpo", {}, {.right_first = true})), (std::vector<int>{20, 10}));
  EXPECT_EQ(values_of(PairSource(folder / "one.mpo[1]", folder / "one.mpo[0]")), (std::vector<int>{20, 10}));
  const auto refused = [&](const fs::path& left, const fs::path& right, const PairSourceOptions& options,
                           const char* part) {
    return refuses([&] { PairSource(left, right, options); }, ErrorCategory::call, part);
  };
  EXPECT_TRUE(refused(folder / "one.mpo", {}, {.side_by_side = true}, "holds 2 pictures; leave --side-by-side out"));
  EXPECT_TRUE(refused(folder / "one.mpo", folder / "one.mpo", {}, "give it once"));
  put(folder / "two.mpo", test::mpo({{3}, {4}}));
  EXPECT_TRUE(refused(folder / "one.mpo", folder / "two.mpo", {}, "give one file alone"));
  EXPECT_TRUE(refused(folder / "one.mpo[0]", {}, {}, "RIGHT is missing"));
  EXPECT_TRUE(refused(folder / "one.mpo[0]", folder / "one.mpo[1]", {.right_first = true}, "--right-first"));
  // A folder of such files is a sequence.
  fs::create_directory(folder / "photos");
  put(folder / "photos/DSCF0002.MPO", test::mpo({{3}, {4}}));
  put(folder / "photos/DSCF0001.MPO", test::mpo({{1}, {2}}));
  EXPECT_EQ(values_of(PairSource(folder / "photos")), (std::vector<int>{10, 20, 30, 40}));
  put(folder / "list.csv", "one.mpo[1],one.mpo[0]\n");
  EXPECT_EQ(values_of(PairSource(folder / "list.csv")), (std::vector<int>{20, 10}));
  put(folder / "three.mpo", test::mpo({{1}, {2}, {3}}));
  EXPECT_TRUE(refused(folder / "three.mpo", {}, {}, "three.mpo[0]"));
}

TEST_F(Sources, TheOrderOfTheViewsIsThatOfTheFileOrTheOption) {
  put(folder / "crosseyed.jps", test::jps(2, 0));
  const auto values = [&](const char* name, const PairSourceOptions& options = {}) {
    return values_of(PairSource(folder / name, {}, options));
  };
  EXPECT_EQ(values("crosseyed.jps"), (std::vector<int>{20, 10}));
  EXPECT_EQ(values("crosseyed.jps", {.right_first = true}), (std::vector<int>{10, 20}));
  EXPECT_EQ(values("crosseyed.jps", {.side_by_side = true}), (std::vector<int>{10, 20}));
  EXPECT_EQ(values("crosseyed.jps", {.side_by_side = true, .right_first = true}), (std::vector<int>{20, 10}));
  put(folder / "parallel.jps", test::jps(2, 4));
  EXPECT_EQ(values("parallel.jps"), (std::vector<int>{10, 20}));
}

#ifdef STEREOPSIS_TIFF
TEST_F(Sources, PagesOfATiffAreAPairOrASequence) {
  put(folder / "pair.tif", test::tiff_of({{1}, {2}}));
  EXPECT_EQ(values_of(PairSource(folder / "pair.tif")), (std::vector<int>{10, 20}));
  put(folder / "left_series.tif", test::tiff_of({{1}, {2}, {3}}));
  put(folder / "right_series.tif", test::tiff_of({{4}, {5}, {6}}));
  const PairSource series(folder / "left_series.tif", folder / "right_series.tif");
  EXPECT_TRUE(series.is_sequence());
  EXPECT_EQ(values_of(series), (std::vector<int>{10, 40, 20, 50, 30, 60}));
  EXPECT_EQ(series.name(1), (folder / "left_series.tif[1]").string());
  EXPECT_TRUE(refuses([&] { PairSource(folder / "left_series.tif", folder / "pair.tif"); }, ErrorCategory::call,
                      "holds 3 pictures, and"));
  EXPECT_TRUE(refuses([&] { PairSource(folder / "left_series.tif"); }, ErrorCategory::call, "holds 3 pictures"));
}
#endif

TEST_F(Sources, TheSlopIsATimeOrAShareOfTheTimeBetweenFrames) {
  // 100 ms between frames; the right ones are late by 0, 4 and 30 ms.
  for (const int i : {1000, 1100, 1200}) image("left/1600000000" + std::to_string(i).substr(1) + ".png", i - 1000);
  for (const char* ms : {"000", "104", "230"}) image("right/1600000000" + std::string(ms) + ".png", 1);
  const auto pairs = [&](const std::string& slop) {
    return PairSource(folder.path(), {}, {.pair = "stamp", .slop = slop}).size();
  };
  EXPECT_EQ(pairs(""), 3U);
  EXPECT_EQ(pairs("5%"), 2U);
  EXPECT_EQ(pairs("29 %"), 2U);
  EXPECT_EQ(pairs("30%"), 3U);
  EXPECT_EQ(pairs("3ms"), 1U);
  EXPECT_EQ(pairs("0.03"), 3U);
  EXPECT_TRUE(refuses([&] { pairs("5 frames"); }, ErrorCategory::call, "--slop 5 frames is not allowed"));
  EXPECT_TRUE(refuses([&] { pairs("-1ms"); }, ErrorCategory::call, "--slop -1ms is not allowed"));
  const PairSource source(folder.path(), {}, {.pair = "stamp"});
  EXPECT_DOUBLE_EQ(source.seconds_apart(1).value(), 0.004);
}

TEST_F(Sources, FilesBesideThePairsAreFoundByNumber) {
  for (const int i : {1, 2, 3}) {
    image("left/" + std::to_string(i) + ".png", i);
    image("right/" + std::to_string(i) + ".png", i);
  }
  for (const int i : {3, 1, 7}) image("truth/t" + std::to_string(i) + ".png", i);
  const PairSource source(folder.path());
  EXPECT_EQ(source.files_beside(folder / "truth"),
            (std::vector<fs::path>{folder / "truth/t1.png", {}, folder / "truth/t3.png"}));
  EXPECT_EQ(source.files_beside(folder / "truth/t7.png"), (std::vector<fs::path>{folder / "truth/t7.png", {}, {}}));
  EXPECT_TRUE(refuses([&] { source.files_beside(folder / "none.png"); }, ErrorCategory::call, "none.png"));
  EXPECT_TRUE(refuses([&] { source.files_beside(folder / "truth/t7*.png"); }, ErrorCategory::call, "no file of"));
  const PairSource one(folder / "left/3.png", folder / "right/3.png");
  EXPECT_EQ(one.files_beside(folder / "truth"), (std::vector<fs::path>{folder / "truth/t3.png"}));
}

// Frames whose pixels have the number of the frame in the left half, and 100 more in the right half.
class Counting : public Video {
 public:
  explicit Counting(double rate) : rate_(rate) {}

  std::size_t size() const override { return 4; }
  double rate() const override { return rate_; }
  AnyImage read(std::size_t frame) override {
    Image<std::uint8_t> image(4, 2, 3);
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 4; ++x)
        for (int c = 0; c < 3; ++c) image(x, y, c) = static_cast<std::uint8_t>(frame + (x < 2 ? 0 : 100));
    return image;
  }

 private:
  double rate_;
};

std::shared_ptr<Video> open_counting(const fs::path& file) {
  return std::make_shared<Counting>(file.stem() == "slow" ? 5 : 10);
}

TEST_F(Sources, VideosAreDecodedByTheProgram) {
  for (const char* name : {"fast.mp4", "slow.mp4"}) put(folder / name, "frames");
  const PairSource halves(folder / "fast.mp4", {}, {.side_by_side = true, .open_video = open_counting});
  EXPECT_EQ(values_of(halves), (std::vector<int>{0, 100, 1, 101, 2, 102, 3, 103}));
  EXPECT_EQ(halves.rate(), 10);
  EXPECT_EQ(halves.name(2), "frame 2 of " + (folder / "fast.mp4").string());
  EXPECT_EQ(halves.right_file(2), folder / "fast.mp4");
  const PairSource by_time(folder / "fast.mp4", folder / "slow.mp4", {.pair = "stamp", .open_video = open_counting});
  EXPECT_EQ(values_of(by_time), (std::vector<int>{0, 0, 2, 1}));
  EXPECT_TRUE(refuses([&] { PairSource(folder / "fast.mp4", folder / "slow.mp4"); }, ErrorCategory::unsupported,
                      "fast.mp4 is a video"));
}

TEST_F(Sources, FramesOfAVideoBelongToFilesByNumber) {
  put(folder / "fast.mp4", "frames");
  for (const int i : {1, 3, 12}) image("files/f" + std::to_string(i) + ".png", 200 + i);
  const PairSource source(folder / "fast.mp4", folder / "files", {.keep_going = true, .open_video = open_counting});
  EXPECT_EQ(values_of(source), (std::vector<int>{1, 201, 3, 203}));
  EXPECT_EQ(source.files_beside(folder / "files"),
            (std::vector<fs::path>{folder / "files/f1.png", folder / "files/f3.png"}));
}

}  // namespace
}  // namespace stereopsis::pair_source_test
