#include "stages/scanline/scanline.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/scanline/scanline_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"

#ifndef STEREOPSIS_SCANLINE_PATHS
#define STEREOPSIS_SCANLINE_PATHS
namespace stereopsis::scanline {

constexpr int most_lanes = 32;
constexpr std::uint16_t beyond = 32768;  // larger than any path cost; plus a penalty, still below 65536

// Returns the number of cells for the path costs of a pixel, with `beyond` before the first cell and after the last.
constexpr int state_cells(int disparities) {
  return most_lanes + (disparities + most_lanes - 1) / most_lanes * most_lanes + most_lanes;
}

struct Step {
  const std::uint8_t* costs;
  const std::uint16_t* right_differs;  // one value per disparity, with all bits set if the right colours differ
  Penalties near, far;                 // penalties for equal right colours, and for right colours that differ
  const std::uint16_t* before;         // path costs of the previous pixel
  std::uint16_t lowest;                // minimum of `before`
  std::uint16_t* path;
  std::uint16_t* sums;
  int disparities;
  bool starts;  // true if the path starts at this pixel
  bool add;     // true if the path costs are added to the sums
};

}  // namespace stereopsis::scanline
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::scanline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Computes the path costs of a pixel, and returns their minimum.
std::uint16_t follow_path(const Step& step) {
  const hn::CappedTag<std::uint16_t, most_lanes> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d)), count = step.disparities;
  const auto word = [d](int value) HWY_ATTR { return hn::Set(d, static_cast<std::uint16_t>(value)); };
  const auto base = word(step.lowest), most = word(beyond);
  auto lowest = most;
  for (int k = 0; k < count; k += lanes) {
    const auto cost = hn::PromoteTo(d, hn::LoadU(d8, step.costs + k));
    auto path = cost;
    if (!step.starts) {
      const auto differs = hn::Ne(hn::LoadU(d, step.right_differs + k), hn::Zero(d));
      const auto p1 = hn::IfThenElse(differs, word(step.far.p1), word(step.near.p1));
      const auto p2 = hn::IfThenElse(differs, word(step.far.p2), word(step.near.p2));
      const auto beside = hn::Min(hn::LoadU(d, step.before + k - 1), hn::LoadU(d, step.before + k + 1));
      const auto stay = hn::Min(hn::LoadU(d, step.before + k), hn::Add(beside, p1));
      path = hn::Add(cost, hn::Sub(hn::Min(stay, hn::Add(base, p2)), base));
    }
    if (k + lanes > count) path = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(count - k)), path, most);
    hn::StoreU(path, d, step.path + k);
    lowest = hn::Min(lowest, path);
    if (k + lanes <= count) {
      hn::StoreU(step.add ? hn::Add(path, hn::LoadU(d, step.sums + k)) : path, d, step.sums + k);
    } else {
      for (int i = k; i < count; ++i)
        step.sums[i] = static_cast<std::uint16_t>(step.path[i] + (step.add ? step.sums[i] : 0));
    }
  }
  return hn::GetLane(hn::MinOfLanes(d, lowest));
}

}  // namespace stereopsis::scanline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::scanline {

HWY_EXPORT(follow_path);

namespace {

int difference(ImageView<const std::uint8_t> image, int x, int y, int u, int v) {
  const std::uint8_t *a = &image(x, y), *b = &image(u, v);
  int largest = 0;
  for (int c = 0; c < image.channels; ++c) largest = std::max(largest, std::abs(a[c] - b[c]));
  return largest;
}

int entries_of(int width, int disparities) { return width + disparities + most_lanes; }
int columns_of(int width, int threads) { return width / threads + 1; }
std::size_t thread_bytes(Size size, int disparities, int threads) {
  const std::size_t states = 2 * static_cast<std::size_t>(columns_of(size.width, threads));
  return with_gap(sizeof(std::uint16_t) *
                  (entries_of(size.width, disparities) + states * state_cells(disparities) + states));
}

class Paths {
 public:
  Paths(const Parameters& p, const Images& images, int min_disparity, VolumeView<const std::uint8_t> costs,
        VolumeView<std::uint16_t> sums, std::byte* memory, int columns)
      : p_(p),
        images_(images),
        min_disparity_(min_disparity),
        costs_(costs),
        sums_(sums),
        differs_(reinterpret_cast<std::uint16_t*>(memory)),
        lowest_(differs_ + entries_of(costs.width, costs.disparities)),
        states_(lowest_ + 2 * columns) {
    std::fill_n(states_, 2 * static_cast<std::size_t>(columns) * state_cells(costs.disparities), beyond);
  }

