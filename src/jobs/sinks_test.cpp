// Sinks: the names of files, the checks before the first pair, and the files that are written.
#include "jobs/sinks.hpp"

#include <gtest/gtest.h>

#include "stereopsis/disparity.hpp"
#include "support/files.hpp"
#include "support/quiet_front_end.hpp"

namespace stereopsis::sinks_test {
namespace {

namespace fs = std::filesystem;
using namespace jobs;
using test::refuses;

class JobSinks : public testing::Test {
 protected:
  JobSinks() {
    const Image<std::uint8_t> picture({4, 2}, 1, 100);
    write_image(folder / "left0.png", picture);
    write_image(folder / "left1.png", picture);
    result.left.disparity = Image<float>({4, 2}, 1, 3);
    result.left.validity = Image<std::uint8_t>({4, 2}, 1, 0);
    frame.left = frame.right = picture;
  }

  sources::Frames one() const { return sources::find_frames(folder / "left0.png", "the left image"); }
  sources::Frames two() const { return sources::find_frames(folder / "left%d.png", "the left image"); }

  test::TemporaryFolder folder;
  test::QuietFrontEnd front_end;
  CallFiles taken;
  SinkSettings settings;
  InputFrame frame;
  FrameResult result;
};

TEST_F(JobSinks, AFrameOfASequenceHasTheNameOfItsImageInAFolderThatIsCreated) {
  settings.files[ResultFile::disparity] = folder / "new" / "maps";
  settings.files[ResultFile::validity_bits] = folder / "v%02d.png";
  const sources::Frames left = two();
  const Sinks sinks(settings, left, taken, front_end);
  EXPECT_EQ(sinks.files(1)[ResultFile::disparity], folder / "new" / "maps" / "left1.pfm");
  EXPECT_EQ(sinks.files(1)[ResultFile::validity_bits], folder / "v01.png");
  EXPECT_EQ(sinks.sidecar(), folder / "new" / "maps" / ".stereopsis.json");
  sinks.check({0, 8});
  sinks.create_folders();
  EXPECT_EQ(sinks.write(1, frame, result, {.region = {}, .range = {0, 8}, .rig = {}, .registered = {}}), 0);
  EXPECT_EQ(read_disparity(folder / "new" / "maps" / "left1.pfm")(0, 0), 3);
  EXPECT_EQ(sinks.remove(1).size(), 2U);
  EXPECT_TRUE(sinks.remove(1).empty());
}

TEST_F(JobSinks, NoResultReplacesAnInputOrAnotherResult) {
  taken.reads(folder / "left0.png", "the left image");
  settings.files[ResultFile::validity_bits] = folder / "left0.png";
  const sources::Frames left = one();
  const auto make = [&] { Sinks(settings, left, taken, front_end); };
  EXPECT_TRUE(refuses(make, ErrorCategory::call, "<validity>"));
  EXPECT_TRUE(refuses(make, ErrorCategory::call, "is also the left image, which is an input"));
  settings.files[ResultFile::validity_bits] = settings.files[ResultFile::confidence] = folder / "a.png";
  EXPECT_TRUE(refuses(make, ErrorCategory::call, "is also <confidence>"));
}

TEST_F(JobSinks, AFormatMustHoldItsValues) {
  settings.files[ResultFile::disparity] = folder / "d.png";
  const sources::Frames left = one();
  {
    CallFiles fresh;
    const Sinks sinks(settings, left, fresh, front_end);
    EXPECT_TRUE(sinks.holds_no_sign());
    sinks.check({0, 8});
    EXPECT_TRUE(refuses([&] { sinks.check({-4, 8}); }, ErrorCategory::call, "d.png"));
  }
  settings.files[ResultFile::disparity] = folder / "d.pfm";
  settings.files[ResultFile::cloud] = folder / "c.png";
  const Sinks sinks(settings, left, taken, front_end);
  EXPECT_FALSE(sinks.holds_no_sign());
  EXPECT_TRUE(refuses([&] { sinks.check({0, 8}); }, ErrorCategory::call, "<cloud>"));
}

TEST_F(JobSinks, AVideoGetsThePicturesOfAllFramesAndCannotBeResumed) {
  struct Counted : VideoFile {
    explicit Counted(int& all) : frames(all) {}
    void append(ImageView<const std::uint8_t> picture) override { frames += picture.channels == 3; }
    void finish() override { frames += 100; }
    int& frames;
  };
  int frames = 0;
  double rate = 0;
  settings.files[ResultFile::colour] = folder / "c.mp4";
  settings.create_video = [&](const fs::path&, double given) {
    rate = given;
    return std::make_shared<Counted>(frames);
  };
  const sources::Frames left = two(), single = one();
  EXPECT_TRUE(refuses([&] { Sinks(settings, single, taken, front_end); }, ErrorCategory::call, "is a video"));
  const Sinks sinks(settings, left, taken, front_end);
  EXPECT_TRUE(sinks.has_videos());
  for (const std::size_t i : {0, 1}) sinks.write(i, frame, result, {{}, {0, 8}, {}, {}});
  sinks.finish();
  EXPECT_EQ(frames, 102);
  EXPECT_EQ(rate, 10);
  settings.resumes = true;
  CallFiles fresh;
  EXPECT_TRUE(refuses([&] { Sinks(settings, left, fresh, front_end); }, ErrorCategory::call, "<resume>"));
}

}  // namespace
}  // namespace stereopsis::sinks_test
