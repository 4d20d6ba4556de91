#include "fused/zncc_wta/zncc_wta.hpp"

#include <cstring>

#include "support/devices.hpp"
#include "support/map_test.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::zncc_wta_test {
namespace {

using namespace test;

struct Case {
  Size size;
  zncc_wta::Parameters p;
  int disparities, min_disparity, bits;
  bool masks = false;
};

std::vector<Case> cases() {
  const wta::Parameters plain, fine{.subpixel = wta::Subpixel::parabola, .uniqueness = 5, .border_candidates = true};
  return {{{1, 1}, {{3}, plain}, 1, 0, 8},
          {{1, 9}, {{5}, plain}, 3, 0, 8},
          {{9, 1}, {{3}, fine}, 7, -3, 8, true},
          {{17, 6}, {{9}, plain}, 33, -4, 8, true},
          {{67, 13}, {{9}, fine}, 20, 0, 8},
          {{67, 13}, {{7}, plain}, 65, 2, 8, true},
          {{67, 13}, {{31}, plain}, 10, 0, 8},
          {{40, 21}, {{33}, plain}, 10, 0, 8},
          {{131, 37}, {{21}, plain}, 40, 0, 8, true},
          {{67, 13}, {{9}, plain}, 40, 0, 16},
          {{45, 12}, {{101}, fine}, 5, -2, 16},
          {{45, 12}, {{101}, fine}, 5, -2, 8},
          {{67, 37}, {{33}, plain}, 40, 0, 8, true},
          {{17, 6}, {{3}, plain}, 9, 100, 8},
          {{17, 6}, {{3}, plain}, 9, -100, 16},
          {{256, 9}, {{5}, fine}, 100, 0, 16, true}};
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.size.width << "x" << c.size.height << ", window " << c.p.zncc.window << ", " << c.disparities
             << " from " << c.min_disparity << ", " << c.bits << " bits";
}

// A pair with noise, a flat region, and extreme values. The right view is the left view shifted by 2.
struct Pair {
  explicit Pair(const Case& c)
      : left(random_image<std::int16_t>(c.size, 5, low(c), -low(c) - 1)),
        right(random_image<std::int16_t>(c.size, 6, low(c), -low(c) - 1)),
        mask_left(random_image<std::uint8_t>(c.size, 7, 0, 3)),
        mask_right(random_image<std::uint8_t>(c.size, 8, 0, 3)) {
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x) {
        if (x >= c.size.width / 2) left(x, y) = static_cast<std::int16_t>(y % 2 == 0 ? low(c) : -low(c) - 1);
        if (x < c.size.width / 4) left(x, y) = 17;
        if (x + 2 < c.size.width) right(x, y) = static_cast<std::int16_t>((left(x + 2, y) + right(x, y) / 8) / 2);
      }
  }
  static int low(const Case& c) { return -zncc::largest_sample(c.bits); }

  Image<std::int16_t> left, right;
  Image<std::uint8_t> mask_left, mask_right;
};

struct Result {
  Image<float> disparity, right, confidence;
  Image<std::uint8_t> validity;

  explicit Result(Size size) : disparity(size), right(size), confidence(size), validity(size) {}
  wta::Output out() { return {disparity, validity, right, confidence}; }
};

Result expected_of(const Case& c, const Pair& pair) {
  Result result(c.size);
  Volume<std::uint16_t> costs(c.size, c.disparities);
  zncc::oracle(c.p.zncc, pair.left, pair.right, c.min_disparity, costs);
  const ImageView<const std::uint8_t> none;
  wta::oracle(c.p.select,
              {c.min_disparity, c.masks ? pair.mask_left.view() : none, c.masks ? pair.mask_right.view() : none}, costs,
              result.out());
  zncc::mark_flat_oracle(c.p.zncc, pair.left, result.validity);
  return result;
}

