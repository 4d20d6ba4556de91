// Planes on the CPU. Each thread sums the points of the segments in its rows of cells, then fits their planes. The sums
// of a segment count from its cell, and move with the cell that they join.
#include <algorithm>
#include <cstdlib>

#include "device/cpu/threads.hpp"
#include "stages/planes/planes.hpp"

namespace stereopsis::planes {
namespace {

struct Segment {
  std::int32_t colour[3], pixels, points;  // sums of the colours, then their means
  std::int32_t weight;
  bool has_plane;
  Plane plane;
  Sums sums;
};

// Returns the sums in coordinates that count from a pixel (x, y) to the left and above.
Sums moved(const Sums& s, std::int64_t x, std::int64_t y) {
  return {s.n,
          s.x + s.n * x,
          s.y + s.n * y,
          s.q,
          s.xx + 2 * x * s.x + s.n * x * x,
          s.xy + x * s.y + y * s.x + s.n * x * y,
          s.yy + 2 * y * s.y + s.n * y * y,
          s.xq + x * s.q,
          s.yq + y * s.q};
}

Sums operator+(const Sums& a, const Sums& b) {
  return {a.n + b.n, a.x + b.x, a.y + b.y, a.q + b.q, a.xx + b.xx, a.xy + b.xy, a.yy + b.yy, a.xq + b.xq, a.yq + b.yq};
}

class Planes {
 public:
  Planes(const Parameters& p, const Input& in, DisparityRange range, std::span<std::byte> scratch)
      : p_(p), in_(in), range_(range), cells_(in.segments.size(), p.cell) {
    const std::size_t pixels = static_cast<std::size_t>(in.segments.width) * in.segments.height;
    segments_ = take<Segment>(scratch, static_cast<std::size_t>(cells_.count()));
    points_ = take<std::int32_t>(scratch, pixels);
    runs_ = take<Run>(scratch, pixels);
    run_counts_ = take<std::int32_t>(scratch, static_cast<std::size_t>(in.segments.height));
  }

  static std::size_t bytes(Size size, int cell) {
    const std::size_t pixels = static_cast<std::size_t>(size.width) * size.height;
    return with_gap(sizeof(Segment) * static_cast<std::size_t>(slic::Cells(size, cell).count())) +
           with_gap(sizeof(std::int32_t) * pixels) + with_gap(sizeof(Run) * pixels) +
           with_gap(sizeof(std::int32_t) * static_cast<std::size_t>(size.height));
  }

  int rows() const { return cells_.rows; }

  // Finds the points of a row, and its runs of pixels of one segment.
  void begin_row(int y) {
    const int width = in_.segments.width;
    const std::uint32_t* const words = in_.segments.row(y);
    const auto least = static_cast<float>(p_.confidence);
    for (int x = 0; x < width; ++x) {
      const float confidence = in_.confidence.empty() ? 1 : in_.confidence(x, y);
      points_of(y)[x] = point(in_.disparity(x, y), in_.validity(x, y), confidence, least, range_);
    }
    int count = 0;
    for (int x = 0, end; x < width; x = end) {
      for (end = x + 1; end < width && words[end] == words[x];) ++end;
      runs_of(y)[count++] = {cells_.index(words[x]), x, end};
    }
    run_counts_[y] = count;
  }

  // Sums the colours and the points of the segments of some rows of cells.
  void start(int first_row, int end_row) {
    std::fill(row_of(first_row), row_of(end_row), Segment{});
    for_each_run(first_row, end_row, [&](Segment& s, const Run& run, int y) {
      for (int x = run.from; x < run.to; ++x) {
        const std::uint32_t word = in_.rgb(x, y);
        for (int i = 0; i < 3; ++i) s.colour[i] += static_cast<int>(word >> 8 * i & 255);
        s.points += points_of(y)[x] != no_point ? 1 : 0;
      }
      s.pixels += run.to - run.from;
    });
    for (Segment* s = row_of(first_row); s < row_of(end_row); ++s)
      for (std::int32_t& sum : s->colour) sum = s->pixels > 0 ? (sum + s->pixels / 2) / s->pixels : 0;
  }

  // Sums the points of the segments of some rows of cells that take part in a round.
  void sum(int round, int first_row, int end_row) {
    for (Segment* s = row_of(first_row); s < row_of(end_row); ++s) s->sums = {};
    for_each_run(first_row, end_row, [&](Segment& s, const Run& run, int y) {
      if (round > 0 && !s.has_plane) return;
      const int first_x = cells_.first_x(run.index % cells_.columns),
                dy = y - cells_.first_y(run.index / cells_.columns);
      const std::int32_t* const q = points_of(y);
      std::int64_t sum_q = 0, sum_xq = 0;
      std::int32_t n = 0, sum_x = 0, sum_xx = 0;
      for (int x = run.from; x < run.to; ++x) {
        const int dx = x - first_x;
        const bool takes_part =
            q[x] != no_point && (round == 0 || std::abs(s.plane.at(dx, dy) - q[x]) <= tolerances[round]);
        if (!takes_part) continue;
        ++n, sum_x += dx, sum_xx += dx * dx, sum_q += q[x], sum_xq += dx * q[x];
      }
      s.sums = s.sums + Sums{n, sum_x, n * dy, sum_q, sum_xx, sum_x * dy, n * dy * dy, sum_xq, sum_q * dy};
    });
  }

