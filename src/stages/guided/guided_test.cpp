#include "stages/guided/guided.hpp"

#include <cmath>

#include "support/devices.hpp"
#include "support/stage_test.hpp"
#include "support/targets.hpp"

namespace stereopsis::guided_test {
namespace {

using namespace test;
using guided::Rows;

// Views a volume as an image with rows of cells.
template <class T>
ImageView<T> flat(VolumeView<T> v) {
  return {v.data, v.width * v.disparities, v.height, 1, v.row_pitch};
}

struct Case {
  Size size;
  int channels, disparities;
  guided::Parameters p;
  Rows rows;
};

struct Input {
  explicit Input(const Case& c, int step = 1)
      : guide(random_image<std::uint8_t>(c.size, 3, 0, 255, c.channels)), costs(c.size, c.disparities) {
    std::mt19937 generator(5);
    for (int y = 0; y < c.size.height; ++y)
      for (int x = 0; x < c.size.width; ++x) {
        // The image has flat regions, and regions with the extreme values.
        for (int i = 0; i < c.channels; ++i)
          if (x / 5 % 3 == 0)
            guide(x, y, i) = static_cast<std::uint8_t>(40 * i + y / 4 * step);
          else if (x / 5 % 3 == 1)
            guide(x, y, i) = generator() % 2 != 0 ? 255 : 0;
        for (int k = 0; k < c.disparities; ++k)
          costs(x, y, k) = static_cast<std::uint8_t>(k % 3 == 0 ? generator() % 2 * 255 : generator() % 63);
      }
  }
  Image<std::uint8_t> guide;
  Volume<std::uint8_t> costs;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const Size size : awkward_sizes)
    for (const int channels : {1, 3}) list.push_back({size, channels, 5, {.radius = 2}, {0, size.height}});
  list.push_back({{40, 30}, 3, 1, {.radius = 9}, {0, 30}});
  list.push_back({{40, 30}, 3, 16, {.radius = 9}, {7, 20}});
  list.push_back({{40, 30}, 1, 37, {.radius = 4}, {29, 30}});
  list.push_back({{40, 30}, 3, 33, {.radius = 64, .epsilon = 0.1}, {0, 1}});
  list.push_back({{33, 61}, 3, 18, {.radius = 1, .epsilon = 65025}, {3, 59}});
  return list;
}

void trace(const Case& c, auto&& f) {
  SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << "x" << c.disparities << ", " << c.channels
                                  << " channels, radius " << c.p.radius << ", rows " << c.rows.first << " to "
                                  << c.rows.last);
  f();
}

TEST(Guided, CpuEqualsOracle) {
  for (const Case& c : cases())
    trace(c, [&] {
      Input in(c);
      PitchedImage<std::uint8_t> guide(in.guide.view());
      const Size size{c.size.width, c.rows.count()};
      Volume<float> expected(size, c.disparities);
      guided::oracle(c.p, guide, in.costs.view(), c.rows, expected.view());
      for_each_engine([&](Threads& threads) {
        Image<std::byte> scratch(static_cast<int>(guided::scratch_bytes(c.p, c.size, c.channels, threads.count())), 1);
        for (int run = 0; run < 2; ++run) {
          scratch.fill(std::byte{0xA5});
          Volume<float> got(size, c.disparities);
          std::fill_n(got.view().data, flat(got.view()).width * size.height, -1e30f);
          guided::cpu(c.p, guide, in.costs.view(), c.rows, got.view(),
                      {scratch.row(0), static_cast<std::size_t>(scratch.width())}, threads);
          EXPECT_TRUE(same_bits(flat(got.view()), ImageView<const float>(flat(expected.view()))));
        }
      });
    });
}

TEST(Guided, GpuEqualsOracle) {
  for_each_gpu([&](gpu::Queue& queue, gpu::Device& device) {
    for (const Case& c : cases())
      trace(c, [&] {
        Input in(c);
        PitchedImage<std::uint8_t> guide(in.guide.view());
        const Size size{c.size.width, c.rows.count()};
        Volume<float> expected(size, c.disparities), got(size, c.disparities);
        guided::oracle(c.p, guide, in.costs.view(), c.rows, expected.view());

        const OnDevice<std::uint8_t> guide_there(device, queue, guide);
        const auto costs = flat(in.costs.view());
        const gpu::Buffer cost_cells(device, static_cast<std::size_t>(costs.width) * costs.height);
        queue.upload<std::uint8_t>(
            costs, gpu::View<std::uint8_t>{cost_cells.handle(), 0, costs.width, costs.height, 1, costs.pitch});
        const auto out = flat(got.view());
        const gpu::Buffer cells = poisoned(device, queue, sizeof(float) * out.width * out.height);
        const gpu::Buffer scratch =
            poisoned(device, queue, guided::gpu_scratch_bytes(c.p, c.size, c.channels, c.disparities));
        for (int run = 0; run < 2; ++run) {
          guided::gpu(c.p, guide_there, {{cost_cells.handle(), 0}, c.size.width, c.size.height, c.disparities}, c.rows,
                      {{cells.handle(), 0}, size.width, size.height, c.disparities}, scratch.span(), queue);
          queue.download(gpu::View<float>{cells.handle(), 0, out.width, out.height, 1, out.pitch}, out);
          queue.wait();
          EXPECT_TRUE(same_bits(out, ImageView<const float>(flat(expected.view()))));
        }
      });
  });
}

// The definition in double precision: q = a · I + b, the mean of the models of all windows that contain the pixel.
class Exactly {
 public:
  Exactly(const guided::Parameters& p, const Input& in, int k)
      : radius_(p.radius), guide_(in.guide), models_(static_cast<std::size_t>(size().width) * size().height) {
    for (int y = 0; y < size().height; ++y)
      for (int x = 0; x < size().width; ++x) model(x, y) = of_window(x, y, p.epsilon, in, k);
  }