  // Processes a row in both directions.
  void row(int y) {
    along_row(y, 1, false);
    along_row(y, -1, true);
  }
  void columns(int first, int last) {
    along_columns(first, last, 1);
    along_columns(first, last, -1);
  }

 private:
  void along_row(int y, int dx, bool add) {
    mark_differences(y, dx, 0);
    const int width = costs_.width;
    for (int n = 0; n < width; ++n) {
      const int x = dx > 0 ? n : width - 1 - n;
      const bool differs = n > 0 && difference(images_.left, x, y, x - dx, y) >= p_.colour;
      follow(x, y, n % 2, 1 - n % 2, differs, n == 0, add);
    }
  }

  // Processes columns row by row. The path costs of a column are at the indices 2 (x − first) and 2 (x − first) + 1, in
  // turn.
  void along_columns(int first, int last, int dy) {
    const int height = costs_.height;
    for (int n = 0; n < height; ++n) {
      const int y = dy > 0 ? n : height - 1 - n;
      if (n > 0) mark_differences(y, 0, dy);
      for (int x = first; x < last; ++x) {
        const bool differs = n > 0 && difference(images_.left, x, y, x, y - dy) >= p_.colour;
        const int state = 2 * (x - first);
        follow(x, y, state + n % 2, state + 1 - n % 2, differs, n == 0, true);
      }
    }
  }

  // Marks the differences in the row of the right view, in reverse order, so that the candidates of a pixel are ordered
  // by disparity.
  void mark_differences(int y, int dx, int dy) {
    const int width = costs_.width, before = std::clamp(y - dy, 0, costs_.height - 1);
    for (int i = 0; i < entries_of(width, costs_.disparities); ++i) {
      const int x = width - 1 - i - min_disparity_;
      const int here = std::clamp(x, 0, width - 1), there = std::clamp(x - dx, 0, width - 1);
      differs_[i] = difference(images_.right, here, y, there, before) >= p_.colour ? 0xFFFF : 0;
    }
  }

  std::uint16_t* state(int i) const {
    return states_ + static_cast<std::size_t>(i) * state_cells(costs_.disparities) + most_lanes;
  }

  void follow(int x, int y, int into, int from, bool left_differs, bool starts, bool add) {
    lowest_[into] = HWY_DYNAMIC_DISPATCH(follow_path)(
        Step{costs_.pixel(x, y), differs_ + costs_.width - 1 - x, table_[left_differs], table_[left_differs + 1],
             state(from), lowest_[from], state(into), sums_.pixel(x, y), costs_.disparities, starts, add});
  }

  const Parameters& p_;
  Images images_;
  int min_disparity_;
  VolumeView<const std::uint8_t> costs_;
  VolumeView<std::uint16_t> sums_;
  std::uint16_t *differs_, *lowest_, *states_;
  std::array<Penalties, 3> table_ = penalties(p_);
};

}  // namespace

std::size_t scratch_bytes(Size size, int disparities, int threads) {
  return thread_bytes(size, disparities, threads) * threads;
}

void cpu(const Parameters& p, const Images& images, int min_disparity, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> sums, std::span<std::byte> scratch, Threads& threads) {
  check(p);
  const int parts = threads.count();
  const auto each_part = [&](int lines, auto&& f) {
    threads.each([&](int i) {
      Paths paths(p, images, min_disparity, costs, sums,
                  scratch.data() + i * thread_bytes({costs.width, costs.height}, costs.disparities, parts),
                  columns_of(costs.width, parts));
      const auto edge = [&](int part) { return static_cast<int>(static_cast<long long>(lines) * part / parts); };
      f(paths, edge(i), edge(i + 1));
    });
  };
  each_part(costs.height, [](Paths& paths, int first, int last) {
    for (int y = first; y < last; ++y) paths.row(y);
  });
  each_part(costs.width, [](Paths& paths, int first, int last) { paths.columns(first, last); });
}

}  // namespace stereopsis::scanline
#endif
