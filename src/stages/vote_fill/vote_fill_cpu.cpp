#include "stages/vote_fill/vote_fill.hpp"

#include "device/cpu/threads.hpp"
#include "stages/vote_fill/vote_fill_cpu_work.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/vote_fill/vote_fill_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_count-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_moments-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::vote_fill::HWY_NAMESPACE {

// Returns Q of disparities: in_256ths() for vectors.
HWY_INLINE Signed32 in_256ths_of(const float* disparity) {
  const Tag d;
  const hn::RebindToFloat<Tag> df;
  const auto value = hn::LoadU(df, disparity);
  const auto scaled = hn::Floor(hn::Add(hn::Mul(value, hn::Set(df, 256)), hn::Set(df, 0.5f)));
  const auto is_usable = hn::Lt(hn::Abs(value), hn::Set(df, 32768));
  return hn::IfThenElse(hn::RebindMask(d, is_usable), hn::ConvertTo(d, hn::IfThenElseZero(is_usable, scaled)),
                        hn::Set(d, nothing));
}

// Rejects pixels whose confidence is below the limit, and clears the confidence of invalid pixels.
void reject_row(float limit, const Map& map, int y) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), width = map.disparity.width;
  float* const disparity = map.disparity.row(y);
  float* const confidence = map.confidence.row(y);
  const auto is_rejected = [&](int x) { return !std::isnan(disparity[x]) && confidence[x] < limit; };
  const auto mark = [&](int x) { map.validity(x, y) |= validity::ambiguous; };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto value = hn::LoadU(d, disparity + x), trust = hn::LoadU(d, confidence + x);
    const auto rejected = hn::And(hn::Eq(value, value), hn::Lt(trust, hn::Set(d, limit)));
    if (!hn::AllFalse(d, rejected)) {
      for (int k = x; k < x + lanes; ++k)
        if (is_rejected(k)) mark(k);
      hn::StoreU(hn::IfThenElse(rejected, hn::Set(d, invalid_disparity), value), d, disparity + x);
    }
    const auto stays = hn::AndNot(rejected, hn::Eq(value, value));
    hn::StoreU(hn::IfThenElseZero(stays, trust), d, confidence + x);
  }
  for (; x < width; ++x) {
    if (is_rejected(x)) {
      mark(x);
      disparity[x] = invalid_disparity;
    }
    if (std::isnan(disparity[x])) confidence[x] = 0;
  }
}

// Writes the pixels of a row that may vote.
void write_row(const Rows& rows, ImageView<const std::uint8_t> image, ImageView<const float> disparity, int y) {
  const Tag d;
  const Unsigned du;
  const int lanes = static_cast<int>(hn::Lanes(d)), block = rows.step * lanes_of_row, width = disparity.width;
  const int channels = image.channels, middle = std::min(1, channels - 1), last = channels - 1;
  const std::uint8_t* const pixels = image.row(y);
  const float* const here = disparity.row(y);
  const auto colour_of = [&](int x) {
    const std::uint8_t* const c = pixels + static_cast<std::ptrdiff_t>(x) * channels;
    return c[0] | c[middle] << 8 | static_cast<std::uint32_t>(c[last]) << 16;
  };
  for (int rest = 0; rest < rows.step; ++rest) {  // samples outside the image
    const std::ptrdiff_t first = y * rows.pitch() + rest * rows.room;
    const std::ptrdiff_t pixels_here = rest < width ? (width - rest + rows.step - 1) / rows.step : 0;
    const auto fill = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
      std::fill(rows.q + from, rows.q + to, nothing);
      std::fill(rows.colours + from, rows.colours + to, Rows::no_vote);
    };
    fill(first, first + rows.reach);
    fill(first + rows.reach + pixels_here, first + rows.room);
  }
  int x = 0;
  for (; x + block <= width; x += block) {
    alignas(64) std::int32_t q[largest_step * lanes_of_row];
    alignas(64) std::uint32_t colours[largest_step * lanes_of_row];
    for (int n = 0; n < block; n += lanes) {
      const auto value = in_256ths_of(here + x + n);
      hn::Store(value, d, q + n);
      auto colour = hn::Zero(du);
      if (channels == 1) {
        const hn::Rebind<std::uint8_t, Tag> d8;
        colour = hn::Mul(hn::PromoteTo(du, hn::LoadU(d8, pixels + x + n)), hn::Set(du, 0x010101));
      } else {
        for (int k = n; k < n + lanes; ++k) colours[k] = colour_of(x + k);
        colour = hn::Load(du, colours + n);
      }
      const auto is_nothing = hn::RebindMask(du, hn::Eq(value, hn::Set(d, nothing)));
      hn::Store(hn::Or(colour, hn::IfThenElseZero(is_nothing, hn::Set(du, Rows::no_vote))), du, colours + n);
    }
    for (int rest = 0; rest < rows.step; ++rest) {
      const std::ptrdiff_t at = rows.at(x + rest, y);
      for (int i = 0; i < lanes_of_row; ++i) rows.q[at + i] = q[i * rows.step + rest];
      for (int i = 0; i < lanes_of_row; ++i) rows.colours[at + i] = colours[i * rows.step + rest];
    }
  }
  for (; x < width; ++x) {
    const std::ptrdiff_t at = rows.at(x, y);
    rows.q[at] = in_256ths(here[x]);
    rows.colours[at] = colour_of(x) | (rows.q[at] == nothing ? Rows::no_vote : 0);
  }
}

