#include "stereopsis/dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "stereopsis/disparity.hpp"
#include "stereopsis/evaluation.hpp"
#include "stereopsis/io.hpp"
#include "support/files.hpp"

namespace stereopsis::dataset_test {
namespace {

namespace fs = std::filesystem;
using test::put;
using test::refuses;

long long counted(const Image<std::uint8_t>& mask) {
  long long count = 0;
  for (int y = 0; y < mask.height(); ++y) count += std::count(mask.row(y), mask.row(y) + mask.width(), 255);
  return count;
}

bool is_subset(const Image<std::uint8_t>& part, const Image<std::uint8_t>& whole) {
  for (int y = 0; y < part.height(); ++y)
    for (int x = 0; x < part.width(); ++x)
      if (part(x, y) == 255 && whole(x, y) != 255) return false;
  return true;
}

std::map<std::string, Image<std::uint8_t>> regions_of(const LoadedScene& loaded) {
  std::map<std::string, Image<std::uint8_t>> regions;
  for (const LoadedScene::Region& region : loaded.regions) regions.emplace(region.name, region.mask);
  return regions;
}

std::vector<std::string> names_of(const LoadedScene& loaded) {
  std::vector<std::string> names;
  for (const LoadedScene::Region& region : loaded.regions) names.push_back(region.name);
  return names;
}

std::vector<std::uint8_t> pixels_of(const Image<std::uint8_t>& mask) {
  return {mask.row(0), mask.row(0) + mask.width()};
}

using Names = std::vector<std::string>;
using Row = std::vector<std::uint8_t>;

Image<std::uint8_t> row_of(const Row& values) {
  Image<std::uint8_t> image(static_cast<int>(values.size()), 1);
  std::copy(values.begin(), values.end(), image.row(0));
  return image;
}

// A scene of 4×1 pixels. The truth of the scene, multiplied by 2, is 0 (unknown), 2, 5 and 4.
class SmallScene : public testing::Test {
 protected:
  SmallScene() {
    fs::create_directories(scene_);
    write_image(scene_ / "l.png", row_of({1, 2, 3, 4}));
    write_image(scene_ / "r.png", row_of({5, 6, 7, 8}));
    write_image(scene_ / "t.png", row_of({0, 2, 5, 4}));
    describe("");
  }
  void describe(const std::string& more) {
    describe_as(R"("left": "l.png", "right": "r.png", "gt": "t.png", "ndisp": 16, "gt_scale": 2)" + more);
  }
  void describe_as(const std::string& keys) { put(scene_ / "dataset.json", "{" + keys + "}"); }

  DatasetScene found() const { return find_scenes(scene_).at(0); }
  LoadedScene loaded() const { return load_scene(found()); }

