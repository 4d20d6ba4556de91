// Rejects outputs that share memory with an input, or with one another.
#include <array>

#include "api/call_images.hpp"
#include "api/values.hpp"
#include "core/refuse.hpp"
#include "stereopsis/arguments.hpp"

namespace stereopsis {
namespace {

// The memory that an image covers: rows of bytes, at a distance of `pitch`.
struct CoveredRows {
  Binding binding = Binding::none;
  std::uint64_t buffer = 0;  // the OpenCL buffer; 0 for memory with addresses
  std::uint64_t start = 0;   // the address, or the offset in the OpenCL buffer
  std::uint64_t row_bytes = 0, pitch = 0;
  std::uint64_t rows = 0;

  CoveredRows() = default;
  CoveredRows(Binding binding_, const AnyView& v, bool has_addresses) : binding(binding_) {
    const auto element = static_cast<std::uint64_t>(bytes_of(v.element));
    buffer = has_addresses ? 0 : v.memory;
    start = (has_addresses ? v.memory : 0) + static_cast<std::uint64_t>(v.offset) * element;
    row_bytes = static_cast<std::uint64_t>(v.width) * static_cast<std::uint64_t>(v.channels) * element;
    pitch = static_cast<std::uint64_t>(v.pitch) * element;
    rows = static_cast<std::uint64_t>(v.height);
  }

  std::uint64_t end() const { return start + (rows - 1) * pitch + row_bytes; }
};

// Returns whether two images have a byte in common. Crops of one image may lie side by side, with rows that alternate
// in memory.
bool overlap(const CoveredRows& a, const CoveredRows& b) {
  if (a.buffer != b.buffer || a.start >= b.end() || b.start >= a.end()) return false;
  for (std::uint64_t y = 0; y < a.rows; ++y) {
    const std::uint64_t row = a.start + y * a.pitch, row_end = row + a.row_bytes;
    if (row_end <= b.start || row >= b.end()) continue;
    // Finds the last row of b that starts before this row of a ends.
    const std::uint64_t last = b.pitch == 0 ? 0 : std::min((row_end - 1 - b.start) / b.pitch, b.rows - 1);
    if (b.start + last * b.pitch + b.row_bytes > row) return true;
  }
  return false;
}

// Only images that are not read may have a pitch smaller than a row.
bool covers_memory(const AnyView& v) {
  return v.memory != 0 && !v.empty() && v.pitch >= std::int64_t{v.width} * v.channels;
}

// The images of one call that were already checked. The array has a fixed size, because matching a frame must not
// allocate memory.
struct CheckedImages {
  std::array<CoveredRows, binding_count> list;
  std::size_t count = 0;

  void add(const CoveredRows& rows) { list[count++] = rows; }
  std::span<const CoveredRows> all() const { return {list.data(), count}; }
};

}  // namespace

void CallImages::check_overlaps(const Plan& plan) const {
  const bool has_addresses = !is_on_device_ || plan.device().name.starts_with("cuda");
  CheckedImages before;  // all inputs, and the outputs that were already checked
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const auto binding = static_cast<Binding>(i);
    if (!covers_memory(images_[i])) continue;
    const CoveredRows memory(binding, images_[i], has_addresses);
    if (is_output(binding))
      for (const CoveredRows& other : before.all())
        if (overlap(memory, other))
          refuse(text("the memory of ", image_name(binding), " overlaps ", image_name(other.binding),
                      is_input(other.binding) ? ", which is read while results are written" : "",
                      "; give each output memory of its own"));
    before.add(memory);
  }
}

}  // namespace stereopsis