  void fit_row(int round, int row) {
    for (int column = 0; column < cells_.columns; ++column) {
      Segment& s = row_of(row)[column];
      if (s.points == 0) continue;
      std::int64_t points = 0;
      Sums sums;
      for (int reach = 0; sums.n < enough && reach <= farthest; ++reach)
        add_ring(column, row, reach, round, sums, points);
      const auto fitted = round + 1 < rounds || 2 * sums.n >= points ? fit(sums) : std::nullopt;
      s.has_plane = fitted.has_value();
      if (!fitted) continue;
      s.plane = *fitted;
      s.weight = static_cast<std::int32_t>((p_.weight * (256 * sums.n / points) + 128) / 256);
    }
  }

  void write_row(int y, std::uint32_t* planes) const {
    const auto most = static_cast<unsigned>(16 * (range_.count - 1));
    for (const Run& run : runs(y)) {
      const Segment& s = segments_[run.index];
      const int first_x = cells_.first_x(run.index % cells_.columns),
                dy = y - cells_.first_y(run.index / cells_.columns);
      const std::uint32_t weight = s.has_plane ? static_cast<std::uint32_t>(s.weight) : 0;
      for (int x = run.from; x < run.to; ++x) {
        const auto v = static_cast<unsigned>(s.plane.at(x - first_x, dy));
        planes[x] = weight > 0 && v <= most ? 256 * v + weight : 0;
      }
    }
  }

 private:
  // Pixels of a row of the segment of the cell `index`.
  struct Run {
    std::int32_t index, from, to;
  };

  template <class T>
  static T* take(std::span<std::byte>& from, std::size_t count) {
    T* const first = reinterpret_cast<T*>(from.data());
    from = from.subspan(with_gap(count * sizeof(T)));
    return first;
  }
  std::size_t at(int y) const { return static_cast<std::size_t>(y) * in_.segments.width; }
  Segment* row_of(int row) const { return segments_ + static_cast<std::size_t>(row) * cells_.columns; }
  std::int32_t* points_of(int y) const { return points_ + at(y); }
  Run* runs_of(int y) const { return runs_ + at(y); }
  std::span<const Run> runs(int y) const { return {runs_of(y), static_cast<std::size_t>(run_counts_[y])}; }

  // Calls f(segment, run, y) for the runs of the segments of some rows of cells.
  template <class F>
  void for_each_run(int first_row, int end_row, F&& f) {
    const int first = first_row * cells_.columns, end = end_row * cells_.columns,
              end_y = std::min(in_.segments.height, cells_.first_y(end_row + 1));
    for (int y = std::max(0, cells_.first_y(first_row - 1)); y < end_y; ++y)
      for (const Run& run : runs(y))
        if (run.index >= first && run.index < end) f(segments_[run.index], run, y);
  }

  bool is_similar(const Segment& s, const Segment& other) const {
    for (int i = 0; i < 3; ++i)
      if (std::abs(s.colour[i] - other.colour[i]) >= p_.similar) return false;
    return other.points > 0;
  }

  static bool is_near(const Plane& plane, const Sums& sums) {
    return std::abs(plane.a * sums.x + plane.b * sums.y + sums.n * plane.c - one * sums.q) <= 16 * one * sums.n;
  }

  // Adds the segments that join a segment from the cells that are `reach` cells away.
  void add_ring(int column, int row, int reach, int round, Sums& all, std::int64_t& points) const {
    const Segment& s = row_of(row)[column];
    for (int r = std::max(0, row - reach); r <= std::min(cells_.rows - 1, row + reach); ++r) {
      const int step = std::abs(r - row) == reach ? 1 : 2 * reach;  // the first and the last column of other rows
      for (int c = column - reach; c <= column + reach; c += step) {
        if (c < 0 || c >= cells_.columns || !is_similar(s, row_of(r)[c])) continue;
        const Segment& other = row_of(r)[c];
        const Sums sums = moved(other.sums, (c - column) * cells_.cell, (r - row) * cells_.cell);
        if (round > 0 && reach > 0 && s.has_plane && !is_near(s.plane, sums)) continue;
        points += other.points;
        all = all + sums;
      }
    }
  }

  const Parameters p_;
  const Input in_;
  const DisparityRange range_;
  const slic::Cells cells_;
  Segment* segments_;
  std::int32_t* points_;
  Run* runs_;
  std::int32_t* run_counts_;
};

}  // namespace

std::size_t scratch_bytes(Size size, int cell) { return Planes::bytes(size, cell); }

void cpu(const Parameters& p, const Input& in, DisparityRange range, ImageView<std::uint32_t> planes,
         std::span<std::byte> scratch, Threads& threads) {
  Planes fitted(p, in, range, scratch);
  const auto in_bands = [&](auto&& f) {
    const int bands = threads.count();
    const auto edge = [&](int i) { return static_cast<int>(static_cast<long long>(fitted.rows()) * i / bands); };
    threads.each([&](int i) {
      if (edge(i) < edge(i + 1)) f(edge(i), edge(i + 1));
    });
  };
  const auto in_rows = [&](int rows, auto&& f) {
    threads.rows(rows, [&](int first, int last) {
      for (int i = first; i < last; ++i) f(i);
    });
  };
  in_rows(planes.height, [&](int y) { fitted.begin_row(y); });
  in_bands([&](int first, int end) { fitted.start(first, end); });
  for (int round = 0; round < rounds; ++round) {
    in_bands([&](int first, int end) { fitted.sum(round, first, end); });
    in_rows(fitted.rows(), [&](int row) { fitted.fit_row(round, row); });
  }
  in_rows(planes.height, [&](int y) { fitted.write_row(y, planes.row(y)); });
}

}  // namespace stereopsis::planes