  const test::TemporaryFolder folder_;
  const fs::path scene_ = folder_.path() / "set" / "scene";
};

TEST_F(SmallScene, IsReadAsDescribed) {
  const DatasetScene scene = found();
  EXPECT_EQ(scene.name, "scene");  // the name of the folder, because the file has none
  EXPECT_EQ(scene.dataset, "set");
  EXPECT_EQ(scene.disparities, 16);
  EXPECT_EQ(scene.left, scene_ / "l.png");
  const LoadedScene l = load_scene(scene);
  EXPECT_EQ(l.left.view().as<std::uint8_t>()(3, 0), 4);
  EXPECT_EQ(l.right.view().as<std::uint8_t>()(3, 0), 8);
  EXPECT_TRUE(std::isnan(l.truth(0, 0)));
  EXPECT_EQ(l.truth(1, 0), 1.0f);
  EXPECT_EQ(l.truth(2, 0), 2.5f);
  EXPECT_EQ(names_of(l), Names{"all"});
  EXPECT_EQ(pixels_of(l.regions[0].mask), (Row{0, 255, 255, 255}));

  describe(R"(, "name": "n", "dataset": "d")");
  EXPECT_EQ(found().name, "n");
  EXPECT_EQ(found().dataset, "d");
}

TEST_F(SmallScene, ATrailingSlashDoesNotTakeTheName) {
  EXPECT_EQ(find_scenes(scene_ / "").at(0).name, "scene");
  EXPECT_EQ(find_scenes(scene_ / "").at(0).dataset, "set");
}

TEST_F(SmallScene, AMaskCountsWhereItIs255) {
  write_image(scene_ / "mask_nonocc.png", row_of({255, 128, 0, 255}));
  write_image(scene_ / "mask_disc.png", row_of({0, 0, 255, 128}));
  describe(R"(, "masks": {"mask_disc.png": "", "mask_nonocc.png": "255 = counted"})");
  const LoadedScene l = loaded();
  EXPECT_EQ(names_of(l), (Names{"nonocc", "all", "disc"}));
  EXPECT_EQ(pixels_of(l.regions[0].mask), (Row{255, 0, 0, 255}));
  EXPECT_EQ(pixels_of(l.regions[1].mask), (Row{0, 255, 255, 255}));
  EXPECT_EQ(pixels_of(l.regions[2].mask), (Row{0, 0, 255, 0}));
}

TEST_F(SmallScene, AMaskThatIsNotListedIsNotUsed) {
  write_image(scene_ / "mask_nonocc.png", row_of({255, 255, 255, 255}));
  EXPECT_EQ(names_of(loaded()), Names{"all"});
}

TEST_F(SmallScene, NonOccludedComesFromItsOwnTruth) {
  write_image(scene_ / "noc.png", row_of({0, 0, 5, 0}));
  describe(R"(, "gt_noc": "noc.png")");
  const LoadedScene l = loaded();
  EXPECT_EQ(names_of(l), (Names{"nonocc", "all"}));
  EXPECT_EQ(pixels_of(l.regions[0].mask), (Row{0, 0, 255, 0}));
}

TEST_F(SmallScene, NonOccludedComesFromCrossChecking) {
  write_image(scene_ / "right_truth.png", row_of({8, 4, 9, 9}));  // disparities of 4 and 2 pixels at x = 0 and x = 1
  describe(R"(, "gt_right": "right_truth.png")");
  // x = 1 maps to 0 (4 px, does not agree), x = 2 to −0.5, rounded to 0 (4 px, does not agree), and x = 3 to 1 (2 px,
  // agrees)
  EXPECT_EQ(pixels_of(regions_of(loaded()).at("nonocc")), (Row{0, 0, 0, 255}));
}

TEST_F(SmallScene, TruthOfNonOccludedPixelsGivesNoRegionAll) {
  describe(R"(, "gt_kind": "noc: non-occluded pixels only")");
  const LoadedScene l = loaded();
  EXPECT_EQ(names_of(l), Names{"nonocc"});
  EXPECT_EQ(pixels_of(l.regions[0].mask), (Row{0, 255, 255, 255}));
}

TEST_F(SmallScene, FloatTruthIsUnknownWhereItIsInfiniteOrAsToldZero) {
  Image<float> truth(4, 1);
  truth(0, 0) = std::numeric_limits<float>::infinity();
  truth(1, 0) = 0;
  truth(2, 0) = 2.25f;
  truth(3, 0) = std::nanf("");
  write_image(scene_ / "t.pfm", truth);
  const std::string keys = R"("left": "l.png", "right": "r.png", "gt": "t.pfm", "ndisp": 16, "gt_scale": 1)";
  describe_as(keys + R"(, "gt_invalid": "inf")");
  EXPECT_EQ(pixels_of(loaded().regions[0].mask), (Row{0, 255, 255, 0}));
  describe_as(keys + R"(, "gt_invalid": 0)");
  EXPECT_EQ(pixels_of(loaded().regions[0].mask), (Row{0, 0, 255, 0}));
  EXPECT_EQ(loaded().truth(2, 0), 2.25f);
}

TEST_F(SmallScene, ScenesAreFoundBelowAndSortedAndOthersPassedOver) {
  const std::string json = test::get(scene_ / "dataset.json");
  for (const char* name : {"set/b", "another/c", "set/scene/deep"}) {
    fs::create_directories(folder_ / name);
    put(folder_ / name / "dataset.json", json);
  }
  for (const char* name : {"calibration", "sequence"}) fs::create_directories(folder_ / name);
  put(folder_ / "calibration/dataset.json", R"({"kind": "stereo chessboard"})");
  put(folder_ / "sequence/dataset.json", R"({"left": "l", "right": "r", "gt": null, "ndisp": 128})");
  std::vector<std::string> names;
  for (const DatasetScene& scene : find_scenes(folder_.path())) names.push_back(scene.name);
  EXPECT_EQ(names, (Names{"c", "b", "scene", "deep"}));
  EXPECT_EQ(find_scenes(folder_ / "set").size(), 3u);
}

TEST_F(SmallScene, AFolderWithoutScenesIsRefused) {
  fs::create_directories(folder_ / "empty");
  EXPECT_TRUE(refuses([&] { find_scenes(folder_ / "empty"); }, ErrorCategory::file, "has no dataset.json with left"));
  EXPECT_TRUE(refuses([&] { find_scenes(folder_ / "none"); }, ErrorCategory::file, "cannot be searched"));
  EXPECT_TRUE(refuses([&] { find_scenes(scene_ / "l.png"); }, ErrorCategory::file, "cannot be searched"));
}

TEST_F(SmallScene, LinkedFoldersAreSearchedOnce) {
  const test::TemporaryFolder links;
  fs::create_directory(links / "datasets");
  fs::create_directory_symlink(fs::absolute(folder_.path()), links / "datasets/one");
  fs::create_directory_symlink(links / "datasets", links / "datasets/again");
  const auto scenes = find_scenes(links / "datasets");
  ASSERT_EQ(scenes.size(), find_scenes(folder_.path()).size());
  EXPECT_TRUE(scenes[0].folder.string().starts_with((links / "datasets/one").string())) << scenes[0].folder;
}

// Middlebury and ETH3D have no dataset.json.
TEST(ScenesByLayout, AreFoundByTheNamesOfTheirFiles) {
  const test::TemporaryFolder folder;
  for (const char* name : {"Adirondack", "delivery_area"}) {
    fs::create_directory(folder / name);
    for (const char* view : {"im0.png", "im1.png"})
      write_image(folder / name / view, Image<std::uint8_t>({4, 1}, 1, std::uint8_t{9}));
    write_image(folder / name / "mask0nocc.png", row_of({255, 128, 0, 255}));
    Image<float> truth({4, 1}, 1, 2.5F);
    truth(2, 0) = std::numeric_limits<float>::infinity();
    write_disparity(folder / name / (name[0] == 'A' ? "disp0.pfm" : "disp0GT.pfm"), truth);
  }
  put(folder / "Adirondack/calib.txt", "cam0=[9 0 2; 0 9 1; 0 0 1]\nndisp=70\n");
  const auto scenes = find_scenes(folder.path());
  ASSERT_EQ(scenes.size(), 2U);
  EXPECT_EQ(scenes[0].name, "Adirondack");
  EXPECT_EQ(scenes[0].disparities, 70);
  EXPECT_EQ(scenes[1].disparities, 4);  // 0 to 3
  const LoadedScene loaded = load_scene(scenes[0]);
  EXPECT_EQ(names_of(loaded), (Names{"nonocc", "all"}));
  EXPECT_EQ(pixels_of(regions_of(loaded).at("nonocc")), (Row{255, 0, 0, 255}));
}

TEST_F(SmallScene, WrongValuesAreRefusedByName) {
  const auto refused = [&](const std::string& words) {
    return refuses([&] { find_scenes(scene_); }, ErrorCategory::format, words) &&
           refuses([&] { find_scenes(scene_); }, ErrorCategory::format, (scene_ / "dataset.json").string());
  };
  const auto with = [&](const std::string& ndisp, const std::string& more = "") {
    describe_as(R"("left": "l.png", "right": "r.png", "gt": "t.png", "ndisp": )" + ndisp + more);
  };
  for (const char* ndisp : {"0", "-3", "\"60\"", "1.5", "1e99", "99999999999", "[]"}) {
    with(ndisp);
    EXPECT_TRUE(refused("\"ndisp\" is ")) << ndisp;
    EXPECT_TRUE(refused("it must be an integer from 1 to ")) << ndisp;
  }
  for (const auto& [more, words] : std::map<std::string, std::string>{
           {R"("gt_scale": 0)", R"("gt_scale" is 0; it must be a number above 0)"},
           {R"("gt_scale": "4")", R"("gt_scale" is "4"; it must be a number)"},
           {R"("gt_invalid": 255)", R"("gt_invalid" is 255; it must be 0 or "inf")"},
           {R"("gt_view": "right")", R"("gt_view" is "right"; it must be "left")"},
           {R"("masks": ["mask_all.png"])", R"("masks" is ["mask_all.png"]; it must be an object)"},
           {R"("masks": {"mask_sky.png": ""})", R"(an object with only the keys mask_nonocc.png)"},
           {R"("name": 7)", R"("name" is 7; it must be text)"},
           {R"("gt_noc": "")", R"("gt_noc" is ""; it must be the name of a file)"}}) {
    with("16", ", " + more);
    EXPECT_TRUE(refused(words)) << more;
  }
  describe_as(R"("left": 3, "right": "r.png", "gt": "t.png", "ndisp": 16)");
  EXPECT_TRUE(refused(R"("left" is 3; it must be text)"));
  for (const char* contents : {"", "{", "[]", "7", "{\"left\": \"\xff\"}"}) {
    put(scene_ / "dataset.json", contents);
    EXPECT_TRUE(refused("is not a JSON object")) << contents;
  }
}

TEST_F(SmallScene, MissingFilesAndOtherSizesAreRefusedByName) {
  for (const char* file : {"l.png", "r.png", "t.png"}) {
    const fs::path aside = scene_ / "aside";
    fs::rename(scene_ / file, aside);
    EXPECT_TRUE(refuses([&] { loaded(); }, ErrorCategory::file, file));
    fs::rename(aside, scene_ / file);
  }
  describe(R"(, "masks": {"mask_all.png": ""})");
  EXPECT_TRUE(refuses([&] { loaded(); }, ErrorCategory::file, "mask_all.png"));
  write_image(scene_ / "mask_all.png", row_of({255, 255, 255}));
  EXPECT_TRUE(refuses([&] { loaded(); }, ErrorCategory::format, "is 3×1 but l.png is 4×1"));
  write_image(scene_ / "r.png", row_of({1, 2}));
  EXPECT_TRUE(refuses([&] { loaded(); }, ErrorCategory::format, "r.png: is 2×1 but l.png is 4×1"));
}

TEST_F(SmallScene, EightBitTruthNeedsItsScale) {
  describe_as(R"("left": "l.png", "right": "r.png", "gt": "t.png", "ndisp": 16)");
  EXPECT_THROW(loaded(), Error);
}

class RealScenes : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("STEREOPSIS_DATA");
    if (folder == nullptr) GTEST_SKIP() << "STEREOPSIS_DATA is not set; it names the folder with the real scenes";
    data_ = folder;
  }
  LoadedScene load(const std::string& scene) const { return load_scene(find_scenes(data_ / scene).at(0)); }