void expect_equal(const Result& expected, ImageView<float> disparity, ImageView<std::uint8_t> validity,
                  ImageView<float> right, ImageView<float> confidence) {
  EXPECT_TRUE(same_bits(validity, expected.validity)) << "validity";
  EXPECT_TRUE(same_bits(disparity, expected.disparity)) << "disparity";
  EXPECT_TRUE(same_bits(right, expected.right)) << "right";
  EXPECT_TRUE(same_bits(confidence, expected.confidence)) << "confidence";
}

TEST(ZnccWta, CpuEqualsTheOracles) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Pair pair(c);
    const Result expected = expected_of(c, pair);
    PitchedImage<std::int16_t> left(pair.left.view()), right(pair.right.view());
    PitchedImage<std::uint8_t> mask_left(pair.mask_left.view()), mask_right(pair.mask_right.view());
    for_each_engine([&](Threads& threads) {
      std::vector<std::max_align_t> memory(
          zncc_wta::workspace_bytes(c.p, c.size, c.bits, c.disparities, threads.count()) / sizeof(std::max_align_t) +
          8);
      auto* start = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
      for (int run = 0; run < 2; ++run) {
        std::memset(static_cast<void*>(memory.data()), 0xA5, memory.size() * sizeof(std::max_align_t));
        PitchedImage<float> disparity(c.size), right_map(c.size), confidence(c.size);
        PitchedImage<std::uint8_t> validity(c.size);
        zncc_wta::Input<> in{left, right, c.bits, {c.min_disparity, {}, {}}, c.disparities};
        if (c.masks) in.select = {c.min_disparity, mask_left, mask_right};
        zncc_wta::cpu(c.p, in, {disparity, validity, right_map, confidence},
                      {start, memory.size() * sizeof(std::max_align_t) - 64}, threads);
        expect_equal(expected, disparity, validity, right_map, confidence);
        EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact() && right_map.guard_intact() &&
                    confidence.guard_intact());
      }
    });
  }
}

TEST(ZnccWta, GpuEqualsTheOracles) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Case& c : cases()) {
      SCOPED_TRACE(testing::Message() << c);
      const Pair pair(c);
      const Result expected = expected_of(c, pair);
      PitchedImage<std::int16_t> left(pair.left.view()), right(pair.right.view());
      PitchedImage<std::uint8_t> mask_left(pair.mask_left.view()), mask_right(pair.mask_right.view());
      const OnDevice<std::int16_t> left_there(device, queue, left), right_there(device, queue, right);
      const OnDevice<std::uint8_t> mask_left_there(device, queue, mask_left),
          mask_right_there(device, queue, mask_right);
      const gpu::Buffer memory = poisoned(device, queue, zncc_wta::gpu_workspace_bytes(c.p, c.size, c.disparities));
      for (int run = 0; run < 2; ++run) {
        PitchedImage<float> disparity(c.size), right_map(c.size), confidence(c.size);
        PitchedImage<std::uint8_t> validity(c.size);
        OnDevice<float> disparity_there(device, queue, disparity), right_map_there(device, queue, right_map),
            confidence_there(device, queue, confidence);
        OnDevice<std::uint8_t> validity_there(device, queue, validity);
        zncc_wta::Input<gpu::View> in{left_there, right_there, c.bits, {c.min_disparity, {}, {}}, c.disparities};
        if (c.masks) in.select = {c.min_disparity, mask_left_there, mask_right_there};
        zncc_wta::gpu(c.p, in, {disparity_there, validity_there, right_map_there, confidence_there}, memory.span(),
                      queue);
        disparity_there.download();
        validity_there.download();
        right_map_there.download();
        confidence_there.download();
        expect_equal(expected, disparity, validity, right_map, confidence);
        EXPECT_TRUE(disparity.guard_intact() && validity.guard_intact() && right_map.guard_intact() &&
                    confidence.guard_intact());
      }
    }
  });
}

}  // namespace
}  // namespace stereopsis::zncc_wta_test
