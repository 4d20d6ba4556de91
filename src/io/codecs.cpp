#include "io/codecs.hpp"

#include "core/text.hpp"

namespace stereopsis::io {

void check(const Claim& c, std::size_t available, double expansion) {
  constexpr std::int64_t longest_side = 1 << 20;
  constexpr std::int64_t most_pixels = 1 << 28;
  const std::string size = text(c.width, "×", c.height);
  if (c.width < 1 || c.height < 1)
    throw Error(ErrorCategory::format,
                text("the ", c.format, " header gives the size ", size, "; width and height must be at least 1"));
  if (c.width > longest_side || c.height > longest_side || c.width * c.height > most_pixels)
    throw Error(ErrorCategory::format,
                text("the ", c.format, " header gives the size ", size, "; at most ", longest_side,
                     " pixels a side and ", most_pixels, " in total are supported, so divide the image into parts"));
  const double needed = static_cast<double>((c.width * c.channels * c.bits + 7) / 8) * static_cast<double>(c.height);
  if (needed > expansion * static_cast<double>(available))
    throw Error(ErrorCategory::format,
                text("the ", c.format, " header gives the size ", size, " with ", c.channels,
                     c.channels == 1 ? " channel" : " channels", " of ", c.bits, " bits, which the ", available,
                     " bytes of data cannot contain; the file is cut off or its header is wrong"));
}

void check_as_compressed(const Claim& claim, std::size_t available) {
  constexpr std::size_t expansion = 20000, free = 64'000'000 / expansion;
  check(claim, free + available, expansion);
}

}  // namespace stereopsis::io