  fs::path data_;
};

TEST_F(RealScenes, AllAreFoundAndTheOthersPassedOver) {
  Names names;
  for (const DatasetScene& scene : find_scenes(data_)) names.push_back(scene.dataset + "/" + scene.name);
  EXPECT_EQ(names,
            (Names{"kitti2012/000070", "kitti2015/000045", "kitti2015/000062", "middlebury_2005_third/dolls",
                   "middlebury_2006_half/aloe", "middlebury_2014q/adirondack", "middlebury_2014q/motorcycle",
                   "middlebury_v2/cones", "middlebury_v2/teddy", "middlebury_v2/tsukuba", "middlebury_v2/venus"}));
  EXPECT_THROW(find_scenes(data_ / "calibration"), Error);
}

TEST_F(RealScenes, TheirRegionsAreThoseThatAreKnown) {
  const std::map<std::string, Names> expected = {{"kitti2012", {"nonocc", "all"}},
                                                 {"kitti2015", {"nonocc"}},
                                                 {"middlebury_2005_third", {"nonocc", "all"}},
                                                 {"middlebury_2006_half", {"nonocc", "all"}},
                                                 {"middlebury_2014q", {"nonocc", "all"}},
                                                 {"middlebury_v2", {"nonocc", "all", "disc"}}};
  for (const DatasetScene& scene : find_scenes(data_)) {
    SCOPED_TRACE(scene.name);
    const LoadedScene loaded = load_scene(scene);
    EXPECT_EQ(names_of(loaded), expected.at(scene.dataset));
    for (const auto& [name, mask] : regions_of(loaded)) {
      EXPECT_GT(counted(mask), 1000) << name;
      EXPECT_TRUE(is_subset(mask, loaded.regions[loaded.regions.size() > 1 ? 1 : 0].mask)) << name;  // region "all"
      EXPECT_EQ(evaluate(loaded.truth, loaded.truth, mask).all.counted, counted(mask)) << name;
    }
  }
}

