#include "api/check_problem.hpp"

#include <algorithm>
#include <limits>

#include "api/refuse.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {
namespace {

constexpr int most_disparities = 16384, most_side = 1 << 28;

void check(const Geometry& g, Size size) {
  if (g.rectification && g.rectification->input != size)
    refuse(text("the rectification is for images of ", shown(g.rectification->input), " pixels, but these have ",
                shown(size), "; calibrate at the size that is matched"));
  if (g.want_rectified && !g.rectification) refuse("the rectified image is wanted, but no rectification is given");
  if ((g.want_depth || g.want_points || g.want_uncertainty) && !g.rig)
    refuse("depth and points need a rig; give the calibration's");
}

// Stages count the elements of an image, whose rows may be padded, and those of a row of costs in 32 bits.
void check_extent(Size size, int channels, int disparities) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(), padding = 1024;
  const std::int64_t elements = (std::int64_t{size.width} + disparities + padding) * channels * size.height,
                     row = std::int64_t{size.width} * disparities;
  if (size.height > most / (std::int64_t{size.width} * channels) || elements > most)
    refuse(text("an image of ", shown(size), " pixels with ", channels, " channels and ", disparities,
                " disparities can't be matched at once: (width + disparities + ", padding,
                ") · channels · height must be at most ", most, "; match regions of it"));
  if (row > most)
    refuse(text(disparities, " disparities can't be searched in rows of ", size.width,
                " pixels: their product must be at most ", most, "; search fewer, or match regions"));
}

void check_format(PixelFormat format, const Problem& p) {
  const auto wrong = [&](const char* must) {
    refuse(text("a picture of ", shown(p.size), " pixels, ", to_string(p.pixel_type), ", can't come in ",
                to_string(format), "; ", must));
  };
  if (p.channels != 3)
    refuse(text("pictures in ", to_string(format), " have 3 channels for the method, not ", p.channels,
                "; set Problem::channels = 3"));
  if (format == PixelFormat::nv12 && (p.pixel_type != PixelType::u8 || p.size.width % 2 != 0 || p.size.height % 2 != 0))
    wrong("it must have 8 bits, and an even width and height");
  if (is_bayer(format) && (p.size.width < 2 || p.size.height < 2)) wrong("it must have at least 2×2 pixels");
  if (is_bayer(format) && p.stripe) wrong("the rows of a stripe are made from those beside it; give them in RGB");
}

void check_region(const Rect& r, Size size) {
  if (r.empty() || r.x < 0 || r.y < 0 || r.x > size.width - r.width || r.y > size.height - r.height)
    refuse(text("the region ", r.x, ",", r.y, ",", r.width, ",", r.height, " does not lie inside the image of ",
                shown(size), " pixels; give X,Y,WIDTH,HEIGHT with at least one pixel, all of it inside"));
}

void check(const BoundaryStripe& stripe, const Problem& p) {
  if (stripe.first_row < 0 || stripe.rows < 1 || stripe.rows > p.size.height - stripe.first_row)
    refuse(text("a stripe of ", stripe.rows, " rows from row ", stripe.first_row,
                " on does not lie inside the image of ", shown(p.size),
                " pixels; give at least one row, all of them inside"));
  const int end = stripe.first_row + stripe.rows;
  if ((stripe.above && stripe.first_row == 0) || (stripe.below && end == p.size.height))
    refuse(text("path costs come from the row ", stripe.above && stripe.first_row == 0 ? "above" : "below",
                " the stripe, which is not among those given; give that row, too, and those that features need"));
  if (p.region || p.geometry.rectification || p.geometry.want_depth || p.geometry.want_points ||
      p.geometry.want_uncertainty || p.volumes.given || requests_costs(p))
    refuse(
        "a stripe of a larger image has maps of its own rows alone: match it rectified, without a region, depth, "
        "points or "
        "volumes, which come from the whole");
  if (stripe.follow != BoundaryStripe::Follow::none && (p.want_right || p.want_confidence))
    refuse("of a stripe whose paths alone are followed there is no map; plan without the right view and confidence");
}

void check_refine_only(const Problem& p) {
  if (p.region || p.stripe || p.geometry.rectification || p.want_right || p.volumes.given || requests_costs(p))
    refuse(
        "maps that come with the pair are refined as they are: plan without a region, a stripe, a rectification, the "
        "right "
        "view's map and volumes");
}

}  // namespace

void check(const Problem& p) {
  if (p.size.width < 1 || p.size.height < 1)
    refuse(text("an image of ", shown(p.size), " pixels can't be matched; width and height must be at least 1"));
  if (p.size.width > most_side || p.size.height > most_side)
    refuse(text("an image of ", shown(p.size), " pixels can't be matched; width and height must be at most ", most_side,
                ", so match parts of it"));
  if (p.channels != 1 && p.channels != 3)
    refuse(text("an image of ", p.channels, " channels can't be matched; give a grey (1) or an RGB (3) image"));
  if (p.format) check_format(*p.format, p);
  check_bit_depth(p.pixel_type, p.bit_depth);
  if (p.range.count < 1 || p.range.count > most_disparities)
    refuse(
        text("a search range of ", p.range.count, " disparities is not allowed; it must be 1 to ", most_disparities));
  if (std::abs(static_cast<long long>(p.range.min)) > 1'000'000)
    refuse(text("a lowest disparity of ", p.range.min, " is not allowed; it must be -1000000 to 1000000"));
  if (p.batch < 1 || p.batch > 4096)
    refuse(text("a batch of ", p.batch, " pairs is not allowed; it must be 1 to 4096"));
  check(p.geometry, p.size);
  if (p.stripe) check(*p.stripe, p);
  if (p.refine_only) check_refine_only(p);
  if (p.volumes.given && p.geometry.rectification)
    refuse("a cost volume is of a rectified pair; give the pair rectified, or let its costs be computed");
  if (p.volumes.without_images && !p.volumes.given)
    refuse("without images there must be a cost volume; say its type in Problem::volumes.given");
  const Size size = p.rectified_size();
  if (p.region) check_region(*p.region, size);
  for (const Pixel& pixel : p.volumes.probes) {
    const Rect inside = p.region.value_or(Rect{0, 0, size.width, size.height});
    if (pixel.x < inside.x || pixel.y < inside.y || pixel.x >= inside.x + inside.width ||
        pixel.y >= inside.y + inside.height)
      refuse(text("the probe ", pixel.x, ",", pixel.y, " lies outside of what is matched, ", inside.x, ",", inside.y,
                  ",", inside.width, ",", inside.height));
  }
}

void check_extents(const Problem& p, Size seen) {
  const int channels = std::max(p.channels, p.format ? channels_of(*p.format) : p.channels);
  check_extent(seen, channels, p.range.count);
  if (p.geometry.rectification) check_extent(p.size, channels, 1);
}

}  // namespace stereopsis
