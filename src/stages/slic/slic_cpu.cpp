// Superpixels on the CPU. The pixels of a row in one cell have the same nine centres. A vector of these pixels is
// compared with one centre after the other. Each thread sums the pixels of each centre in its rows. The sums of all
// threads are then added.
#include "stages/slic/slic.hpp"

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/slic/slic_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/lanes-inl.hpp"

#ifndef STEREOPSIS_SLIC_TYPES
#define STEREOPSIS_SLIC_TYPES
namespace stereopsis::slic {

struct Centre {
  std::int32_t x, y, red, green, blue;
};
// Sums over the pixels of a centre. Coordinates are relative to the first column and row in which these pixels may lie.
struct Sums {
  std::int32_t x, y, red, green, blue, pixels;
};

}  // namespace stereopsis::slic
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::slic::HWY_NAMESPACE {
using namespace stereopsis::HWY_NAMESPACE;

class Assignment {
 public:
  Assignment(const Parameters& p, const Cells& cells, const Centre* centres)
      : p_(p), cells_(cells), centres_(centres) {}

  // Assigns `count` pixels, from (x, y) on, which lie in the same cell. The words of the pixels are followed by padding
  // for a vector.
  HWY_INLINE void run(const std::uint32_t* words, int x, int y, int count, std::uint32_t* segments) const {
    const D d;
    const int own_column = x / p_.cell, own_row = y / p_.cell;
    for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
      const auto word = hn::Load(d, reinterpret_cast<const std::int32_t*>(words) + i);
      const auto low = hn::Set(d, 255);
      const auto red = hn::And(word, low), green = hn::And(hn::ShiftRight<8>(word), low),
                 blue = hn::And(hn::ShiftRight<16>(word), low), column_of = counted_from(d, x + i);
      auto lowest = hn::Set(d, std::numeric_limits<std::int32_t>::max()), nearest = hn::Zero(d);
      for (int row = std::max(0, own_row - 1); row <= std::min(cells_.rows - 1, own_row + 1); ++row)
        for (int column = std::max(0, own_column - 1); column <= std::min(cells_.columns - 1, own_column + 1);
             ++column) {
          const Centre& c = centres_[row * cells_.columns + column];
          const auto colour = hn::Add(hn::Add(square(red, c.red), square(green, c.green)), square(blue, c.blue));
          const auto place = hn::Add(square(column_of, c.x), hn::Set(d, (y - c.y) * (y - c.y)));
          const auto far = hn::Add(hn::Mul(colour, hn::Set(d, p_.cell * p_.cell)),
                                   hn::Mul(place, hn::Set(d, p_.compactness * p_.compactness)));
          nearest = hn::IfThenElse(hn::Lt(far, lowest), hn::Set(d, static_cast<std::int32_t>(cells_.word(column, row))),
                                   nearest);
          lowest = hn::Min(far, lowest);
        }
      hn::Store(nearest, d, reinterpret_cast<std::int32_t*>(segments) + i);
    }
  }

 private:
  using D = hn::ScalableTag<std::int32_t>;
  static HWY_INLINE hn::Vec<D> square(hn::Vec<D> v, std::int32_t of) {
    const auto difference = hn::Sub(v, hn::Set(D(), of));
    return hn::Mul(difference, difference);
  }

  const Parameters p_;
  const Cells cells_;
  const Centre* const centres_;
};

void assign_rows(const Parameters& p, const Cells& cells, const Centre* centres, ImageView<const std::uint32_t> rgb,
                 ImageView<std::uint32_t> segments, int first, int last) {
  constexpr int room = largest_cell + 64;
  alignas(64) std::uint32_t words[room] = {}, found[room];
  const Assignment assignment(p, cells, centres);
  for (int y = first; y < last; ++y)
    for (int x = 0; x < rgb.width; x += p.cell) {
      const int count = std::min(p.cell, rgb.width - x);
      std::copy_n(rgb.row(y) + x, count, words);
      assignment.run(words, x, y, count, found);
      std::copy_n(found, count, segments.row(y) + x);
    }
}

}  // namespace stereopsis::slic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::slic {

