#include "stages/wta/wta.hpp"

#include "support/cost_volumes.hpp"
#include "support/devices.hpp"
#include "support/stage_test.hpp"

namespace stereopsis::wta_test {
namespace {

using namespace test;

struct Result {
  explicit Result(Size size) : disparity(size), validity(size), right(size), confidence(size) {}
  wta::Output output(bool with_right) {
    return {disparity, validity, with_right ? right.view() : ImageView<float>(), confidence};
  }
  Image<float> disparity;
  Image<std::uint8_t> validity;
  Image<float> right, confidence;
};

void expect_same(Result& got, Result& expected, bool with_right) {
  EXPECT_TRUE(same_bits(got.disparity.view(), expected.disparity));
  EXPECT_TRUE(same_bits(got.validity.view(), expected.validity));
  EXPECT_TRUE(same_bits(got.confidence.view(), expected.confidence));
  if (with_right) {
    EXPECT_TRUE(same_bits(got.right.view(), expected.right));
  }
}

struct Case {
  Size size;
  int disparities, min_disparity;
  wta::Parameters p;
  wta::Reference reference;
  bool masked;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const Size size : awkward_sizes)
    for (const int disparities : {1, 5, 37}) {
      list.push_back({size, disparities, 0, {}, wta::Reference::left, false});
      list.push_back({size, disparities, -7, {wta::Subpixel::parabola, 10, false}, wta::Reference::right, true});
      list.push_back({size, disparities, 3, {wta::Subpixel::equiangular, 0, true}, wta::Reference::left, true});
      list.push_back({size, disparities, -disparities, {}, wta::Reference::right, false});
    }
  return list;
}

template <class T>
struct Input {
  explicit Input(const Case& c) : costs(c.size, c.disparities) {
    std::mt19937 generator(3);
    // Few distinct values result in ties. Some values are below 0 or mark an absent candidate.
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x)
        for (int k = 0; k < c.disparities; ++k) costs(x, y, k) = cost(generator, y % 3 == 0);
    if (!c.masked) return;
    mask_left = random_image<std::uint8_t>(c.size, 1, 0, 5);
    mask_right = random_image<std::uint8_t>(c.size, 2, 0, 2);
  }
  static T cost(std::mt19937& generator, bool few) {
    if constexpr (std::is_same_v<T, float>)
      return generator() % 7 == 0
                 ? (few ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
             : few ? static_cast<float>(generator() % 9)
                   : 0.1f * static_cast<float>(generator() % 100) - 0.5f;
    else if constexpr (sizeof(T) == 1)
      return static_cast<T>(few ? generator() % 9 : generator() % 256);
    else
      return static_cast<T>(generator() % 7 == 0 ? wta::no_cost : few ? generator() % 9 : generator() % wta::no_cost);
  }
  Volume<T> costs;
  Image<std::uint8_t> mask_left, mask_right;
};

template <class T>
void expect_cpu_equals_oracle() {
  for (const Case& c : cases()) {
    const Input<T> in(c);
    const bool with_right = c.reference == wta::Reference::left;
    const wta::Input input{c.min_disparity, in.mask_left, in.mask_right};
    Result expected(c.size);
    wta::oracle(c.p, input, in.costs.view(), expected.output(with_right), c.reference);
    for_each_engine([&](Threads& threads) {
      Result got(c.size);
      got.disparity.fill(-3);
      got.validity.fill(9);
      if constexpr (std::is_same_v<T, float>) {
        wta::cpu(c.p, input, in.costs.view(), got.output(with_right), threads, c.reference);
      } else {
        Scratch scratch(wta::scratch_bytes(c.size.width, c.disparities, threads.count()));
        wta::cpu(c.p, input, in.costs.view(), got.output(with_right), scratch.span(), threads, c.reference);
      }
      expect_same(got, expected, with_right);
    });
  }
}

template <class T>
void expect_gpu_equals_oracle() {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Case& c : cases()) {
      const Input<T> in(c);
      const bool with_right = c.reference == wta::Reference::left;
      Result expected(c.size);
      wta::oracle(c.p, {c.min_disparity, in.mask_left, in.mask_right}, in.costs.view(), expected.output(with_right),
                  c.reference);

      PitchedImage<float> disparity(c.size), right(c.size), confidence(c.size);
      PitchedImage<std::uint8_t> validity(c.size), left_mask(c.size), right_mask(c.size);
      if (c.masked) {
        left_mask = PitchedImage<std::uint8_t>(in.mask_left.view());
        right_mask = PitchedImage<std::uint8_t>(in.mask_right.view());
      }
      OnDevice<float> disparity_there(device, queue, disparity), right_there(device, queue, right),
          confidence_there(device, queue, confidence);
      OnDevice<std::uint8_t> validity_there(device, queue, validity);
      const OnDevice<std::uint8_t> left_there(device, queue, left_mask), right_mask_there(device, queue, right_mask);
      const gpu::View<const std::uint8_t> none;
      const VolumeOnDevice<T> costs_there(device, queue, in.costs.view());
      const gpu::Volume<const T> costs = costs_there.volume();
      const wta::InputOf<gpu::View> input{c.min_disparity, c.masked ? left_there : none,
                                          c.masked ? right_mask_there : none};
      const wta::OutputOf<gpu::View> output{disparity_there.view(), validity_there.view(),
                                            with_right ? right_there.view() : gpu::View<float>(),
                                            confidence_there.view()};
      wta::gpu(c.p, input, costs, output, queue, c.reference);
      disparity_there.download();
      validity_there.download();
      right_there.download();
      confidence_there.download();
      EXPECT_TRUE(same_bits(disparity.view(), expected.disparity));
      EXPECT_TRUE(same_bits(validity.view(), expected.validity));
      EXPECT_TRUE(same_bits(confidence.view(), expected.confidence));
      if (with_right) {
        EXPECT_TRUE(same_bits(right.view(), expected.right));
      }
    }
  });
}

TEST(WtaOfFloats, CpuEqualsOracle) { expect_cpu_equals_oracle<float>(); }
TEST(WtaOfFloats, GpuEqualsOracle) { expect_gpu_equals_oracle<float>(); }
TEST(WtaOfBytes, CpuEqualsOracle) { expect_cpu_equals_oracle<std::uint8_t>(); }
TEST(WtaOfBytes, GpuEqualsOracle) { expect_gpu_equals_oracle<std::uint8_t>(); }
TEST(WtaOfSums, CpuEqualsOracle) { expect_cpu_equals_oracle<std::uint16_t>(); }
TEST(WtaOfSums, GpuEqualsOracle) { expect_gpu_equals_oracle<std::uint16_t>(); }

TEST(WtaOracle, TheRightReferenceIsTheLeftOneMirrored) {
  // The costs of the right view's pixels for −d are the mirror image of the costs of the left view.
  const Size size{9, 2};
  Volume<float> left(size, 4), right(size, 4);
  std::mt19937 generator(1);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 9; ++x)
      for (int k = 0; k < 4; ++k) right(8 - x, y, 3 - k) = left(x, y, k) = static_cast<float>(generator() % 3);
  Result a(size), b(size);
  wta::oracle({}, {1, {}, {}}, left.view(), a.output(false));
  wta::oracle({}, {-4, {}, {}}, right.view(), b.output(false), wta::Reference::right);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 9; ++x) {
      EXPECT_EQ(a.validity(x, y), b.validity(8 - x, y));
      if (a.validity(x, y) == 0) {
        EXPECT_EQ(a.disparity(x, y), b.disparity(8 - x, y));
      }
    }
}

}  // namespace
}  // namespace stereopsis::wta_test
