// Hierarchical min-sum belief propagation (Felzenszwalb and Huttenlocher 2006; for real-time stereo Yang, Wang, Yang,
// Wang, Liao and Nistér 2006): a pixel p sends each of its four neighbours q, for each disparity, the message
//
//   m_pq(d) = min_k [ h(k) + min(s |d − k|, T) ] − min_k h(k),   h(k) = D_p(k) + Σ m_rp(k) over the other neighbours r
//   S(p, d) = D_p(d) + Σ m_rp(d) over all four
//
// On level l, D is the sum of the costs of up to 2^l × 2^l pixels that a pixel covers. Level l + 1 has ⌈w/2⌉ × ⌈h/2⌉
// pixels, where w × h is the size of level l. Levels are processed from the coarsest to the finest. Each level starts
// with the messages of the coarser level, and the coarsest level starts with 0. No messages come from outside the
// image. An iteration has two halves. First, the pixels with even x + y send their messages, then the other pixels (the
// red-black schedule of Felzenszwalb and Huttenlocher, section 3.2). No message of a half depends on another message of
// the same half.
//
// Converged pixels are skipped (Yang et al.). After the first iteration of a level, a pixel sends messages only if a
// message to it changed by more than `convergence` for some disparity. With the value 0, skipping does not change the
// result.
//
// Messages are 16-bit integers from 0 to T. Parameters whose sums would overflow are rejected: 255 · 4^(levels − 1) + 4
// T must be at most 65534. Input: 8-bit costs. Output: S in 16 bits. Required input: the whole image. All values are
// integers. Cost: per cell, iteration and level, 4 messages of 2 ⌈log₂(T / s + 1)⌉ + 3 minima; 8 bytes of messages are
// written and 10 bytes read.
#pragma once

#include <array>
#include <vector>

#include "core/order.hpp"
#include "stages/shared/stage.hpp"

namespace stereopsis::belief_propagation {

inline constexpr int most_levels = 5;
inline constexpr int largest_truncation = (65534 - 255) / 4;

struct Parameters {
  static constexpr const char* stage = "belief_propagation";
  int slope = 10;
  int truncation = 20;
  int levels = 5;
  int iterations = 5;
  int convergence = 0;

  static void describe(auto& p, auto&& visit) {
    visit("slope", p.slope, between(1, largest_truncation).in("units of the matching cost"),
          "cost of a disparity change of one pixel");
    visit("truncation", p.truncation, between(1, largest_truncation).in("units of the matching cost"),
          "largest cost of a disparity change");
    visit("levels", p.levels, between(1, most_levels).planned(),
          "number of levels of the pyramid, including the images");
    visit("iterations", p.iterations, between(1, 100).planned(), "number of iterations on each level");
    visit("convergence", p.convergence, between(0, largest_truncation).in("units of the matching cost"),
          "pixels are skipped while no message to them changes by more than this");
  }
};

inline void check(const Parameters& p) {
  check_order("belief_propagation", "slope", p.slope, "truncation", p.truncation);
  const int most = (65534 - (255 << 2 * (p.levels - 1))) / 4;
  if (p.truncation > most)
    throw Error(ErrorCategory::call,
                text("belief_propagation.truncation = ", p.truncation, " exceeds the 16 bits of messages with ",
                     p.levels, " levels; set it to at most ", most, ", or use fewer belief_propagation.levels"));
}

// The number of disparities, on each side, on which a message depends.
inline int reach(const Parameters& p, int disparities) { return std::min(p.truncation / p.slope, disparities - 1); }

inline Size half(Size s) { return {(s.width + 1) / 2, (s.height + 1) / 2}; }

// The direction of a message, as the position of the sender relative to the receiver: left, right, above, below. The
// message that p sends in direction i excludes the message that p received from there, in direction i ^ 1.
struct Direction {
  int dx, dy;
};
inline constexpr std::array<Direction, 4> directions = {{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};

// The layout of a level in scratch memory, as offsets in bytes: costs, four messages of 16 bits, and a flag for pixels
// that still have to send their messages.
struct Level {
  Size size;
  std::size_t costs, messages, waiting;
  std::size_t cells;  // number of cells in one volume

  std::size_t message(int i) const { return messages + 2 * cells * static_cast<std::size_t>(i); }
};
struct Pyramid {
  // `padded` is the number of cells per pixel.
  Pyramid(const Parameters& p, Size size, int padded) {
    const auto take = [&](std::size_t count) {
      const std::size_t at = bytes;
      bytes += (count + 255) / 256 * 256;
      return at;
    };
    for (int l = 0; l < p.levels; ++l, size = half(size)) {
      const std::size_t pixels = static_cast<std::size_t>(size.width) * size.height,
                        cells = (pixels * static_cast<std::size_t>(padded) + 127) / 128 * 128;
      const std::size_t costs = take(2 * cells), messages = take(8 * cells), waiting = take(pixels);
      levels.push_back({size, costs, messages, waiting, cells});
    }
  }

  std::vector<Level> levels;
  std::size_t bytes = 0;
};

void oracle(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums);

// `scratch` holds at least scratch_bytes() and starts at a multiple of 64 bytes.
std::size_t scratch_bytes(const Parameters&, Size, int disparities, int threads);
void cpu(const Parameters&, VolumeView<const std::uint8_t> costs, VolumeView<std::uint16_t> sums,
         std::span<std::byte> scratch, Threads&);

// `scratch` holds at least gpu_scratch_bytes() for the compute capability of the queue. The tuned CUDA kernels use
// 8-bit messages, support truncations up to 255 and up to 512 disparities, and do not skip converged pixels.
std::size_t gpu_scratch_bytes(const Parameters&, Size, int disparities);
void gpu(const Parameters&, gpu::Volume<const std::uint8_t> costs, gpu::Volume<std::uint16_t> sums, gpu::Span scratch,
         gpu::Queue&);

}  // namespace stereopsis::belief_propagation
