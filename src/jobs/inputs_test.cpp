// Inputs: pairs that are found and read, and frames that must be like the first one.
#include "jobs/inputs.hpp"

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stereopsis::inputs_test {
namespace {

using namespace jobs;
using test::contains, test::refuses;

class JobInputs : public test::SceneFolder {
 protected:
  static InputSettings of(const std::filesystem::path& left, const std::filesystem::path& right) {
    InputSettings settings;
    settings.left = left, settings.right = right;
    return settings;
  }
  InputSettings sequence() const { return of(folder / "left%d.png", folder / "right%d.png"); }
  InputSettings pair() const { return of(file("left", 0), file("right", 0)); }
};

TEST_F(JobInputs, ImagesWithoutAPartnerAreNamedOrSkipped) {
  write_pair(0);
  write_pair(1);
  std::filesystem::remove(file("right", 0));
  InputSettings settings = sequence();
  EXPECT_TRUE(refuses([&] { Inputs(settings, front_end); }, ErrorCategory::call, "<keep_going>"));
  settings.keep_going = true;
  const Inputs inputs(settings, front_end);
  EXPECT_EQ(inputs.left().size(), 1U);
  ASSERT_EQ(front_end.warnings.size(), 1U);
  EXPECT_TRUE(contains(front_end.warnings[0], "left0.png")) << front_end.warnings[0];
}

TEST_F(JobInputs, AFrameUnlikeTheFirstIsRefusedWithBothSizes) {
  write_pair(0);
  write_pair(1, {100, 90});
  const InputSettings settings = sequence();
  Inputs inputs(settings, front_end);
  inputs.read_first();
  EXPECT_TRUE(refuses([&] { inputs.read(1); }, ErrorCategory::call, "100×90"));
  EXPECT_TRUE(refuses([&] { inputs.read(1); }, ErrorCategory::call, "200×140"));
}

TEST_F(JobInputs, TheFirstFrameIsTheFirstThatCanBeReadIfFailuresAreSurvived) {
  write_pair(0);
  write_pair(1);
  test::put(file("left", 0), "no picture");
  InputSettings settings = sequence();
  EXPECT_THROW(Inputs(settings, front_end).read_first(), Error);
  settings.keep_going = true;
  Inputs inputs(settings, front_end);
  EXPECT_EQ(inputs.read_first().left.size(), size);
  EXPECT_EQ(inputs.first_index(), 1U);
}

TEST_F(JobInputs, OneColourImageOfAPairIsMatchedInGreyWithARemark) {
  write_pair(0);
  const AnyImage grey = read_image(file("left", 0));
  write_pair(0, size, 3);
  write_image(file("left", 0), grey.view());
  const InputSettings settings = pair();
  Inputs inputs(settings, front_end);
  const InputFrame frame = inputs.read_first();
  EXPECT_EQ(frame.right.channels(), 1);
  ASSERT_EQ(front_end.remarks.size(), 1U);
  EXPECT_TRUE(contains(front_end.remarks[0], "both are matched in grey")) << front_end.remarks[0];
}

TEST_F(JobInputs, CamerasAboveEachOtherHaveRowsAndColumnsExchanged) {
  write_pair(0);
  InputSettings settings = pair();
  settings.vertical = true;
  Inputs inputs(settings, front_end);
  const InputFrame frame = inputs.read_first();
  EXPECT_EQ(inputs.image_size(), (Size{size.height, size.width}));
  const AnyImage stored = read_image(file("left", 0));
  EXPECT_EQ(std::get<Image<std::uint8_t>>(frame.left.pixels)(3, 7), std::get<Image<std::uint8_t>>(stored.pixels)(7, 3));
}

TEST_F(JobInputs, AMaskOfAnotherSizeIsRefused) {
  write_pair(0);
  write_image(folder / "mask.png", Image<std::uint8_t>({20, 10}, 1, 255));
  InputSettings settings = pair();
  settings.mask_left = folder / "mask.png";
  Inputs inputs(settings, front_end);
  EXPECT_TRUE(refuses([&] { inputs.read_first(); }, ErrorCategory::call, "mask.png is 20×10"));
}

}  // namespace
}  // namespace stereopsis::inputs_test
