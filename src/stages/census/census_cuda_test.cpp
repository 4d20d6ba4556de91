#include "stages/census/census.hpp"
#include "support/recording_queue.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::census_cuda_test {
namespace {

using namespace test;

TEST(CensusLaunch, HasLowPiecesWhereHighOnesLeaveMultiprocessorsIdle) {
  const auto launch = [](const gpu::Properties& device, Size size) {
    RecordingQueue queue(device);
    const auto grey = absent_image<const std::uint8_t>(size);
    const auto words = absent_image<std::uint64_t>(size);
    census::gpu<std::uint8_t, std::uint64_t>({}, std::array{grey, grey}, {words, words}, queue);
    EXPECT_TRUE(queue.is_possible());
    return queue.last("census");
  };
  EXPECT_EQ(launch(h100, {450, 375}), "low_w9x7: 8 × 94 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {640, 480}), "w9x7: 10 × 30 blocks of 128 × 1");
  EXPECT_EQ(launch(h100, {1280, 960}), "w9x7: 20 × 60 blocks of 128 × 1");
  EXPECT_EQ(launch(geforce, {450, 375}), "w9x7: 8 × 24 blocks of 128 × 1");
  EXPECT_EQ(launch(orin, {64, 40}), "low_w9x7: 2 × 10 blocks of 128 × 1");
}

}  // namespace
}  // namespace stereopsis::census_cuda_test
