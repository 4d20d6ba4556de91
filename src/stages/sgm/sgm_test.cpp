#include "stages/sgm/sgm.hpp"

#include "support/cost_volumes.hpp"

namespace stereopsis::sgm_test {
namespace {

using namespace test;

// Returns few distinct costs, so that ties occur, and some costs above the largest cost.
template <class T>
Volume<T> some_costs(Size size, int disparities, int max_cost) {
  return random_volume<T>(size, disparities, 7, 0, max_cost + (max_cost + 9) / 10);
}

// Path costs in the rows above and below the stripe.
struct SomeEdges {
  SomeEdges(const sgm::Parameters& p, int width, int disparities)
      : above(random_path_costs({width, sgm::kinds_of(p)}, disparities, 12, p.p2).view()),
        below(random_path_costs({width, sgm::kinds_of(p)}, disparities, 13, p.p2).view()) {}

  PitchedImage<std::uint16_t> above, below;
};

template <class T>
void expect_equal_oracle(const sgm::Parameters& p, int max_cost, const Volume<T>& costs, SomeEdges* edges) {
  const Size size{costs.view().width, costs.view().height};
  const int disparities = costs.view().disparities;
  PitchedImage<std::uint8_t> guide(random_image<std::uint8_t>(size, 11, 0, 60).view());
  const sgm::Edges given = edges == nullptr ? sgm::Edges() : sgm::Edges{edges->above, edges->below};
  Volume<std::uint16_t> expected(size, disparities);
  sgm::oracle(p, costs.view(), max_cost, guide, given, expected.view());
  for_each_engine([&](Threads& threads) {
    for (int run = 0; run < 2; ++run) {
      Scratch scratch(sgm::scratch_bytes<T>(p, max_cost, size, disparities, threads.count()));
      Volume<std::uint16_t> got = poisoned_volume<std::uint16_t>(size, disparities);
      sgm::cpu(p, costs.view(), max_cost, guide, given, got.view(), scratch.span(), threads);
      EXPECT_TRUE(same_cells(got, expected));
    }
  });
  for_each_usable_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    const VolumeOnDevice<T> costs_there(device, queue, costs.view());
    const OnDevice<std::uint8_t> guide_there(device, queue, guide);
    VolumeOnDevice<std::uint16_t> sums(device, queue, size, disparities);
    const gpu::Buffer scratch = poisoned(device, queue, sgm::gpu_scratch_bytes(p, sizeof(T), size, disparities) + 256);
    const auto run = [&](const sgm::EdgesOf<gpu::View>& there) {
      sgm::gpu(p, gpu::Volume<const T>(costs_there.volume()), max_cost, guide_there, there, sums.volume(),
               scratch.span(), queue);
    };
    if (edges == nullptr) {
      run({});
    } else {
      const OnDevice<std::uint16_t> above(device, queue, edges->above), below(device, queue, edges->below);
      run({above, below});
      queue.wait();
    }
    EXPECT_TRUE(same_cells(sums.download(), expected));
  });
}

template <class T>
void expect_equal_oracle(const sgm::Parameters& p, int max_cost, Size size, int disparities) {
  SCOPED_TRACE(testing::Message() << p.paths << " paths, " << size.width << "x" << size.height << "x" << disparities
                                  << ", costs up to " << max_cost);
  const Volume<T> costs = some_costs<T>(size, disparities, max_cost);
  expect_equal_oracle(p, max_cost, costs, nullptr);
  SomeEdges edges(p, size.width, disparities);
  expect_equal_oracle(p, max_cost, costs, &edges);
}

template <class T>
void expect_all_equal_oracle(const sgm::Parameters& p, int max_cost) {
  for (const Size size : awkward_sizes)
    for (const int disparities : {1, 4, 37}) expect_equal_oracle<T>(p, max_cost, size, disparities);
  for (const int disparities : {63, 64, 65, 128, 130}) expect_equal_oracle<T>(p, max_cost, {37, 19}, disparities);
}

TEST(SgmOfVolumes, PathsOf8BitsEqualTheOracle) {
  for (const int paths : {4, 8}) expect_all_equal_oracle<std::uint8_t>({.paths = paths, .p1 = 10, .p2 = 60}, 80);
  skip_without_gpu();
}

TEST(SgmOfVolumes, PathsOf16BitsEqualTheOracle) {
  for (const int paths : {4, 8}) {
    expect_all_equal_oracle<std::uint8_t>({.paths = paths, .p1 = 100, .p2 = 2000}, 231);
    expect_all_equal_oracle<std::uint16_t>({.paths = paths, .p1 = 100, .p2 = 700}, 5000);
  }
  skip_without_gpu();
}

TEST(SgmOfVolumes, AdaptivePenaltiesEqualTheOracle) {
  for (const int paths : {4, 8}) {
    const sgm::Parameters p{.paths = paths, .p1 = 10, .p2 = 90, .gradient = 8, .p2_min = 20};
    expect_all_equal_oracle<std::uint8_t>(p, 64);
    expect_all_equal_oracle<std::uint16_t>(p, 30);
  }
  skip_without_gpu();
}

// Tests the largest costs and penalties whose sums fit in 16 bits.
TEST(SgmOfVolumes, TheLargestSumsEqualTheOracle) {
  for (const int p2 : {0, 60, 4095}) {
    const sgm::Parameters p{.p1 = p2, .p2 = p2};
    expect_equal_oracle<std::uint16_t>(p, sgm::most_cost(p), {40, 17}, 70);
    EXPECT_NO_THROW(sgm::check(p, sgm::most_cost(p)));
    EXPECT_THROW(sgm::check(p, sgm::most_cost(p) + 1), Error);
  }
  skip_without_gpu();
}

TEST(SgmOfVolumes, WideRangesEqualTheOracle) {
  const sgm::Parameters p{.p1 = 5, .p2 = 40}, adaptive{.p1 = 10, .p2 = 90, .gradient = 8, .p2_min = 20};
  for (const int disparities : {200, 257, 512, 1024, 1025, 2100}) {
    expect_equal_oracle<std::uint8_t>(p, 120, {13, 7}, disparities);
    expect_equal_oracle<std::uint16_t>(adaptive, 300, {7, 13}, disparities);
  }
  skip_without_gpu();
}

}  // namespace
}  // namespace stereopsis::sgm_test
