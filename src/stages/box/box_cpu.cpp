// Running sums: a thread keeps, for each column and disparity, the sum over the rows of the window, and moves the window's sum
// along a row. All disparities of a pixel are side by side.
#include "stages/box/box.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/box/box_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/quotient-inl.hpp"

#ifndef STEREOPSIS_BOX_SCRATCH
#define STEREOPSIS_BOX_SCRATCH
namespace stereopsis::box {

// The memory of a thread.
struct Scratch {
  // Without memory it only counts the bytes.
  Scratch(int width, int disparities, std::byte* memory) : padded((disparities + 31) / 32 * 32) {
    const auto take = [&]<class T>(T*& pointer, std::size_t count) {
      if (memory != nullptr) pointer = reinterpret_cast<T*>(memory + bytes);
      bytes += (count * sizeof(T) + 63) / 64 * 64;
    };
    take(columns, static_cast<std::size_t>(width) * padded);
    take(window, padded);
    take(averages, padded);
  }

  int padded;  // disparities
  std::int32_t* columns{};
  std::int32_t* window{};
  std::uint16_t* averages{};
  std::size_t bytes = 0;
};

}  // namespace stereopsis::box
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::box::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

class Band {
 public:
  Band(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages, std::byte* memory)
      : p_(p), costs_(costs), averages_(averages), s_(costs.width, costs.disparities, memory) {}

  void run(int first, int last) const {
    const int radius = p_.radius_y();
    std::fill_n(s_.columns, static_cast<std::size_t>(costs_.width) * s_.padded, 0);
    for (int y = first - radius; y < first + radius; ++y) move_columns(y, y, false);
    for (int y = first; y < last; ++y) {
      move_columns(y + radius, y - radius - 1, y > first);
      average_row(y);
    }
  }

 private:
  using D = hn::ScalableTag<std::int32_t>;

  static int lanes() { return static_cast<int>(hn::Lanes(D())); }
  static HWY_INLINE hn::Vec<D> load(const std::uint8_t* costs) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<std::uint8_t, D>(), costs));
  }
  std::int32_t* column(int x) const {
    return s_.columns + static_cast<std::size_t>(std::clamp(x, 0, costs_.width - 1)) * s_.padded;
  }

  void move_columns(int entering, int leaving, bool leaves) const {
    const D d;
    const auto row = [&](int y) { return std::clamp(y, 0, costs_.height - 1); };
    for (int x = 0; x < costs_.width; ++x) {
      std::int32_t* sums = column(x);
      const std::uint8_t *in = costs_.pixel(x, row(entering)), *out = costs_.pixel(x, row(leaving));
      for (int k = 0; k < costs_.disparities; k += lanes()) {
        auto sum = hn::Add(hn::Load(d, sums + k), load(in + k));
        if (leaves) sum = hn::Sub(sum, load(out + k));
        hn::Store(sum, d, sums + k);
      }
    }
  }

  void average_row(int y) const {
    const D d;
    const hn::Rebind<std::uint16_t, D> d16;
    const int radius = p_.radius_x(), area = p_.area();
    std::fill_n(s_.window, s_.padded, 0);
    for (int dx = -radius; dx < radius; ++dx)
      for (int k = 0; k < costs_.disparities; k += lanes())
        hn::Store(hn::Add(hn::Load(d, s_.window + k), hn::Load(d, column(dx) + k)), d, s_.window + k);
    for (int x = 0; x < costs_.width; ++x) {
      const std::int32_t *entering = column(x + radius), *leaving = column(x - radius);
      for (int k = 0; k < costs_.disparities; k += lanes()) {
        const auto sum = hn::Add(hn::Load(d, s_.window + k), hn::Load(d, entering + k));
        const auto dividend = hn::Add(hn::Mul(sum, hn::Set(d, 128)), hn::Set(d, area / 2));
        hn::Store(hn::DemoteTo(d16, quotient(d, dividend, area)), d16, s_.averages + k);
        hn::Store(hn::Sub(sum, hn::Load(d, leaving + k)), d, s_.window + k);
      }
      std::copy_n(s_.averages, costs_.disparities, averages_.pixel(x, y));
    }
  }

  const Parameters p_;
  const VolumeView<const std::uint8_t> costs_;
  const VolumeView<std::uint16_t> averages_;
  const Scratch s_;
};

void average_rows(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages,
                  std::byte* memory, int first, int last) {
  if (first < last) Band(p, costs, averages, memory).run(first, last);
}

}  // namespace stereopsis::box::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::box {

HWY_EXPORT(average_rows);

std::size_t scratch_bytes(int width, int disparities, int threads) {
  return threads * with_gap(Scratch(width, disparities, nullptr).bytes);
}

void cpu(const Parameters& p, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> averages,
         std::span<std::byte> scratch, Threads& threads) {
  const std::size_t bytes = with_gap(Scratch(costs.width, costs.disparities, nullptr).bytes);
  const int bands = threads.count();
  threads.each([&](int i) {
    const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(costs.height) * band / bands); };
    HWY_DYNAMIC_DISPATCH(average_rows)(p, costs, averages, scratch.data() + i * bytes, edge(i), edge(i + 1));
  });
}

}  // namespace stereopsis::box
#endif
