// Cross-based support regions on the CPU. The pixels of an arm are visited one by one. Most arms are short, and the
// lanes of a vector would wait for the longest arm.
#include "device/cpu/threads.hpp"
#include "stages/cross/cross.hpp"

namespace stereopsis::cross {
namespace {

template <int channels>
int difference(const std::uint8_t* a, const std::uint8_t* b) {
  int largest = 0;
  for (int c = 0; c < channels; ++c) largest = std::max(largest, std::abs(a[c] - b[c]));
  return largest;
}

// Returns the length of an arm of up to `room` pixels, which are `step` elements apart.
template <int channels>
int arm(const Parameters& p, const std::uint8_t* start, std::ptrdiff_t step, int room) {
  const int most = std::min(room, p.longest());
  const std::uint8_t* before = start;
  for (int n = 1; n <= most; ++n) {
    const std::uint8_t* const end = before + step;
    const int limit = n > p.short_length ? p.strict_colour : p.colour;
    if (difference<channels>(end, start) >= limit || difference<channels>(end, before) >= p.colour) return n - 1;
    before = end;
  }
  return most;
}

template <int channels>
void arms_of_rows(const Parameters& p, ImageView<const std::uint8_t> image, ImageView<std::uint32_t> arms, int first,
                  int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t* const pixel = &image(x, y);
      arms(x, y) = word_of(
          {arm<channels>(p, pixel, -channels, x), arm<channels>(p, pixel, channels, image.width - 1 - x),
           arm<channels>(p, pixel, -image.pitch, y), arm<channels>(p, pixel, image.pitch, image.height - 1 - y)});
    }
}

}  // namespace

void cpu(const Parameters& p, ImageView<const std::uint8_t> image, ImageView<std::uint32_t> arms, Threads& threads) {
  check(p, image.size());
  threads.rows(image.height, [&](int first, int last) {
    image.channels == 1 ? arms_of_rows<1>(p, image, arms, first, last) : arms_of_rows<3>(p, image, arms, first, last);
  });
}

}  // namespace stereopsis::cross
