// Memory by lifetime: what is used in different steps may lie at the same place.
#include <algorithm>

#include "program/program.hpp"

namespace stereopsis {
namespace {

// Bytes [offset, offset + bytes) in steps [first, last].
struct Piece {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t* offset = nullptr;
};

// Kernels may read a little beyond the end of a volume, on a processor of an image too: not into what others write.
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
    const bool is_map = v.external == External::map_left || v.external == External::map_right;
    v.has_place = v.first >= 0 && !is_map && (v.external == External::none || transfers);
    // On a GPU the pair is there from the beginning, and results until the end.
    if (is_input(v.external)) v.first = 0;
    if (is_output(v.external)) v.last = end;
  }
}

}  // namespace

std::size_t place(std::span<Value> values, std::span<ProgramStep> steps, const Target& target) {
  mark_lifetimes(values, steps, target);
  std::vector<Piece> pieces;
  for (Value& v : values)
    if (v.has_place) pieces.push_back({bytes_of_value(v.shape, target.device), v.first, v.last, &v.offset});
  for (std::size_t i = 0; i < steps.size(); ++i)
    pieces.push_back({steps[i].scratch_bytes, static_cast<int>(i), static_cast<int>(i), &steps[i].scratch_offset});
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.bytes > b.bytes; });

  // The largest first, each at the lowest place that is free all its life.
  const std::size_t alignment = target.device == On::gpu ? 256 : 64;
  std::size_t end = 0;
  std::vector<Piece> placed;
  for (const Piece& piece : pieces) {
    std::size_t offset = 0;
    for (const Piece& other : placed) {  // by offset
      if (other.last < piece.first || other.first > piece.last) continue;
      if (*other.offset >= offset + piece.bytes) break;
      offset = std::max(offset, (*other.offset + other.bytes + alignment - 1) / alignment * alignment);
    }
    *piece.offset = offset;
    end = std::max(end, offset + piece.bytes);
    const auto behind = [](const Piece& a, const Piece& b) { return *a.offset < *b.offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), piece, behind), piece);
  }
  return (end + alignment - 1) / alignment * alignment;
}

}  // namespace stereopsis
