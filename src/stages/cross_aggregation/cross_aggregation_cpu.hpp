// Lines of one disparity for the CPU implementation of cross-based aggregation, and the memory of a thread.
//
// The costs of each disparity are stored as a plane of bytes, so that the pixels of a row are adjacent. Planes of sums
// along rows are transposed, so that the pixels of a column are adjacent, and vice versa.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stereopsis::cross_aggregation {

constexpr int most_lanes = 32;  // number of 16-bit lanes of the longest vectors
constexpr int block = 16;       // side of the blocks of bytes that are transposed
constexpr int margin = 192;     // number of words around running sums that vectors may read

// Lines of bytes at equal distances.
struct Plane {
  std::uint8_t* data;
  std::ptrdiff_t pitch;

  std::uint8_t* line(std::ptrdiff_t i) const { return data + i * pitch; }
};

// The arms along a line, and those in the other direction.
enum Arm { before, behind, across_before, across_behind, arm_count };

// A line of one disparity. The arms of the right view are those of the pixels that correspond to the left pixels.
struct Line {
  int pixels;
  int tables;  // number of pairs of 512-bit registers with the running sums that the arms of 32 pixels can reach
  const std::uint8_t *left[arm_count], *right[arm_count];
};

// The memory of a thread for one line.
class Buffers {
 public:
  // `pitch` is that of the planes. `memory` is aligned to 64 bytes.
  Buffers(std::byte* memory, std::ptrdiff_t pitch) : memory_(memory), words_(pitch + 2 * margin) {}
  static std::size_t bytes_of(std::ptrdiff_t pitch) { return 20 * static_cast<std::size_t>(pitch + 2 * margin); }

  std::uint16_t* running(int i) const { return at<std::uint16_t>(2 * i) + margin; }
  std::uint64_t* pairs() const { return at<std::uint64_t>(2); }
  std::uint32_t* words(int i) const { return at<std::uint32_t>(10 + 4 * i); }
  std::uint8_t* bytes(int i) const { return at<std::uint8_t>(18 + i); }

 private:
  template <class T>
  T* at(int bytes_per_word) const {
    return reinterpret_cast<T*>(memory_ + bytes_per_word * words_);
  }

  std::byte* memory_;
  std::ptrdiff_t words_;
};

}  // namespace stereopsis::cross_aggregation
