#include "stages/cross_aggregation/cross_aggregation.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "device/cpu/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/cross_aggregation/cross_aggregation_cpu.cpp"
#include <hwy/foreach_target.h>

#include "device/cpu/highway-inl.hpp"
#include "stages/cross_aggregation/cross_aggregation_cpu_line-inl.hpp"

#ifndef STEREOPSIS_CROSS_AGGREGATION_PROBLEM
#define STEREOPSIS_CROSS_AGGREGATION_PROBLEM
namespace stereopsis::cross_aggregation {

// All rows, or all columns, with the arms of both views. Planes of right arms extend beyond the image, so that each
// candidate of a pixel has arms there.
struct Lines {
  int count, pixels;
  Plane left[arm_count], right[arm_count];
  std::ptrdiff_t step;  // bytes from the right arms of a disparity to those of the disparity before

  Line line(int i, int disparity, int disparities, int tables) const {
    Line line{pixels, tables, {}, {}};
    for (int a = 0; a < arm_count; ++a) {
      line.left[a] = left[a].line(i);
      line.right[a] = right[a].line(i) + (disparities - 1 - disparity) * step;
    }
    return line;
  }
};

struct Problem {
  Lines rows, columns;
  int iterations, disparities, tables;
  Plane costs;                 // the planes of all disparities
  std::ptrdiff_t plane_bytes;  // size of each of them
};

// Sums along the first arms: their lower and their upper bytes.
struct Sums {
  Plane low, high;
};

// The memory of a thread. While the lines of one direction are written, those of the other direction are read.
struct Workspace {
  Sums sums[2];         // planes of columns, and planes of rows
  Sums strip;           // lines that are not transposed yet
  std::uint8_t* means;  // a line
  Buffers buffers;
};

}  // namespace stereopsis::cross_aggregation
#endif

HWY_BEFORE_NAMESPACE();
namespace stereopsis::cross_aggregation::HWY_NAMESPACE {

// Transposes a block of 16×16 bytes.
HWY_INLINE void transpose_block(const std::uint8_t* in, std::ptrdiff_t in_pitch, std::uint8_t* out,
                                std::ptrdiff_t out_pitch) {
  const hn::FixedTag<std::uint8_t, block> d;
  hn::Vec<decltype(d)> v[block], w[block];
  for (int i = 0; i < block; ++i) v[i] = hn::LoadU(d, in + i * in_pitch);
  // Each step interleaves the lines i and i + 8.
  const auto interleave = [&](const auto* from, auto* to) {
    for (int i = 0; i < block / 2; ++i) {
      to[2 * i] = hn::InterleaveLower(d, from[i], from[i + block / 2]);
      to[2 * i + 1] = hn::InterleaveUpper(d, from[i], from[i + block / 2]);
    }
  };
  interleave(v, w);
  interleave(w, v);
  interleave(v, w);
  interleave(w, v);
  for (int i = 0; i < block; ++i) hn::StoreU(v[i], d, out + i * out_pitch);
}

// Transposes lines of bytes. The last blocks overlap those before them.
void transpose(const std::uint8_t* in, std::ptrdiff_t in_pitch, int lines, int pixels, std::uint8_t* out,
               std::ptrdiff_t out_pitch) {
  if (lines < block || pixels < block) {
    for (int i = 0; i < lines; ++i)
      for (int j = 0; j < pixels; ++j) out[j * out_pitch + i] = in[i * in_pitch + j];
    return;
  }
  for (int block_i = 0; block_i < lines; block_i += block)
    for (int block_j = 0; block_j < pixels; block_j += block) {
      const int i = std::min(block_i, lines - block), j = std::min(block_j, pixels - block);
      transpose_block(in + i * in_pitch + j, in_pitch, out + j * out_pitch + i, out_pitch);
    }
}

// Aggregates the costs of a disparity. A pass along the lines of a direction completes an iteration, and begins the
// next one.
void aggregate(const Problem& p, int disparity, const Workspace& w) {
  const Plane costs{p.costs.data + disparity * p.plane_bytes, p.costs.pitch};
  for (int pass = 0; pass <= p.iterations; ++pass) {
    const bool along_rows = pass % 2 == 0, first = pass == 0, last = pass == p.iterations;
    const Lines& lines = along_rows ? p.rows : p.columns;
    const Sums &in = w.sums[1 - pass % 2], &out = w.sums[pass % 2];
    for (int from = 0; from < lines.count; from += block) {
      const int count = std::min(block, lines.count - from);
      for (int i = 0; i < count; ++i) {
        const Line line = lines.line(from + i, disparity, p.disparities, p.tables);
        const std::uint8_t* values = costs.line(from + i);
        if (!first) {
          std::uint8_t* const means = last ? along_rows ? costs.line(from + i) : w.strip.low.line(i) : w.means;
          average(line, in.low.line(from + i), in.high.line(from + i), w.buffers, means);
          values = means;
        }
        if (!last) sum_costs(line, values, w.buffers, w.strip.low.line(i), w.strip.high.line(i));
      }
      const auto transpose_strip = [&](const Plane& strip, const Plane& to) {
        transpose(strip.data, strip.pitch, count, lines.pixels, to.data + from, to.pitch);
      };
      if (!last) {
        transpose_strip(w.strip.low, out.low);
        transpose_strip(w.strip.high, out.high);
      } else if (!along_rows) {
        transpose_strip(w.strip.low, costs);
      }
    }
  }
}

}  // namespace stereopsis::cross_aggregation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stereopsis::cross_aggregation {

