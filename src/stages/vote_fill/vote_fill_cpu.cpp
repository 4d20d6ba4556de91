#include "stages/vote_fill/vote_fill.hpp"

#include "device/cpu/threads.hpp"
#include "stages/vote_fill/vote_fill_cpu_work.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/vote_fill/vote_fill_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stages/vote_fill/vote_fill_cpu_count-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_moments-inl.hpp"
#include "stages/vote_fill/vote_fill_cpu_samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::vote_fill::HWY_NAMESPACE {

void fill_row(const Parameters& p, const Input& in, const Map& map, const Rows& rows, const Pattern& pattern, int y,
              Work& work) {
  const ColourWeights colours(pattern);
  const float variance = added_variance(p);
  Samples& samples = work.samples;
  Votes& votes = work.votes;
  float* const disparity = map.disparity.row(y);
  std::uint8_t* const reasons = map.validity.row(y);
  for (int x = 0; x < map.disparity.width; ++x) {
    if (!std::isnan(disparity[x]) || (reasons[x] & (validity::masked | validity::outside)) != 0) continue;
    if (!has_near_vote(rows, pattern, x, y, map.disparity.height)) continue;
    gather(rows, pattern, colours, x, y, map.disparity.height, samples);
    if (samples.count == 0) continue;
    find_bins(samples);
    const Views views{p, in.right.row(y), in.right.width, x};
    if (!count(samples, views, votes)) continue;
    const int m = centre(samples, factors_from(views, votes.best - 1));
    const Moments sums = moments(samples, factors_from(views, whole(m - 3 * 256)), p.reach, m);
    disparity[x] = plane_at_centre(sums, m, variance);
    reasons[x] = static_cast<std::uint8_t>((reasons[x] & ~validity::reasons) | validity::filled);
    if (!map.confidence.empty())
      map.confidence(x, y) =
          static_cast<float>(votes.most) / static_cast<float>(4 * static_cast<std::int64_t>(votes.all));
  }
}

}  // namespace stereopsis::vote_fill::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::vote_fill {

HWY_EXPORT(fill_row);

namespace {

void reject(const Parameters& p, const Map& map, int y) {
  const auto limit = static_cast<float>(p.reject);
  for (int x = 0; x < map.disparity.width; ++x) {
    if (std::isnan(map.disparity(x, y)) || !(map.confidence(x, y) < limit)) continue;
    map.disparity(x, y) = invalid_disparity;
    map.validity(x, y) |= validity::ambiguous;
  }
}

void clear_confidence(const Map& map, int y) {
  for (int x = 0; x < map.confidence.width; ++x)
    if (std::isnan(map.disparity(x, y))) map.confidence(x, y) = 0;
}

void write_rows(const Rows& rows, ImageView<const std::uint8_t> image, ImageView<const float> disparity, int y) {
  std::fill_n(rows.q + y * rows.pitch(), rows.pitch(), nothing);
  std::fill_n(rows.colours + y * rows.pitch(), rows.pitch(), Rows::no_vote);
  const int channels = image.channels, middle = std::min(1, channels - 1), last = channels - 1;
  const std::uint8_t* pixel = image.row(y);
  const float* here = disparity.row(y);
  for (int rest = 0; rest < std::min(rows.step, disparity.width); ++rest) {
    std::ptrdiff_t at = rows.at(rest, y);
    for (int x = rest; x < disparity.width; x += rows.step, ++at) {
      const std::uint8_t* const c = pixel + static_cast<std::ptrdiff_t>(x) * channels;
      rows.q[at] = in_256ths(here[x]);
      rows.colours[at] = c[0] | c[middle] << 8 | static_cast<std::uint32_t>(c[last]) << 16 |
                         (rows.q[at] == nothing ? Rows::no_vote : 0);
    }
  }
}

}  // namespace

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
  threads.rows(size.height, [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      if (p.reject > 0) reject(p, map, y);
      clear_confidence(map, y);
      write_rows(rows, in.image, map.disparity, y);
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
