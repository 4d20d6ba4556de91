// Finds the seeds that reach the pixels of a row: reach.hpp. The file is included once for each SIMD target, hence the
// unusual include guard.
#if defined(STEREOPSIS_REACH_CPU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEREOPSIS_REACH_CPU_INL
#undef STEREOPSIS_REACH_CPU_INL
#else
#define STEREOPSIS_REACH_CPU_INL
#endif

#include <array>
#include <span>

#include "device/cpu/highway-inl.hpp"
#include "stages/prior/known_seeds.hpp"
#include "stages/prior/reach.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::prior::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The numbers of pixels without contrast, by their distances in rows and columns; `none` beyond the reach.
constexpr auto numbers = [] {
  std::array<std::array<std::uint32_t, 4 * Reach::middle>, 2 * most_reach + 1> of{};
  for (int dy = -most_reach; dy <= most_reach; ++dy)
    for (int dx = -most_reach; dx < 4 * Reach::middle - most_reach; ++dx)
      of[dy + most_reach][dx + most_reach] =
          dx <= most_reach ? Reach::number(root(256 * (dx * dx + dy * dy)), dx, dy) : Reach::none;
  return of;
}();

// Lowers the numbers of the pixels that seeds of another row reach, which is `dy` rows above.
void reach_row(std::span<const Known> known, const Seed* made, int dy, int most_contrast, ReachedRow& row) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const hn::RebindToSigned<decltype(d)> di;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto limit = hn::Set(di, most_contrast + 1);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const int reach = made[i].reach;
    if (dy > reach || -dy > reach) continue;
    const auto grey = hn::Set(di, known[i].grey), end = hn::Set(di, 2 * reach + 1);
    const std::uint32_t* const near = numbers[dy + most_reach].data() + most_reach - reach;
    for (int k = 0; k <= 2 * reach; k += lanes) {
      const int x = known[i].x - reach + k;
      const auto contrast = hn::Abs(hn::Sub(hn::PromoteTo(di, hn::LoadU(d8, row.grey(x))), grey));
      const auto number = hn::Add(hn::LoadU(d, near + k), hn::ShiftLeft<2 * Reach::bits>(hn::BitCast(d, contrast)));
      const auto reached = hn::And(hn::Lt(contrast, limit), hn::Lt(hn::Iota(di, k), end));
      const auto given = hn::IfThenElse(hn::RebindMask(d, reached), number, hn::Set(d, Reach::none));
      hn::StoreU(hn::Min(hn::LoadU(d, row.numbers(x)), given), d, row.numbers(x));
    }
  }
}

}  // namespace stereopsis::prior::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