  double filtered(int x, int y) {
    double q = 0;
    int windows = 0;
    over_window(x, y, [&](int cx, int cy) {
      const Model& m = model(cx, cy);
      q += m.b;
      for (int c = 0; c < guide_.channels; ++c) q += m.a[c] * guide_(x, y, c);
      ++windows;
    });
    return q / windows;
  }

 private:
  struct Model {
    double a[3] = {}, b = 0;
  };

  Size size() const { return guide_.size(); }
  Model& model(int x, int y) { return models_[static_cast<std::size_t>(y) * size().width + x]; }

  template <class F>
  void over_window(int cx, int cy, F&& f) const {
    for (int v = std::max(cy - radius_, 0); v <= std::min(cy + radius_, size().height - 1); ++v)
      for (int u = std::max(cx - radius_, 0); u <= std::min(cx + radius_, size().width - 1); ++u) f(u, v);
  }

  Model of_window(int cx, int cy, double epsilon, const Input& in, int k) const {
    const int channels = guide_.channels;
    // The matrix Σ + ε, with the covariances with the costs as an additional column.
    double n = 0, mean_p = 0, mean[3] = {}, s[3][4] = {};
    over_window(cx, cy, [&](int u, int v) {
      n += 1;
      mean_p += in.costs(u, v, k);
      for (int c = 0; c < channels; ++c) mean[c] += guide_(u, v, c);
    });
    mean_p /= n;
    for (double& m : mean) m /= n;
    over_window(cx, cy, [&](int u, int v) {
      for (int c = 0; c < channels; ++c) {
        s[c][3] += (guide_(u, v, c) - mean[c]) * (in.costs(u, v, k) - mean_p) / n;
        for (int d = 0; d < channels; ++d) s[c][d] += (guide_(u, v, c) - mean[c]) * (guide_(u, v, d) - mean[d]) / n;
      }
    });
    for (int c = 0; c < channels; ++c) s[c][c] += epsilon;
    for (int c = 0; c < channels; ++c)  // Gauss-Jordan elimination
      for (int row = 0; row < channels; ++row) {
        if (row == c) continue;
        const double f = s[row][c] / s[c][c];
        for (double *to = s[row], *from = s[c]; to < s[row] + 4; ++to, ++from) *to -= f * *from;
      }
    Model m{{}, mean_p};
    for (int c = 0; c < channels; ++c) {
      m.a[c] = s[c][3] / s[c][c];
      m.b -= m.a[c] * mean[c];
    }
    return m;
  }

  const int radius_;
  const ImageView<const std::uint8_t> guide_;
  std::vector<Model> models_;
};

TEST(GuidedOracle, IsTheFilterOfThePaper) {
  for (const int channels : {1, 3})
    for (const double epsilon : {0.1, 6.5, 1000.0}) {
      const Case c{{31, 23}, channels, 4, {.radius = 3, .epsilon = epsilon}, {0, 23}};
      const Input in(c);
      Volume<float> filtered(c.size, c.disparities);
      guided::oracle(c.p, in.guide, in.costs.view(), c.rows, filtered.view());
      double worst = 0;
      for (int k = 0; k < 4; ++k) {
        Exactly exactly(c.p, in, k);
        for (int y = 0; y < 23; ++y)
          for (int x = 0; x < 31; ++x) worst = std::max(worst, std::abs(filtered(x, y, k) - exactly.filtered(x, y)));
      }
      EXPECT_LT(worst, epsilon < 1 ? 0.2 : 0.05) << channels << " channels, epsilon " << epsilon;
    }
}

TEST(GuidedOracle, ConstantCostsStayAndEdgesOfTheGuideStop) {
  const Case c{{40, 20}, 3, 2, {.radius = 4}, {0, 20}};
  Input in(c);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) {
      for (int i = 0; i < 3; ++i) in.guide(x, y, i) = x < 20 ? 20 : 220;
      in.costs(x, y, 0) = 77;
      in.costs(x, y, 1) = x < 20 ? 10 : 200;
    }
  Volume<float> filtered(c.size, 2);
  guided::oracle(c.p, in.guide, in.costs.view(), c.rows, filtered.view());
  for (int x = 0; x < 40; ++x) {
    EXPECT_NEAR(filtered(x, 9, 0), 77, 0.01);
    EXPECT_NEAR(filtered(x, 9, 1), x < 20 ? 10 : 200, 1);
  }
}

TEST(GuidedParameters, RowsOfAStripAreThoseOfTheWhole) {
  const Case c{{30, 60}, 3, 6, {.radius = 5}, {0, 60}};
  const Input in(c);
  Volume<float> whole(c.size, 6), strip({30, 9}, 6);
  guided::oracle(c.p, in.guide, in.costs.view(), c.rows, whole.view());
  EXPECT_EQ(guided::required_input(c.p, {10, 20, 10, 9}), (Rect{0, 10, 30, 29}));
  VolumeView<const std::uint8_t> costs = in.costs.view();
  const VolumeView<const std::uint8_t> part{costs.row(10), 30, 29, 6, costs.row_pitch};
  guided::oracle(c.p, in.guide.view().crop({0, 10, 30, 29}), part, {10, 19}, strip.view());
  const VolumeView<float> same{whole.view().row(20), 30, 9, 6, whole.view().row_pitch};
  EXPECT_TRUE(same_bits(flat(strip.view()), ImageView<const float>(flat(same))));
}

}  // namespace
}  // namespace stereopsis::guided_test