HWY_EXPORT(assign_rows);

namespace {

std::size_t sums_bytes(const Cells& cells) { return with_gap(sizeof(Sums) * static_cast<std::size_t>(cells.count())); }

// Sums runs of pixels of one segment before adding them to its sums.
void sum_rows(const Cells& cells, ImageView<const std::uint32_t> rgb, ImageView<const std::uint32_t> segments,
              int first, int last, Sums* sums) {
  std::fill_n(sums, cells.count(), Sums{});
  for (int y = first; y < last; ++y)
    for (int x = 0, end; x < rgb.width; x = end) {
      const std::uint32_t word = segments(x, y);
      const int index = cells.index(word), column = index % cells.columns, row = index / cells.columns;
      Sums& sum = sums[index];
      for (end = x; end < rgb.width && segments(end, y) == word; ++end) {
        const std::uint32_t colour = rgb(end, y);
        sum.x += end - cells.first_x(column - 1);
        sum.red += colour & 255;
        sum.green += colour >> 8 & 255;
        sum.blue += colour >> 16 & 255;
      }
      sum.y += (end - x) * (y - cells.first_y(row - 1));
      sum.pixels += end - x;
    }
}

void move(const Cells& cells, const std::byte* sums, int bands, Centre* centres) {
  for (int row = 0, i = 0; row < cells.rows; ++row)
    for (int column = 0; column < cells.columns; ++column, ++i) {
      Sums all{};
      for (int band = 0; band < bands; ++band) {
        const Sums& s = reinterpret_cast<const Sums*>(sums + band * sums_bytes(cells))[i];
        all = {all.x + s.x,         all.y + s.y,       all.red + s.red,
               all.green + s.green, all.blue + s.blue, all.pixels + s.pixels};
      }
      if (all.pixels == 0) continue;
      const auto mean = [&](std::int32_t sum) { return (sum + all.pixels / 2) / all.pixels; };
      centres[i] = {cells.first_x(column - 1) + mean(all.x), cells.first_y(row - 1) + mean(all.y), mean(all.red),
                    mean(all.green), mean(all.blue)};
    }
}

}  // namespace

std::size_t scratch_bytes(const Parameters& p, Size size, int threads) {
  const Cells cells(size, p.cell);
  return with_gap(sizeof(Centre) * static_cast<std::size_t>(cells.count())) + threads * sums_bytes(cells);
}

void cpu(const Parameters& p, ImageView<const std::uint32_t> rgb, ImageView<std::uint32_t> segments,
         std::span<std::byte> scratch, Threads& threads) {
  check(rgb.size());
  const Cells cells(rgb.size(), p.cell);
  auto* const centres = reinterpret_cast<Centre*>(scratch.data());
  std::byte* const sums = scratch.data() + with_gap(sizeof(Centre) * static_cast<std::size_t>(cells.count()));
  for (int row = 0, i = 0; row < cells.rows; ++row)
    for (int column = 0; column < cells.columns; ++column, ++i) {
      const int x = cells.middle_x(column), y = cells.middle_y(row);
      const std::uint32_t word = rgb(x, y);
      centres[i] = {x, y, static_cast<std::int32_t>(word & 255), static_cast<std::int32_t>(word >> 8 & 255),
                    static_cast<std::int32_t>(word >> 16 & 255)};
    }
  const int bands = threads.count();
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    const bool moves = iteration + 1 < p.iterations;
    threads.each([&](int i) {
      const auto edge = [&](int band) { return static_cast<int>(static_cast<long long>(rgb.height) * band / bands); };
      HWY_DYNAMIC_DISPATCH(assign_rows)(p, cells, centres, rgb, segments, edge(i), edge(i + 1));
      if (moves)
        sum_rows(cells, rgb, segments, edge(i), edge(i + 1), reinterpret_cast<Sums*>(sums + i * sums_bytes(cells)));
    });
    if (moves) move(cells, sums, bands, centres);
  }
}

}  // namespace stereopsis::slic
#endif
