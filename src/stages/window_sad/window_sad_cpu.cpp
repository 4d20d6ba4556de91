// Window matching on the CPU with running sums. For each column and disparity, a thread keeps the sum of the costs over
// the rows of the window, and moves the sum over the window along a row. All disparities of a pixel are contiguous in
// memory.
#include "stages/window_sad/window_sad.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/window_sad/window_sad_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/cost/cost_cpu-inl.hpp"

#ifndef STEREOPSIS_WINDOW_SAD_SCRATCH
#define STEREOPSIS_WINDOW_SAD_SCRATCH
namespace stereopsis::window_sad {

// The memory of one thread.
struct Scratch {
  // If `memory` is null, the constructor only counts the bytes.
  Scratch(int width, int disparities, std::byte* memory)
      : padded((disparities + 31) / 32 * 32), entries(cost::entries_of_row(width, disparities)) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    for (std::byte*& row : candidates) take(row, sizeof(std::uint32_t) * entries);
    take(columns, static_cast<std::size_t>(width) * padded);
    take(window, padded);
    take(shifted, padded);
  }

  int padded;                  // disparities, padded
  int entries;                 // number of right pixels per row
  std::byte* candidates[2]{};  // candidates of the rows that enter and leave the window
  std::uint32_t* columns{};
  std::uint32_t* window{};
  std::uint16_t* shifted{};
  std::size_t bytes = 0;
};

}  // namespace stereopsis::window_sad
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::window_sad::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace targeted = cost::HWY_NAMESPACE;

class Band {
 public:
  Band(const Window& window, const Source<ImageView>& source, int min_disparity, VolumeView<std::uint16_t> sums,
       std::byte* memory)
      : window_(window),
        source_(source),
        min_disparity_(min_disparity),
        shift_(shift_of(window, source.kind.max_cost())),
        sums_(sums),
        s_(sums.width, sums.disparities, memory) {}

  void run(int first, int last) const {
    const int radius = window_.radius_y();
    std::fill_n(s_.columns, static_cast<std::size_t>(sums_.width) * s_.padded, 0);
    for (int y = first - radius; y < first + radius; ++y) move_columns<false>(y, 0);
    for (int y = first; y < last; ++y) {
      if (y > first)
        move_columns<true>(y + radius, y - radius - 1);
      else
        move_columns<false>(y + radius, 0);
      sum_row(y);
    }
  }

 private:
  using D = hn::ScalableTag<std::uint32_t>;
  using Planes = targeted::BytePlanes<4>;

  std::uint32_t* column(int x) const {
    return s_.columns + static_cast<std::size_t>(std::clamp(x, 0, sums_.width - 1)) * s_.padded;
  }

  template <bool kLeaves>
  void move_columns(int entering, int leaving) const {
    const auto row_of = [&](ImageView<const std::uint32_t> view, int y) {
      return view.row(std::clamp(y, 0, view.height - 1));
    };
    Planes in(s_.candidates[0], s_.entries), out(s_.candidates[1], s_.entries);
    in.load(row_of(source_.right, entering), sums_.width, min_disparity_, s_.padded);
    if constexpr (kLeaves) out.load(row_of(source_.right, leaving), sums_.width, min_disparity_, s_.padded);
    const std::uint32_t *left_in = row_of(source_.left, entering), *left_out = row_of(source_.left, leaving);
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int x = 0; x < sums_.width; ++x) {
      std::uint32_t* sums = column(x);
      const int from = sums_.width - 1 - x;
      for (int k = 0; k < sums_.disparities; k += lanes) {
        auto sum = hn::Add(hn::Load(d, sums + k), differences(in, left_in[x], from + k));
        if constexpr (kLeaves) sum = hn::Sub(sum, differences(out, left_out[x], from + k));
        hn::Store(sum, d, sums + k);
      }
    }
  }

  // Returns the costs of a left pixel, which are sums of up to 1020.
  static HWY_INLINE hn::Vec<D> differences(const Planes& planes, std::uint32_t left, int i) {
    const D d;
    const hn::Rebind<std::uint16_t, D> d16;
    const hn::Rebind<std::uint8_t, D> d8;
    auto sum = hn::Zero(d16);
    for (int p = 0; p < 4; ++p) {
      const auto byte = hn::Set(d8, static_cast<std::uint8_t>(byte_of(left, p)));
      sum =
          hn::Add(sum, hn::PromoteTo(d16, targeted::absolute_difference(d8, byte, hn::LoadU(d8, planes.plane(p) + i))));
    }
    return hn::PromoteTo(d, sum);
  }

  void sum_row(int y) const {
    const D d;
    const hn::Rebind<std::uint16_t, D> d16;
    const hn::RebindToSigned<D> i32;
    const int lanes = static_cast<int>(hn::Lanes(d)), radius = window_.radius_x();
    std::fill_n(s_.window, s_.padded, 0);
    for (int dx = -radius; dx < radius; ++dx)
      for (int k = 0; k < sums_.disparities; k += lanes)
        hn::Store(hn::Add(hn::Load(d, s_.window + k), hn::Load(d, column(dx) + k)), d, s_.window + k);
    for (int x = 0; x < sums_.width; ++x) {
      const std::uint32_t *entering = column(x + radius), *leaving = column(x - radius);
      for (int k = 0; k < sums_.disparities; k += lanes) {
        const auto sum = hn::Add(hn::Load(d, s_.window + k), hn::Load(d, entering + k));
        hn::Store(hn::DemoteTo(d16, hn::BitCast(i32, hn::ShiftRightSame(sum, shift_))), d16, s_.shifted + k);
        hn::Store(hn::Sub(sum, hn::Load(d, leaving + k)), d, s_.window + k);
      }
      std::copy_n(s_.shifted, sums_.disparities, sums_.pixel(x, y));
    }
  }

  const Window window_;
  const Source<ImageView> source_;
  const int min_disparity_, shift_;
  const VolumeView<std::uint16_t> sums_;
  const Scratch s_;
};

void sum_rows(const Window& window, const Source<ImageView>& source, int min_disparity, VolumeView<std::uint16_t> sums,
              std::byte* memory, int first, int last) {
  if (first < last) Band(window, source, min_disparity, sums, memory).run(first, last);
}

}  // namespace stereopsis::window_sad::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::window_sad {

HWY_EXPORT(sum_rows);

std::size_t scratch_bytes(int width, int disparities, int threads) {
  return threads * with_gap(Scratch(width, disparities, nullptr).bytes);
}

void cpu(const Window& window, const Source<ImageView>& source, int min_disparity, VolumeView<std::uint16_t> sums,
         std::span<std::byte> scratch, Threads& threads) {
  const std::size_t bytes = with_gap(Scratch(sums.width, sums.disparities, nullptr).bytes);
  const int bands = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(sums.height) * band / bands); };
    HWY_DYNAMIC_DISPATCH(sum_rows)
    (window, source, min_disparity, sums, scratch.data() + i * bytes, edge(i), edge(i + 1));
  });
}

}  // namespace stereopsis::window_sad
#endif