TEST_F(RealScenes, ATruthIsWithoutErrorAgainstItself) {
  for (const DatasetScene& scene : find_scenes(data_)) {
    SCOPED_TRACE(scene.name);
    const LoadedScene loaded = load_scene(scene);
    for (const LoadedScene::Region& region : loaded.regions) {
      const Measures m = evaluate(loaded.truth, loaded.truth, region.mask).all;
      for (const double figure : {m.bad05, m.bad10, m.bad20, m.bad40, m.d1, m.out3, m.avgerr, m.rms, m.a90, m.a99})
        EXPECT_EQ(figure, 0);
      EXPECT_EQ(m.density, 100);
    }
  }
}

TEST_F(RealScenes, TruthsLieInTheSearchedRange) {
  for (const DatasetScene& scene : find_scenes(data_)) {
    SCOPED_TRACE(scene.name);
    const LoadedScene loaded = load_scene(scene);
    float least = 1e9f, most = -1e9f;
    for (int y = 0; y < loaded.truth.height(); ++y)
      for (int x = 0; x < loaded.truth.width(); ++x)
        if (const float d = loaded.truth(x, y); std::isfinite(d)) {
          least = std::min(least, d);
          most = std::max(most, d);
        }
    EXPECT_GE(least, 3);
    EXPECT_LE(most, static_cast<float>(scene.disparities));
    EXPECT_GT(most, 0.5f * static_cast<float>(scene.disparities));
  }
}

