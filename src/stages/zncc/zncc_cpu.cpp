#include "stages/zncc/zncc.hpp"

#include "device/cpu/threads.hpp"

namespace stereopsis::zncc {

// The compiler's vectors do: a conversion a pixel.
template <class T>
void samples_cpu(ImageView<const T> grey, int bit_depth, ImageView<std::int16_t> samples, Threads& threads) {
  threads.rows(grey.height, [&](int first, int last) {
    const auto rows = [&](auto view) { return view.crop({0, first, view.width, last - first}); };
    samples_oracle(rows(grey), bit_depth, rows(samples));
  });
}

template void samples_cpu(ImageView<const std::uint8_t>, int, ImageView<std::int16_t>, Threads&);
template void samples_cpu(ImageView<const std::uint16_t>, int, ImageView<std::int16_t>, Threads&);
template void samples_cpu(ImageView<const float>, int, ImageView<std::int16_t>, Threads&);

}  // namespace stereopsis::zncc
