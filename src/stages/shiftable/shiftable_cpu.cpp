// Shiftable windows on the CPU: averages with running sums, followed by minima along rows and along columns, in place.
// The minima are computed by the method of van Herk (1992), with three minima per cell and direction, independently of
// the window.
#include "stages/shiftable/shiftable.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/shiftable/shiftable_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"
#include "stages/window_mean/window_mean_cpu-inl.hpp"

#ifndef STEREOPSIS_SHIFTABLE_BYTES
#define STEREOPSIS_SHIFTABLE_BYTES
namespace stereopsis::shiftable {

constexpr int most_cells = 256;  // largest number of adjacent cells in a line

constexpr std::size_t minima_bytes(int window) { return 3 * sizeof(std::uint16_t) * most_cells * window; }

}  // namespace stereopsis::shiftable
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::shiftable::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

// Computes to[k] = min(a[k], b[k]). `to` may be equal to a or b.
template <class D>
HWY_INLINE void lower_block(D d, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* to) {
  hn::StoreU(hn::Min(hn::LoadU(d, a), hn::LoadU(d, b)), d, to);
}
// The last vectors overlap, which does not change any minimum.
void lower(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* to, int cells) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::CappedTag<std::uint16_t, 1> one;
  for_each_block(
      d, 0, cells, [&](int k) { lower_block(d, a + k, b + k, to + k); },
      [&](int k) { lower_block(one, a + k, b + k, to + k); });
}

// Computes the minima over the pixels i − r … i + r of a line, which is a row or a column. Pixels are divided into
// blocks of 2 r + 1 pixels, from −r on, so that a window consists of the last pixels of one block and the first pixels
// of the next. The function pixel(i) returns a pointer to `cells` adjacent costs.
template <class Pixel>
class Minima {
 public:
  Minima(Pixel pixel, int pixels, int cells, int radius, std::byte* memory)
      : pixel_(pixel),
        pixels_(pixels),
        cells_(cells),
        radius_(radius),
        window_(2 * radius + 1),
        last_(reinterpret_cast<std::uint16_t*>(memory)),
        next_last_(at(last_, window_)),
        first_(at(next_last_, window_)) {}

  void run() {
    find_last(0);
    for (int i = 0; i < pixels_; i += window_) {
      std::swap(last_, next_last_);
      find_first(i + window_);
      find_last(i + window_);  // called before its input is overwritten
      std::copy_n(last_, cells_, pixel_(i));
      for (int j = 1; j < window_ && i + j < pixels_; ++j)
        lower(at(last_, j), at(first_, j - 1), pixel_(i + j), cells_);
    }
  }

 private:
  static std::uint16_t* at(std::uint16_t* minima, int j) {
    return minima + static_cast<std::ptrdiff_t>(j) * most_cells;
  }

  // Computes the minimum of `from` and a pixel. Copies `from` if there is no such pixel.
  void lower_by(int i, const std::uint16_t* from, std::uint16_t* to) const {
    const bool is_inside = i >= 0 && i < pixels_;
    lower(from, is_inside ? pixel_(i) : from, to, cells_);
  }
  // Computes minima over the last pixels of the block that begins r pixels before `block`: for each j, the minimum of
  // pixel j and all later pixels.
  void find_last(int block) {
    std::fill_n(at(next_last_, window_ - 1), cells_, 65535);
    for (int j = window_ - 1; j >= 0; --j)
      lower_by(block - radius_ + j, at(next_last_, std::min(j + 1, window_ - 1)), at(next_last_, j));
  }
  // Computes minima over the first pixels of the block: for each j, the minimum of pixel j and all earlier pixels.
  void find_first(int block) {
    std::fill_n(first_, cells_, 65535);
    for (int j = 0; j < window_; ++j) lower_by(block - radius_ + j, at(first_, std::max(j - 1, 0)), at(first_, j));
  }

  const Pixel pixel_;
  const int pixels_, cells_, radius_, window_;
  std::uint16_t* last_;
  std::uint16_t* next_last_;
  std::uint16_t* const first_;
};

// Computes the averages of the rows [first, last), and the minima along these rows.
void average_rows(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest,
                  std::byte* memory, int first, int last) {
  if (first >= last) return;
  using window_mean::HWY_NAMESPACE::Band;
  using window_mean::HWY_NAMESPACE::Nothing;
  Band(window_mean::Window{p.radius(), p.radius()}, costs, lowest, memory, Nothing()).run(first, last);
  for (int y = first; y < last; ++y)
    for (int k = 0; k < lowest.disparities; k += most_cells) {
      const auto pixel = [&](int x) { return lowest.pixel(x, y) + k; };
      Minima(pixel, lowest.width, std::min(most_cells, lowest.disparities - k), p.radius(), memory).run();
    }
}

// Computes the minima along the columns of the cells [first, last) of a row.
void lower_columns(const Parameters& p, VolumeView<std::uint16_t> lowest, std::byte* memory, int first, int last) {
  for (int k = first; k < last; k += most_cells) {
    const auto pixel = [&](int y) { return lowest.row(y) + k; };
    Minima(pixel, lowest.height, std::min(most_cells, last - k), p.radius(), memory).run();
  }
}

}  // namespace stereopsis::shiftable::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::shiftable {

HWY_EXPORT(average_rows);
HWY_EXPORT(lower_columns);

namespace {

std::size_t thread_bytes(const Parameters& p, int width, int disparities) {
  return with_gap(std::max(window_mean::Scratch(width, disparities, nullptr).bytes, minima_bytes(p.window)));
}

}  // namespace

std::size_t scratch_bytes(const Parameters& p, int width, int disparities, int threads) {
  return threads * thread_bytes(p, width, disparities);
}

void cpu(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> lowest,
         std::span<std::byte> scratch, Threads& threads) {
  const std::size_t bytes = thread_bytes(p, costs.width, costs.disparities);
  const int bands = threads.count();
  const auto edge = [&](int count, int band) { return static_cast<int>(static_cast<long long>(count) * band / bands); };
  threads.each([&](int i) {
    HWY_DYNAMIC_DISPATCH(average_rows)
    (p, costs, lowest, scratch.data() + i * bytes, edge(costs.height, i), edge(costs.height, i + 1));
  });
  const int cells = costs.width * costs.disparities;
  threads.each([&](int i) {
    HWY_DYNAMIC_DISPATCH(lower_columns)
    (p, lowest, scratch.data() + i * bytes, edge(cells, i), edge(cells, i + 1));
  });
}

}  // namespace stereopsis::shiftable
#endif
