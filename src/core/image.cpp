#include "stereopsis/image.hpp"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include "core/large_pages.hpp"
#include "core/memory_text.hpp"
#include "core/text.hpp"

namespace stereopsis {

Rect intersect(const Rect& a, const Rect& b) {
  const int x = std::max(a.x, b.x);
  const int y = std::max(a.y, b.y);
  // The sums need 64 bits, because the end of the caller's rectangle may exceed the range of int.
  const auto end = [](std::int64_t start, int length) { return start + length; };
  const std::int64_t width = std::min(end(a.x, a.width), end(b.x, b.width)) - x,
                     height = std::min(end(a.y, a.height), end(b.y, b.height)) - y;
  return {x, y, static_cast<int>(std::max<std::int64_t>(0, width)),
          static_cast<int>(std::max<std::int64_t>(0, height))};
}

Rect grow(const Rect& r, int x, int y) { return {r.x - x, r.y - y, r.width + 2 * x, r.height + 2 * y}; }

std::string to_string(PixelType type) {
  switch (type) {
    case PixelType::u8: return "8-bit";
    case PixelType::u16: return "16-bit";
    default: return "float";
  }
}

AnyImageView AnyImageView::crop(const Rect& r) const {
  return with_pixels(*this, [&](auto pixels) { return AnyImageView(pixels.crop(r), bit_depth); });
}

namespace detail {

void release_aligned(void* p) { ::operator delete (p, std::align_val_t{64}); }

std::size_t bytes_of_all(std::size_t bytes, std::ptrdiff_t count) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (count < 0 || (count > 0 && bytes > most / static_cast<std::size_t>(count)))
    throw Error(ErrorCategory::memory,
                "could not allocate " + std::to_string(count) + " times " + std::to_string(bytes) +
                    " bytes, which is more than any memory; use a smaller image or search range");
  return bytes * static_cast<std::size_t>(count);
}

void* allocate_aligned(std::size_t bytes) {
  constexpr std::size_t spare = 64;
  void* p = bytes > std::numeric_limits<std::size_t>::max() - spare
                ? nullptr
                : ::operator new (bytes + spare, std::align_val_t{64}, std::nothrow);
  if (p == nullptr)
    throw Error(ErrorCategory::memory,
                text("could not allocate ", needed_memory(bytes), " of memory; use a smaller image or search range"));
  ask_for_large_pages(p, bytes);
  return p;
}

}  // namespace detail
}  // namespace stereopsis
