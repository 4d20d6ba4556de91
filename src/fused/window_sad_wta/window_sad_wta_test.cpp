#include "fused/window_sad_wta/window_sad_wta.hpp"

#include "support/devices.hpp"
#include "support/selected.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::window_sad_wta_test {
namespace {

using namespace test;
using window_sad_wta::Input;
using window_sad_wta::Parameters;

struct Case {
  Size size;
  DisparityRange range;
  window_sad::Window window;
};

const std::vector<Case> cases = {
    {{1, 1}, {0, 1}, {7, 7}},     {{1, 9}, {0, 4}, {3, 5}},      {{9, 1}, {-2, 5}, {1, 1}},
    {{5, 7}, {0, 33}, {31, 15}},  {{67, 13}, {0, 1}, {3, 3}},    {{67, 13}, {3, 70}, {7, 3}},
    {{17, 6}, {-40, 64}, {5, 1}}, {{131, 17}, {-7, 97}, {1, 9}}, {{40, 21}, {500, 12}, {9, 9}},
    {{61, 23}, {0, 40}, {7, 7}},  {{13, 9}, {0, 20}, {85, 85}},
};

// Pairs of words with bytes up to `most`. The right view is a shifted copy of the left view, with noise.
struct Pair {
  Pair(const Case& c, int most) : left(random_image<std::uint32_t>(c.size, 1, 0, 0x7FFFFFFF)), right(left) {
    std::mt19937 noise(5);
    const int shift = c.range.min + c.range.count / 3;
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x) {
        std::uint32_t word = 0;
        for (int i = 0; i < 32; i += 8) word |= (left(x, y) >> i & 255) % static_cast<unsigned>(most + 1) << i;
        left(x, y) = word;
      }
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x)
        right(x, y) = noise() % 4 == 0 ? left(x, y) ^ (noise() & 1) : left.view().clamped(x + shift, y);
  }
  Image<std::uint32_t> left, right;
};

const wta::Parameters selections[] = {{.border_candidates = true},
                                      {},
                                      {.subpixel = wta::Subpixel::parabola, .uniqueness = 7},
                                      {.subpixel = wta::Subpixel::equiangular, .border_candidates = true}};

// Calls f(parameters, input, expected outputs, whether masks are used) for all cases.
template <class F>
void for_each_case(F&& f) {
  for (const Case& c : cases)
    for (const int most : {3, 255})
      for (const wta::Parameters& select : selections)
        for (const bool masked : {false, true}) {
          SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << ", disparities from "
                                          << c.range.min << ": " << c.range.count << ", window " << c.window.width
                                          << "x" << c.window.height << ", bytes to " << most << ", masked " << masked);
          const Pair pair(c, most);
          PitchedImage<std::uint32_t> left(pair.left.view()), right(pair.right.view());
          PitchedImage<std::uint8_t> mask_left(random_image<std::uint8_t>(c.size, 12, 0, 9).view());
          PitchedImage<std::uint8_t> mask_right(random_image<std::uint8_t>(c.size, 13, 0, 9).view());
          Input<ImageView> in{{left, right, {4 * most}}, {c.range.min, {}, {}}, c.range.count};
          if (masked) in.select = {c.range.min, mask_left, mask_right};
          Volume<std::uint16_t> sums(c.size, c.range.count);
          window_sad::oracle(c.window, in.source, c.range.min, sums);
          Selected expected(c.size);
          wta::oracle(select, in.select, sums, expected.view());
          f(Parameters{c.window, select}, in, left, right, mask_left, mask_right, masked, expected);
        }
}

TEST(WindowSadWta, CpuEqualsOracles) {
  for_each_case([](const Parameters& p, const Input<ImageView>& in, auto&, auto&, auto&, auto&, bool,
                   Selected& expected) {
    const Size size = in.source.left.size();
    for_each_engine([&](Threads& threads) {
      Image<std::uint8_t> memory(
          static_cast<int>(window_sad_wta::workspace_bytes(size, in.disparities, threads.count())), 1);
      for (const bool all : {true, false}) {
        memory.fill(0xA5);
        Selected got(size);
        wta::Output out = got.view();
        if (!all) out.right = out.confidence = {};
        window_sad_wta::cpu(p, in, out,
                            std::as_writable_bytes(std::span(memory.row(0), static_cast<std::size_t>(memory.width()))),
                            threads);
        expect_same(got, expected, all);
      }
    });
  });
}

TEST(WindowSadWta, GpuEqualsOracles) {
  for_each_gpu([](gpu::Queue& queue, gpu::Device& device) {
    for_each_case([&](const Parameters& p, const Input<ImageView>& in, auto& left, auto& right, auto& mask_left,
                      auto& mask_right, bool masked, Selected& expected) {
      const Size size = in.source.left.size();
      const OnDevice<std::uint32_t> left_there(device, queue, left), right_there(device, queue, right);
      const OnDevice<std::uint8_t> mask_left_there(device, queue, mask_left),
          mask_right_there(device, queue, mask_right);
      Input<gpu::View> there{
          {left_there, right_there, in.source.kind}, {in.select.min_disparity, {}, {}}, in.disparities};
      if (masked) there.select = {in.select.min_disparity, mask_left_there, mask_right_there};
      const std::size_t bytes = window_sad_wta::gpu_workspace_bytes(size, in.disparities);
      // Runs once on the whole image, and once in bands of a few rows.
      for (const int bands : {1, 3}) {
        const gpu::Buffer memory = poisoned(device, queue, bytes / size.height * ((size.height + bands - 1) / bands));
        Selected got(size);
        SelectedOnDevice got_there(device, queue, got);
        window_sad_wta::gpu(p, there, got_there.view(), memory.span(), queue);
        got_there.download();
        expect_same(got, expected);
      }
    });
  });
}

}  // namespace
}  // namespace stereopsis::window_sad_wta_test
