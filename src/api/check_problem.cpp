#include "api/check_problem.hpp"

#include <algorithm>
#include <limits>

#include "core/refuse.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {
namespace {

constexpr int most_disparities = 16384, most_side = 1 << 28;

void check(const Geometry& g, Size size) {
  if (g.rectification && g.rectification->input != size)
    refuse(text("the rectification is for images of ", shown(g.rectification->input), " pixels, but these images have ",
                shown(size), "; calibrate with images of this size"));
  if (g.want_rectified && !g.rectification)
    refuse(
        "the output 'rectified' requires the calibration of raw cameras; give a calibration, or do not request the "
        "output");
  if ((g.want_depth || g.want_points || g.want_uncertainty) && !g.rig)
    refuse(
        "depth, points and uncertainty require the focal length and the baseline of the cameras; give a rig or a "
        "calibration");
}

// Stages count the elements of an image, including the padding of rows, and the elements of a row of costs in 32 bits.
void check_extent(Size size, int channels, int disparities) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(), padding = 1024;
  const std::int64_t elements = (std::int64_t{size.width} + disparities + padding) * channels * size.height,
                     row = std::int64_t{size.width} * disparities;
  if (size.height > most / (std::int64_t{size.width} * channels) || elements > most)
    refuse(text("an image of ", shown(size), " pixels with ", channels, " channels and ", disparities,
                " disparities is too large: (width + disparities + ", padding, ") · channels · height must be at most ",
                most, "; match regions of the image"));
  if (row > most)
    refuse(text(disparities, " disparities are too many for rows of ", size.width,
                " pixels: the product of both must be at most ", most, "; use fewer disparities, or match regions"));
}

void check_format(PixelFormat format, const Problem& p) {
  const auto wrong = [&](const char* must) {
    refuse(text("an image of ", shown(p.size), " pixels, ", to_string(p.pixel_type), ", cannot have the format ",
                to_string(format), "; ", must));
  };
  if (p.channels != 3)
    refuse(text("images in the format ", to_string(format), " have 3 channels after conversion, but ", p.channels,
                " are announced; announce 3"));
  if (format == PixelFormat::nv12 && (p.pixel_type != PixelType::u8 || p.size.width % 2 != 0 || p.size.height % 2 != 0))
    wrong("it must have 8-bit pixels, and an even width and height");
  if (is_bayer(format) && (p.size.width < 2 || p.size.height < 2)) wrong("it must have at least 2×2 pixels");
  if (is_bayer(format) && p.stripe) wrong("the rows of a stripe would require rows beside it; pass RGB images");
}

void check_region(const Rect& r, Size size) {
  if (r.empty() || r.x < 0 || r.y < 0 || r.x > size.width - r.width || r.y > size.height - r.height)
    refuse(text("the region ", r.x, ",", r.y, ",", r.width, ",", r.height, " is not inside the image of ", shown(size),
                " pixels; pass X,Y,WIDTH,HEIGHT with at least one pixel and all pixels inside the image"));
}

void check(const BoundaryStripe& stripe, const Problem& p) {
  if (stripe.first_row < 0 || stripe.rows < 1 || stripe.rows > p.size.height - stripe.first_row)
    refuse(text("a stripe of ", stripe.rows, " rows that begins at row ", stripe.first_row,
                " is not inside the image of ", shown(p.size),
                " pixels; choose at least one row, with all rows inside the image"));
  const int end = stripe.first_row + stripe.rows;
  if ((stripe.above && stripe.first_row == 0) || (stripe.below && end == p.size.height))
    refuse(text("the stripe expects path costs from the row ",
                stripe.above && stripe.first_row == 0 ? "above" : "below",
                " it, but the image does not have that row; pass an image with that row and with the margin that the "
                "features require"));
  if (p.region || p.geometry.rectification || p.geometry.want_depth || p.geometry.want_points ||
      p.geometry.want_uncertainty || p.volumes.given || requests_costs(p))
    refuse(
        "a stripe cannot be combined with a region, a rectification, depth, points or volumes, which require the whole "
        "image; plan a rectified stripe without them");
  if (stripe.follow != BoundaryStripe::Follow::none && (p.want_right || p.want_confidence))
    refuse(
        "a stripe that follows path costs has no map, so it has no outputs 'right' and 'confidence'; do not request "
        "them");
}

void check_aligned(const Problem& p) {
  check_alignment(*p.row_alignment);
  if (p.stripe || p.refine_only || p.volumes.given)
    refuse(
        "an alignment of rows cannot be combined with a stripe, refine_only or a given volume; align the right image "
        "before, and plan without row_alignment");
}

void check_refine_only(const Problem& p) {
  if (p.region || p.stripe || p.geometry.rectification || p.want_right || p.volumes.given || requests_costs(p))
    refuse(
        "refine_only cannot be combined with a region, a stripe, a rectification, the output 'right' or volumes; plan "
        "without them");
}

}  // namespace

void check(const Problem& p) {
  if (p.size.width < 1 || p.size.height < 1)
    refuse(text("an image of ", shown(p.size), " pixels cannot be matched; width and height must be at least 1"));
  if (p.size.width > most_side || p.size.height > most_side)
    refuse(text("an image of ", shown(p.size), " pixels cannot be matched; width and height must be at most ",
                most_side, ", so match parts of the image"));
  if (p.channels != 1 && p.channels != 3)
    refuse(text("an image of ", p.channels,
                " channels cannot be matched; pass a grey image (1 channel) or an RGB image (3 channels)"));
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
  if (p.row_alignment) check_aligned(p);
  if (p.refine_only) check_refine_only(p);
  if (p.volumes.given && p.geometry.rectification)
    refuse(
        "a given cost volume belongs to a rectified pair, but a calibration of raw cameras is given; leave the "
        "calibration out, or compute the costs");
  if (p.volumes.without_images && !p.volumes.given)
    refuse("matching without images requires a cost volume; pass the volume");
  const Size size = p.rectified_size();
  if (p.region) check_region(*p.region, size);
  for (const Pixel& pixel : p.volumes.probes) {
    const Rect inside = p.region.value_or(Rect{0, 0, size.width, size.height});
    if (pixel.x < inside.x || pixel.y < inside.y || pixel.x >= inside.x + inside.width ||
        pixel.y >= inside.y + inside.height)
      refuse(text("the probe ", pixel.x, ",", pixel.y, " is outside the matched region ", inside.x, ",", inside.y, ",",
                  inside.width, ",", inside.height));
  }
}

void check_extents(const Problem& p, Size seen) {
  const int channels = std::max(p.channels, p.format ? channels_of(*p.format) : p.channels);
  check_extent(seen, channels, p.range.count);
  if (p.geometry.rectification) check_extent(p.size, channels, 1);
}

}  // namespace stereopsis