void fill_row(const Parameters& p, const Input& in, const Map& map, const Rows& rows, const Pattern& pattern, int y,
              Work& work) {
  const hn::ScalableTag<float> df;
  const int lanes = static_cast<int>(hn::Lanes(df)), width = map.disparity.width;
  const ColourWeights colours(pattern);
  const float variance = added_variance(p);
  Samples& samples = work.samples;
  Votes& votes = work.votes;
  float* const disparity = map.disparity.row(y);
  std::uint8_t* const reasons = map.validity.row(y);
  const auto fill = [&](int x) HWY_ATTR {
    if (!std::isnan(disparity[x]) || (reasons[x] & (validity::masked | validity::outside)) != 0) return;
    if (!has_near_vote(rows, pattern, x, y, map.disparity.height)) return;
    gather(rows, pattern, colours, x, y, map.disparity.height, samples);
    if (samples.count == 0) return;
    find_bins(samples);
    const Views views{p, in.right.row(y), in.right.width, x};
    if (!count(samples, views, votes)) return;
    const int m = centre(samples, factors_from(views, votes.best - 1));
    const Moments sums = moments(samples, factors_from(views, whole(m - 3 * 256)), p.reach, m);
    disparity[x] = plane_at_centre(sums, m, variance);
    reasons[x] = static_cast<std::uint8_t>((reasons[x] & ~validity::reasons) | validity::filled);
    if (!map.confidence.empty())
      map.confidence(x, y) =
          static_cast<float>(votes.most) / static_cast<float>(4 * static_cast<std::int64_t>(votes.all));
  };
  for (int first = 0; first < width; first += lanes) {
    const int end = std::min(first + lanes, width);
    if (end - first == lanes) {
      const auto values = hn::LoadU(df, disparity + first);
      if (hn::AllTrue(df, hn::Eq(values, values))) continue;
    }
    for (int x = first; x < end; ++x) fill(x);
  }
}

}  // namespace stereopsis::vote_fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::vote_fill {

HWY_EXPORT(fill_row);
HWY_EXPORT(reject_row);
HWY_EXPORT(write_row);

std::size_t scratch_bytes(const Parameters& p, Size size) {
  return (sizeof(std::int32_t) + sizeof(std::uint32_t)) * Rows(p, size, nullptr).pitch() * size.height;
}

void cpu(const Parameters& p, const Input& in, const Map& map, std::span<std::byte> scratch, Threads& threads) {
  check_images(p, in, map);
  const Size size = map.disparity.size();
  if (scratch.size() < scratch_bytes(p, size))
    throw Error(ErrorCategory::call, text("vote_fill has ", scratch.size(), " bytes of scratch memory; it requires ",
                                          scratch_bytes(p, size), ", as scratch_bytes() returns"));
  const Rows rows(p, size, scratch.data());
  const float limit = p.reject > 0 ? static_cast<float>(p.reject) : -std::numeric_limits<float>::infinity();
  threads.rows(size.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      if (!map.confidence.empty()) HWY_DYNAMIC_DISPATCH(reject_row)(limit, map, y);
      HWY_DYNAMIC_DISPATCH(write_row)(rows, in.image, map.disparity, y);
    }
  });
  const Pattern pattern(p);
  threads.rows(size.height, [&](int first, int last) {
    Work work;
    for (int y = first; y < last; ++y) HWY_DYNAMIC_DISPATCH(fill_row)(p, in, map, rows, pattern, y, work);
  });
}

}  // namespace stereopsis::vote_fill
#endif