HWY_EXPORT(transpose);
HWY_EXPORT(aggregate);

namespace {

// Returns the distance of lines. Vectors read beyond the end of a line. Because the distance is an odd multiple of 64
// bytes, the bytes of a column do not share a few sets of the cache.
std::ptrdiff_t pitch_of(int pixels) { return (static_cast<std::ptrdiff_t>(pixels) + 127) / 64 * 64 | 64; }

// The sizes of the planes, in bytes.
struct Layout {
  Size size;
  int disparities;

  int width_of_right() const { return size.width + disparities - 1; }
  std::ptrdiff_t row_pitch() const { return pitch_of(size.width); }
  std::ptrdiff_t right_pitch() const { return pitch_of(width_of_right()); }
  std::ptrdiff_t column_pitch() const { return pitch_of(size.height); }
  std::ptrdiff_t longest_pitch() const { return std::max(row_pitch(), column_pitch()); }
  std::ptrdiff_t rows() const { return row_pitch() * size.height; }
  std::ptrdiff_t columns() const { return column_pitch() * size.width; }
  std::ptrdiff_t right_rows() const { return right_pitch() * size.height; }
  std::ptrdiff_t right_columns() const { return column_pitch() * width_of_right(); }
  std::ptrdiff_t arms() const { return arm_count * (rows() + columns() + right_rows() + right_columns()); }
  std::ptrdiff_t costs() const { return rows() * disparities; }
  std::size_t thread() const {
    return with_gap(2 * (rows() + columns()) + (2 * block + 1) * longest_pitch() + Buffers::bytes_of(longest_pitch()));
  }
};

class Cursor {
 public:
  explicit Cursor(std::byte* memory) : next_(reinterpret_cast<std::uint8_t*>(memory)) {}
  Plane take(std::ptrdiff_t bytes, std::ptrdiff_t pitch) { return {std::exchange(next_, next_ + bytes), pitch}; }
  std::byte* rest() const { return reinterpret_cast<std::byte*>(next_); }

