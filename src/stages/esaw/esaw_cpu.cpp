#include <algorithm>

#include "device/cpu/threads.hpp"
#include "stages/esaw/esaw.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/esaw/esaw_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/support_weight/support_weight_cpu-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stereopsis::esaw::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace stereopsis::HWY_NAMESPACE;

using D = hn::ScalableTag<std::int32_t>;
using V = hn::Vec<D>;

// Computes the weights of one step. The table has 32-bit entries, so that vectors can gather from it.
class Weigher {
 public:
  Weigher(const support_weight::Scales& scales, const std::int32_t* table, const Step& step)
      : scales_(scales), table_(table), step_(step) {}

  HWY_INLINE V operator()(V p, V q) const {
    return support_weight::HWY_NAMESPACE::table_weights(scales_, step_.distance_part, table_, p, q);
  }
  int operator()(std::uint32_t p, std::uint32_t q) const {
    return table_[support_weight::exponent(scales_, support_weight::colour_distance(p, q), step_.distance_part)];
  }

 private:
  const support_weight::Scales scales_;
  const std::int32_t* table_;
  const Step step_;
};

// Returns ⌊(512 weight + sum) / (2 sum)⌋. The quotient in floats is off by at most one.
HWY_INLINE V share(V weight, V sum) {
  const D d;
  const hn::Rebind<float, D> f;
  const auto numerator = hn::Add(hn::ShiftLeft<9>(weight), sum), divisor = hn::Add(sum, sum);
  const auto n = hn::ConvertTo(d, hn::Div(hn::ConvertTo(f, numerator), hn::ConvertTo(f, divisor)));
  const auto left_over = hn::Sub(numerator, hn::Mul(n, divisor));
  const auto one = hn::Set(d, 1);
  const auto too_large = hn::VecFromMask(d, hn::Lt(left_over, hn::Zero(d)));
  const auto too_small = hn::IfThenZeroElse(hn::Lt(left_over, divisor), one);
  return hn::Add(hn::Add(n, too_large), too_small);
}

HWY_INLINE V words_of(V before, V behind) {
  const auto sum = hn::Add(hn::Set(D(), 65536), hn::Add(before, behind));
  return hn::Or(share(before, sum), hn::ShiftLeft<8>(share(behind, sum)));
}
HWY_INLINE int words_of(int before, int behind) {
  const Shares n = shares(before, behind);
  return n.before | n.behind << 8;
}

void weigh_rows(const std::int32_t* table, const support_weight::Scales& scales, const Step& step,
                ImageView<const std::uint32_t> lab, ImageView<std::uint32_t> words, int first, int last) {
  const D d;
  const Weigher weigh(scales, table, step);
  const int width = lab.width;
  const auto load = [&](const std::uint32_t* p)
                        HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const std::int32_t*>(p)); };
  const auto column = [&](int x) { return std::clamp(x, 0, width - 1); };
  for (int y = first; y < last; ++y) {
    const std::uint32_t* row = lab.row(y);
    const std::uint32_t* above = lab.row(std::max(0, y - step.offset));
    const std::uint32_t* below = lab.row(std::min(lab.height - 1, y + step.offset));
    std::uint32_t* out = words.row(y);
    const auto scalar = [&](int x) {
      const int horizontal =
          words_of(weigh(row[x], row[column(x - step.offset)]), weigh(row[x], row[column(x + step.offset)]));
      const int vertical = words_of(weigh(row[x], above[x]), weigh(row[x], below[x]));
      out[x] = static_cast<std::uint32_t>(horizontal) | static_cast<std::uint32_t>(vertical) << 16;
    };
    const auto vector = [&](int x) HWY_ATTR {
      const V p = load(row + x);
      const V horizontal = words_of(weigh(p, load(row + x - step.offset)), weigh(p, load(row + x + step.offset)));
      const V vertical = words_of(weigh(p, load(above + x)), weigh(p, load(below + x)));
      hn::StoreU(hn::Or(horizontal, hn::ShiftLeft<16>(vertical)), d, reinterpret_cast<std::int32_t*>(out + x));
    };
    if (2 * step.offset >= width)
      for (int x = 0; x < width; ++x) scalar(x);
    else
      for_each_block(d, step.offset, width - step.offset, vector, scalar);
  }
}

