// Places values in memory by lifetime: values that different steps use may share memory.
#include <algorithm>

#include "planning/program.hpp"

namespace stereopsis {
namespace {

// A range of bytes, [offset, offset + bytes), that is used in the steps [first, last].
struct Piece {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t* offset = nullptr;
};

// Number of padding bytes after each value. Kernels may read a little beyond the end of a volume, and CPU kernels also
// beyond the end of an image. Other threads must not write these bytes.
constexpr std::size_t spare_bytes = 64;

std::size_t bytes_of_value(const AnyView& v, On device) {
  const bool spare = v.is_volume() || device != On::gpu;
  const std::int64_t rows = v.is_volume() ? static_cast<std::int64_t>(v.row_elements()) : v.pitch;
  return static_cast<std::size_t>(rows * v.height) * bytes_of(v.element) + (spare ? spare_bytes : 0);
}

void mark_lifetimes(std::span<Value> values, std::span<ProgramStep> steps, const Target& target) {
  const bool transfers = target.device == On::gpu;
  const int end = static_cast<int>(steps.size());
  for (int i = 0; i < end; ++i)
    for (const Operand& operand : steps[i].step.operands) {
      if (operand.value < 0) continue;
      Value& v = values[operand.value];
      if (v.first < 0) v.first = i;
      v.last = i;
    }
  for (Value& v : values) {
    const bool is_map = v.binding >= Binding::map_left && v.binding <= Binding::map_rows_right;
    v.has_place = v.first >= 0 && !is_map && (v.binding == Binding::none || transfers);
    // On a GPU, inputs are live from the first step on, and outputs until the last step.
    if (is_input(v.binding)) v.first = 0;
    if (is_output(v.binding)) v.last = end;
  }
}

// The ranges that are already placed, by the steps in which they are live. A new range is compared only with ranges
// that are live at the same time, because an image in many strips has very many ranges.
class Placed {
 public:
  explicit Placed(std::size_t steps) : brief_(steps + 1) {}

  void add(const Piece& piece) {
    if (is_lasting(piece)) return lasting_.push_back(piece);
    for (int step = piece.first; step <= piece.last; ++step) brief_[step].push_back(piece);
  }

  // Returns the placed ranges that are live at the same time as `piece`, sorted by offset.
  const std::vector<Piece>& living_with(const Piece& piece) {
    found_.clear();
    for (const Piece& other : lasting_)
      if (other.last >= piece.first && other.first <= piece.last) found_.push_back(other);
    for (int step = piece.first; step <= piece.last; ++step)
      for (const Piece& other : brief_[step])
        if (step == std::max(piece.first, other.first)) found_.push_back(other);  // adds each range once
    std::sort(found_.begin(), found_.end(), [](const Piece& a, const Piece& b) { return *a.offset < *b.offset; });
    return found_;
  }

 private:
  static bool is_lasting(const Piece& piece) { return piece.last - piece.first > 32; }

  std::vector<Piece> lasting_, found_;
  std::vector<std::vector<Piece>> brief_;  // indexed by step
};

}  // namespace

std::size_t place(std::span<Value> values, std::span<ProgramStep> steps, const Target& target) {
  mark_lifetimes(values, steps, target);
  std::vector<Piece> pieces;
  for (Value& v : values)
    if (v.has_place) pieces.push_back({bytes_of_value(v.shape, target.device), v.first, v.last, &v.offset});
  for (std::size_t i = 0; i < steps.size(); ++i)
    pieces.push_back({steps[i].scratch_bytes, static_cast<int>(i), static_cast<int>(i), &steps[i].scratch_offset});
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.bytes > b.bytes; });

  // Places the largest range first. Each range gets the lowest offset that is free while the range is live.
  const std::size_t alignment = target.device == On::gpu ? 256 : 64;
  std::size_t end = 0;
  Placed placed(steps.size());
  for (const Piece& piece : pieces) {
    std::size_t offset = 0;
    for (const Piece& other : placed.living_with(piece)) {
      if (*other.offset >= offset + piece.bytes) break;
      offset = std::max(offset, (*other.offset + other.bytes + alignment - 1) / alignment * alignment);
    }
    *piece.offset = offset;
    end = std::max(end, offset + piece.bytes);
    placed.add(piece);
  }
  return (end + alignment - 1) / alignment * alignment;
}

}  // namespace stereopsis