 private:
  std::uint8_t* next_;
};

Workspace workspace_of(const Layout& of, std::byte* memory) {
  Cursor cursor(memory);
  Workspace w{{}, {}, {}, {nullptr, 0}};
  for (Plane Sums::*part : {&Sums::low, &Sums::high}) {
    w.sums[0].*part = cursor.take(of.columns(), of.column_pitch());
    w.sums[1].*part = cursor.take(of.rows(), of.row_pitch());
    w.strip.*part = cursor.take(block * of.longest_pitch(), of.longest_pitch());
  }
  w.means = cursor.take(of.longest_pitch(), 0).data;
  w.buffers = {cursor.rest(), of.longest_pitch()};
  return w;
}

// Stores the arms of both views as planes of rows and of columns.
void store_arms(const Parameters& p, const Arms& arms, int min_disparity, const Layout& of, const Problem& problem,
                Threads& threads) {
  const std::uint32_t unlimited =
      cross::word_of({cross::longest_arm, cross::longest_arm, cross::longest_arm, cross::longest_arm});
  const auto word = [&](int i, int y) {
    return p.support == Support::left ? unlimited : arms.right.clamped(i - (of.disparities - 1) - min_disparity, y);
  };
  threads.rows(of.size.height, [&](int first, int last) {
    for (int y = first; y < last; ++y)
      for (int a = 0; a < arm_count; ++a) {
        for (int x = 0; x < of.size.width; ++x)
          problem.rows.left[a].line(y)[x] = static_cast<std::uint8_t>(arms.left(x, y) >> 8 * a);
        for (int i = 0; i < of.width_of_right(); ++i)
          problem.rows.right[a].line(y)[i] = static_cast<std::uint8_t>(word(i, y) >> 8 * a);
      }
  });
  threads.rows(
      2 * arm_count,
      [&](int first, int last) {
        for (int plane = first; plane < last; ++plane) {
          const int a = plane / 2, turned = (a + 2) % arm_count;
          const bool right = plane % 2 == 1;
          const Plane& from = right ? problem.rows.right[a] : problem.rows.left[a];
          const Plane& to = right ? problem.columns.right[turned] : problem.columns.left[turned];
          HWY_DYNAMIC_DISPATCH(transpose)
          (from.data, from.pitch, of.size.height, right ? of.width_of_right() : of.size.width, to.data, to.pitch);
        }
      },
      1);
}

}  // namespace

std::size_t scratch_bytes(Size size, int disparities, int threads) {
  const Layout of{size, disparities};
  return static_cast<std::size_t>(of.arms() + of.costs()) + of.thread() * static_cast<std::size_t>(threads);
}

void cpu(const Parameters& p, const Arms& arms, int min_disparity, VolumeView<std::uint8_t> costs,
         std::span<std::byte> scratch, Threads& threads) {
  check_images(p, arms);
  const Layout of{{costs.width, costs.height}, costs.disparities};
  Cursor cursor(scratch.data());
  Problem problem{.rows = {costs.height, costs.width, {}, {}, 1},
                  .columns = {costs.width, costs.height, {}, {}, of.column_pitch()},
                  .iterations = p.iterations,
                  .disparities = costs.disparities,
                  .tables = (arms.longest + most_lanes + 2 * most_lanes) / (2 * most_lanes),
                  .costs = cursor.take(of.costs(), of.row_pitch()),
                  .plane_bytes = of.rows()};
  for (int a = 0; a < arm_count; ++a) {
    problem.rows.left[a] = cursor.take(of.rows(), of.row_pitch());
    problem.rows.right[a] = cursor.take(of.right_rows(), of.right_pitch());
    problem.columns.left[a] = cursor.take(of.columns(), of.column_pitch());
    problem.columns.right[a] = cursor.take(of.right_columns(), of.column_pitch());
  }
  std::byte* const workspaces = cursor.rest();
  store_arms(p, arms, min_disparity, of, problem, threads);

  // Calls f with the cells of each row, whose pixels are lines, and with their places in the planes.
  const auto for_each_row = [&](auto&& f) {
    threads.rows(costs.height, [&](int first, int last) {
      for (int y = first; y < last; ++y) f(costs.row(y), problem.costs.line(y));
    });
  };
  for_each_row([&](const std::uint8_t* cells, std::uint8_t* plane) {
    HWY_DYNAMIC_DISPATCH(transpose)
    (cells, costs.disparities, costs.width, costs.disparities, plane, problem.plane_bytes);
  });
  std::atomic<int> next = 0;
  threads.each([&](int i) {
    const Workspace w = workspace_of(of, workspaces + i * of.thread());
    for (int d = next++; d < costs.disparities; d = next++) HWY_DYNAMIC_DISPATCH(aggregate)(problem, d, w);
  });
  for_each_row([&](std::uint8_t* cells, const std::uint8_t* plane) {
    HWY_DYNAMIC_DISPATCH(transpose)
    (plane, problem.plane_bytes, costs.disparities, costs.width, cells, costs.disparities);
  });
}

}  // namespace stereopsis::cross_aggregation
#endif