// Computes one of the two sums of a step for rows [first, last).
template <class T>
void average_rows(ImageView<const std::uint32_t> words, VolumeView<const T> costs, int offset, bool vertical,
                  VolumeView<std::uint16_t> averages, int first, int last) {
  const int shift = vertical ? 16 : 0, dx = vertical ? 0 : offset, dy = vertical ? offset : 0;
  support_weight::HWY_NAMESPACE::CellAverage<T> average(3);
  for (int y = first; y < last; ++y) {
    const int above = std::max(0, y - dy), below = std::min(costs.height - 1, y + dy);
    for (int x = 0; x < costs.width; ++x) {
      const std::uint32_t word = words(x, y) >> shift;
      average.set(0, word & 255, costs.pixel(std::max(0, x - dx), above));
      average.set(1, rest(word, 0), costs.pixel(x, y));
      average.set(2, word >> 8 & 255, costs.pixel(std::min(costs.width - 1, x + dx), below));
      average.run(costs.disparities, averages.pixel(x, y));
    }
  }
}
void average_u8_rows(ImageView<const std::uint32_t> words, VolumeView<const std::uint8_t> costs, int offset,
                     bool vertical, VolumeView<std::uint16_t> averages, int first, int last) {
  average_rows(words, costs, offset, vertical, averages, first, last);
}
void average_u16_rows(ImageView<const std::uint32_t> words, VolumeView<const std::uint16_t> costs, int offset,
                      bool vertical, VolumeView<std::uint16_t> averages, int first, int last) {
  average_rows(words, costs, offset, vertical, averages, first, last);
}

}  // namespace stereopsis::esaw::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::esaw {
namespace {

HWY_EXPORT(weigh_rows);
HWY_EXPORT(average_u8_rows);
HWY_EXPORT(average_u16_rows);

// Returns n for `end`, as a corrected estimate.
int count(float part, float sum) {
  const float wanted = 256.0f * part;
  const auto counts = [&](int k) { return (static_cast<float>(k) - 0.5f) * sum <= wanted; };
  int n = std::clamp(static_cast<int>(wanted / sum + 0.5f), 0, 255);
  while (n > 0 && !counts(n)) --n;
  while (n < 255 && counts(n + 1)) ++n;
  return n;
}

struct Pass {
  int offset_x, offset_y, distance_part, shift;
};

void weigh_and_carry(const support_weight::Scales& scales, const support_weight::Table& table, const Pass& pass,
                     ImageView<const std::uint32_t> lab, ImageView<const float> sums, ImageView<float> next,
                     ImageView<std::uint32_t> words, int y) {
  for (int x = 0; x < lab.width; ++x) {
    const int before_x = std::max(0, x - pass.offset_x), before_y = std::max(0, y - pass.offset_y);
    const int behind_x = std::min(lab.width - 1, x + pass.offset_x),
              behind_y = std::min(lab.height - 1, y + pass.offset_y);
    const auto part = [&](int other_x, int other_y) {
      const int distance = support_weight::colour_distance(lab(x, y), lab(other_x, other_y));
      return static_cast<float>(table.of[support_weight::exponent(scales, distance, pass.distance_part)]) *
             sums(other_x, other_y);
    };
    const float before = part(before_x, before_y), behind = part(behind_x, behind_y);
    const float centre_and_before = 65536.0f * sums(x, y) + before;
    const float sum = centre_and_before + behind;
    next(x, y) = sum / 65536.0f;
    const int n = count(before, sum);
    const auto word = static_cast<std::uint32_t>(n | std::min(count(behind, sum), 256 - n) << 8) << pass.shift;
    words(x, y) = pass.shift == 0 ? word : words(x, y) | word;
  }
}

}  // namespace

void cpu_weights(const Parameters& p, ImageView<const std::uint32_t> lab, ImageView<std::uint32_t> weights,
                 ImageView<float> sums, ImageView<float> other_sums, Threads& threads) {
  const auto table = support_weight::make_table();
  const auto scales = support_weight::scales(p.gamma_colour, p.gamma_distance);
  std::array<std::int32_t, 256> wide;
  std::copy(table.of.begin(), table.of.end(), wide.begin());
  const bool carries = p.normalise == Normalise::end;
  if (carries)
    for (int y = 0; y < lab.height; ++y) std::fill_n(sums.row(y), lab.width, 1.0f);

  int t = 0;
  for (const Step& step : steps(p)) {
    const auto words = weights.crop({0, t++ * lab.height, lab.width, lab.height});
    if (!carries) {
      threads.rows(lab.height, [&](int first, int last) {
        HWY_DYNAMIC_DISPATCH(weigh_rows)(wide.data(), scales, step, lab, words, first, last);
      });
      continue;
    }
    for (const Pass& pass :
         {Pass{step.offset, 0, step.distance_part, 0}, Pass{0, step.offset, step.distance_part, 16}}) {
      threads.rows(lab.height, [&](int first, int last) {
        for (int y = first; y < last; ++y) weigh_and_carry(scales, table, pass, lab, sums, other_sums, words, y);
      });
      std::swap(sums, other_sums);
    }
  }
}

void cpu(const Parameters& p, ImageView<const std::uint32_t> weights, VolumeView<const std::uint8_t> costs,
         VolumeView<std::uint16_t> aggregated, VolumeView<std::uint16_t> other, Threads& threads) {
  int t = 0;
  for (const Step& step : steps(p)) {
    const auto words = weights.crop({0, t * costs.height, costs.width, costs.height});
    threads.rows(costs.height, [&](int first, int last) {
      if (t == 0)
        HWY_DYNAMIC_DISPATCH(average_u8_rows)(words, costs, step.offset, false, other, first, last);
      else
        HWY_DYNAMIC_DISPATCH(average_u16_rows)(words, aggregated, step.offset, false, other, first, last);
    });
    threads.rows(costs.height, [&](int first, int last) {
      HWY_DYNAMIC_DISPATCH(average_u16_rows)(words, other, step.offset, true, aggregated, first, last);
    });
    ++t;
  }
}

}  // namespace stereopsis::esaw
#endif
