// The data that the CPU threads share, and the memory of each thread, in one block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/rounding.hpp"
#include "fused/support_weight_wta/support_weight_wta.hpp"

namespace stereopsis::support_weight_wta {

constexpr int slack = 64;  // number of elements after a row that vectors may access

// One row for each of several disparities.
struct Rows {
  std::uint16_t* data = nullptr;
  std::ptrdiff_t pitch = 0;
  std::uint16_t* operator[](int k) const { return data + k * pitch; }
};

// Assigns parts of a block of memory, or only counts their bytes.
class Memory {
 public:
  explicit Memory(std::byte* start) : start_(start) {}
  template <class T>
  T* take(std::size_t count) {
    std::byte* piece = start_ == nullptr ? nullptr : start_ + used_;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T*>(piece);
  }
  // Takes rows of `width` pixels, with `pad` more pixels on both sides.
  Rows rows(int count, int width, int pad) {
    const int before = round_up(pad, 32);
    const std::ptrdiff_t pitch = round_up(before + width + pad + slack, 32);
    std::uint16_t* memory = take<std::uint16_t>(pitch * count);
    return {memory == nullptr ? nullptr : memory + before, pitch};
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* start_;
  std::size_t used_ = 0;
};

// The rows of a window that slides down the image.
struct Ring {
  Rows slot(int y) const { return {rows.data + (y % size) * count * rows.pitch, rows.pitch}; }

  Rows rows;
  int size = 0;
  int count = 0;
};
inline Ring make_ring(Memory& memory, int size, int count, int width) {
  return {memory.rows(size * count, width, 0), size, count};
}

// The data that all threads share.
struct Job {
  Job(const Parameters& p_, Size size, int disparities_, Memory& memory)
      : parameters(p_),
        width(size.width),
        height(size.height),
        disparities(disparities_),
        slab(slab_of(p_, disparities_)) {
    if (const auto* e = std::get_if<esaw::Parameters>(&p_.aggregation)) {
      const Size all = esaw::weights_size(*e, size);
      weights = {memory.take<std::uint32_t>(static_cast<std::size_t>(all.width) * all.height), all.width, all.height};
      if (e->normalise == esaw::Normalise::end)
        for (ImageView<float>& image : sums)
          image = {memory.take<float>(static_cast<std::size_t>(size.width) * size.height), size.width, size.height};
    }
    if (const auto* s = std::get_if<asw_separable::Parameters>(&p_.aggregation))
      for (std::uint8_t*& plane : taps)
        plane = memory.take<std::uint8_t>(static_cast<std::size_t>(s->window) * size.width * size.height);
    // The volume is stored row by row, and each row disparity by disparity.
    pitch = round_up(size.width + slack, 32);
    volume = memory.take<std::uint16_t>(static_cast<std::size_t>(pitch) * disparities_ * size.height);
  }

  // Returns the number of disparities that are processed at a time. The rows of these disparities must fit in an L2
  // cache, and the number must be large enough to amortise the loads of a vector.
  static int slab_of(const Parameters& p, int disparities) {
    return std::min(disparities, std::holds_alternative<asw_separable::Parameters>(p.aggregation) ? 16 : 8);
  }
  Rows volume_row(int y, int k) const {
    return {volume + (static_cast<std::ptrdiff_t>(y) * disparities + k) * pitch, pitch};
  }

  const Parameters& parameters;
  int width, height, disparities, slab;
  Input in{};
  wta::Output out{};
  ImageView<std::uint32_t> weights;  // esaw only
  ImageView<float> sums[2];          // sums of esaw, which is normalised at the end
  std::uint8_t* taps[2] = {};        // weights for asw_separable only, across and down: (y, tap, x)
  std::uint16_t* volume = nullptr;
  std::ptrdiff_t pitch = 0;
};

// The memory of a thread for esaw.
struct EsawScratch {
  EsawScratch(const esaw::Parameters& p, const Job& job, Memory& memory) {
    for (const esaw::Step& step : esaw::steps(p)) {
      const int across = std::min(step.offset, job.width), down = std::min(step.offset, job.height);
      levels.push_back({across, down, memory.rows(job.slab, job.width, across),
                        make_ring(memory, std::min(2 * down + 1, job.height), job.slab, job.width)});
    }
    shares = memory.rows(3, job.width, 0);
  }
  struct Level {
    int across, down;
    Rows input;
    Ring horizontal;
  };
  std::vector<Level> levels;
  Rows shares;
};

// The memory of a thread for asw_separable: weights in pairs of taps, separately for even and odd pixels.
struct SeparableScratch {
  SeparableScratch(const asw_separable::Parameters& p, const Job& job, Memory& memory)
      : radius(p.window / 2),
        input(memory.rows(job.slab, job.width, radius + 1)),
        horizontal(make_ring(memory, std::min(p.window, job.height), job.slab, job.width)),
        pairs(memory.rows(p.window + 1, job.width, 0)),
        totals(memory.rows(2, job.width, 0)),
        inverses(memory.rows(4, job.width, 0)) {}
  int radius;
  Rows input;
  Ring horizontal;
  Rows pairs;     // index 2 i for even pixels, 2 i + 1 for odd pixels
  Rows totals;    // 32-bit values for even and for odd pixels
  Rows inverses;  // floats for even and for odd pixels
};

// The memory of a thread for asw: the weights of a row of the window, and the sums of all disparities.
struct FullScratch {
  FullScratch(const asw::Parameters& p, const Job& job, Memory& memory)
      : radius(p.window / 2),
        left(memory.rows(p.window, job.width, 0)),
        right(memory.rows(p.window, job.width + job.disparities, 0)),
        cost(memory.rows(1, job.width, radius)) {
    sum_pitch = round_up(job.width, 16);
    sums = memory.take<std::uint64_t>(static_cast<std::size_t>(sum_pitch) * job.disparities);
    totals = memory.take<std::uint32_t>(static_cast<std::size_t>(sum_pitch) * job.disparities);
  }
  int radius;
  Rows left, right, cost;
  int sum_pitch;
  std::uint64_t* sums;
  std::uint32_t* totals;
};

// A padded row of words.
struct Candidates {
  Candidates(const Job& job, Memory& memory) : words(memory.take<std::uint32_t>(job.width + job.disparities + slack)) {}
  std::uint32_t* words;
};

struct SelectScratch {
  SelectScratch(const Job& job, Memory& memory) : padded(round_up(job.disparities, 32)) {
    costs = memory.take<std::uint16_t>(static_cast<std::size_t>(padded) * job.width);
    right_cost = memory.take<std::uint16_t>(job.width + 2 * padded);
    right_index = memory.take<std::uint16_t>(job.width + 2 * padded);
  }
  int padded;
  std::uint16_t* costs;  // costs of a row, with the disparity as the fastest index
  std::uint16_t *right_cost, *right_index;
};

// Returns the size, in bytes, of the memory of a thread: the larger size of its two tasks.
inline std::size_t thread_bytes(const Job& job) {
  Memory aggregation(nullptr), selection(nullptr);
  Candidates candidates(job, aggregation);
  if (const auto* e = std::get_if<esaw::Parameters>(&job.parameters.aggregation)) EsawScratch(*e, job, aggregation);
  if (const auto* s = std::get_if<asw_separable::Parameters>(&job.parameters.aggregation))
    SeparableScratch(*s, job, aggregation);
  if (const auto* a = std::get_if<asw::Parameters>(&job.parameters.aggregation)) FullScratch(*a, job, aggregation);
  SelectScratch select(job, selection);
  return std::max(aggregation.used(), selection.used());
}

}  // namespace stereopsis::support_weight_wta