TEST_F(RealScenes, MasksOfTheVersion2EvaluationCountWhatTheirFilesHold) {
  struct Counts {
    const char* name;
    long long nonocc, all, disc;
  };
  for (const Counts& c : {Counts{"tsukuba", 85438, 87696, 15790}, Counts{"venus", 147513, 150282, 10540},
                          Counts{"teddy", 147651, 165344, 40517}, Counts{"cones", 143926, 163321, 47189}}) {
    SCOPED_TRACE(c.name);
    const auto regions = regions_of(load(std::string("middlebury_v2/") + c.name));
    EXPECT_EQ(counted(regions.at("nonocc")), c.nonocc);
    EXPECT_EQ(counted(regions.at("all")), c.all);
    EXPECT_EQ(counted(regions.at("disc")), c.disc);
    EXPECT_TRUE(is_subset(regions.at("disc"), regions.at("nonocc")));
  }
}

TEST_F(RealScenes, QuarterSizeMasksCountTheNonOccluded) {
  EXPECT_EQ(counted(regions_of(load("middlebury_2014q/adirondack")).at("nonocc")), 325114);
  const auto regions = regions_of(load("middlebury_2014q/motorcycle"));
  EXPECT_EQ(counted(regions.at("nonocc")), 319078);
  EXPECT_EQ(counted(regions.at("all")), 319078 + 41515);
}

// Returns the percentage of the pixels of the region "all" for which two masks agree.
double agreement(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b, const Image<std::uint8_t>& all) {
  long long same = 0;
  for (int y = 0; y < all.height(); ++y)
    for (int x = 0; x < all.width(); ++x) same += all(x, y) == 255 && a(x, y) == b(x, y);
  return 100.0 * static_cast<double>(same) / static_cast<double>(counted(all));
}

TEST_F(RealScenes, CrossCheckingAgreesWithTheOfficialMasks) {
  for (const auto& [name, least] : std::map<std::string, double>{{"venus", 99.75}, {"teddy", 99.1}, {"cones", 98.7}}) {
    const DatasetScene scene = find_scenes(data_ / "middlebury_v2" / name).at(0);
    const LoadedScene loaded = load_scene(scene);
    const auto regions = regions_of(loaded);
    const Image<float> right = read_disparity(scene.truth_right, scene.truth_scale);
    EXPECT_GT(agreement(nonoccluded(loaded.truth, right), regions.at("nonocc"), regions.at("all")), least) << name;
  }
}

TEST_F(RealScenes, KittiTruthOfNonOccludedPixelsIsPartOfTheWhole) {
  const DatasetScene scene = find_scenes(data_ / "kitti2012").at(0);
  const Image<float> part = read_disparity(scene.truth_nonocc, 256);
  const LoadedScene loaded = load_scene(scene);
  const Measures m = evaluate(loaded.truth, part).all;
  EXPECT_EQ(m.counted, counted(regions_of(loaded).at("nonocc")));
  EXPECT_EQ(m.a99, 0);
  EXPECT_LT(m.counted, counted(regions_of(loaded).at("all")));
}

}  // namespace
}  // namespace stereopsis::dataset_test
