// What does not fit is refused, in a sentence.
#include <algorithm>
#include <limits>

#include "api/refuse.hpp"
#include "api/results.hpp"
#include "stereopsis/formats.hpp"
#include "stereopsis/mask.hpp"
#include "stereopsis/rectification.hpp"
#include "stereopsis/stream_mark.hpp"

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

// How the plan's images lie.
std::string name_of(const std::optional<PixelFormat>& format) { return format ? to_string(*format) : "grey or RGB"; }

// Of an image as it is given.
Size given_size(const Problem& p) { return p.format ? image_size(p.size, *p.format) : p.size; }
int given_channels(const Problem& p) { return p.format ? channels_of(*p.format) : p.channels; }

void check_same_format(const Problem& p, const std::optional<PixelFormat>& format) {
  if (format != p.format)
    refuse(text("the matcher was planned for images in ", name_of(p.format), ", and this pair is in ", name_of(format),
                "; say the same in the pair and in the problem"));
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
  if (p.refines) check_refines(p);
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

// Of the costs that come with a pair: a channel for each disparity.
template <class View>
void check_costs(const Problem& p, const View& costs, bool has_memory) {
  if (!p.volumes.given) {
    if (has_memory || costs.width != 0 || costs.height != 0)
      refuse("a cost volume is given, which was not planned: ask for it in Problem::volumes.given");
    return;
  }
  if (costs.size() != p.size || costs.channels != p.range.count || costs.type != *p.volumes.given)
    refuse(text("the cost volume has ", shown(costs.size()), " pixels with ", costs.channels, " disparities of ",
                to_string(costs.type), "; the matcher was planned for ", shown(p.size), " with ", p.range.count, " of ",
                to_string(*p.volumes.given)));
}

void check_extents(const Problem& p, Size seen) {
  const int channels = std::max(p.channels, given_channels(p));
  check_extent(seen, channels, p.range.count);
  if (p.geometry.rectification) check_extent(p.size, channels, 1);
}

void check_fits(const Plan& plan, const StereoPair& pair) {
  const Problem& p = plan.problem();
  check_costs(p, pair.costs, pair.costs.data != nullptr);
  check_edges(plan, pair);
  check_maps(plan, pair.maps);
  if (p.volumes.given) check_pixels("the cost volume", pair.costs.data, p.size, p.range.count, pair.costs.pitch);
  if (p.refines && !plan.needs().images && pair.left.empty() && pair.right.empty()) return;
  if (p.volumes.without_images) {
    if (!pair.left.empty() || !pair.right.empty())
      refuse(
          "images are given beside the cost volume, which were not planned: set Problem::volumes.without_images = "
          "false");
    return;
  }
  check_same_format(p, pair.format);
  if (pair.left.size() != pair.right.size())
    refuse(text("the left image has ", shown(pair.left.size()), " pixels and the right one ", shown(pair.right.size()),
                "; a rectified pair has one size"));
  if (pair.left.type != pair.right.type || pair.left.channels != pair.right.channels ||
      pair.left.bit_depth != pair.right.bit_depth)
    refuse(text("the left image is ", to_string(pair.left.type), " with ", pair.left.channels, " channels and ",
                pair.left.bit_depth, " bits, the right one ", to_string(pair.right.type), " with ", pair.right.channels,
                " and ", pair.right.bit_depth, "; both must be of one kind"));
  const Size size = given_size(p);
  const int channels = given_channels(p);
  if (pair.left.size() != size || pair.left.type != p.pixel_type || pair.left.channels != channels ||
      pair.left.bit_depth != p.bit_depth)
    refuse(text("the matcher was planned for ", shown(size), " pixels, ", to_string(p.pixel_type), ", ", channels,
                " channels, ", p.bit_depth, " bits; this pair has ", shown(pair.left.size()), " pixels, ",
                to_string(pair.left.type), ", ", pair.left.channels, " channels, ", pair.left.bit_depth,
                " bits: make a new plan"));
  for (const auto* image : {&pair.left, &pair.right}) {
    const char* const name = image == &pair.left ? "the left image" : "the right image";
    check_pixels(name, image->data, size, channels, image->pitch);
    check_intensities(name, *image);
  }
  for (const auto* mask : {&pair.mask_left, &pair.mask_right}) {
    if (mask->data == nullptr && mask->width == 0 && mask->height == 0) continue;
    if (mask->size() != p.size || mask->channels != 1)
      refuse(text("a mask has ", shown(mask->size()), " pixels and ", mask->channels,
                  " channels; it must have the images' ", shown(p.size), " and one channel"));
    check_pixels("the mask", mask->data, p.size, 1, mask->pitch);
    check_mask_in_place(*mask);
  }
}

// Of an image of a result, which is there if it is wanted.
template <class View>
void check_output(const char* name, bool wanted, const View& v, PixelType type, Size size, PixelType due,
                  int channels) {
  if (!wanted && (v.data != nullptr || !v.empty()))
    refuse(text("memory for ", name, " is given, which was not planned: ask for it in Problem"));
  if (!wanted) return;
  if (v.size() != size || type != due || v.channels != channels)
    refuse(text("the memory for ", name, " has ", shown(v.size()), " pixels, ", to_string(type), ", ", v.channels,
                " channels; it must have ", shown(size), ", ", to_string(due), ", ", channels));
  check_pixels(name, v.data, size, channels, v.pitch);
}

void check_fits(const Plan& plan, const MatchedViews& out) {
  const Problem& p = plan.problem();
  for_each_image(out, [&]<class T>(Binding e, const ImageView<T>& v) {
    if (e == Binding::validity && v.data == nullptr && v.size() == Size()) return;
    check_output(name_of(e), is_wanted(p, e), v, type_of(e), plan.output_size(), type_of(e), channels_of(e));
  });
  check_output("the rectified image", p.geometry.want_rectified, out.rectified, out.rectified.type, p.rectified_size(),
               p.pixel_type, p.channels);
  const auto check_shape = [&](const char* name, const AnyOutputView& v, const VolumeShape& shape, Size size,
                               int channels) {
    check_output(name, channels > 0, v, v.type, size, shape.type, channels);
  };
  for_each_volume(out, [&](Binding e, const AnyOutputView& v) {
    const auto state = static_cast<CostState>(static_cast<int>(e) - static_cast<int>(Binding::cost));
    const VolumeShape shape = is_wanted(p, e) ? plan.volume(state) : VolumeShape();
    check_shape(name_of(e), v, shape, p.region ? p.region->size() : shape.size, shape.disparities);
  });
  const VolumeShape paths = plan.path_costs();
  check_output("the path costs", follows_paths(p), out.paths, PixelType::u16, paths.size, paths.type,
               paths.disparities);
  for (int state = 0; state < 3; ++state) {
    const VolumeShape row = plan.probed(static_cast<CostState>(state));
    check_shape("the probed costs", out.probed[state], row, row.size, row.disparities);
  }
}

// An image on the plan's device, whose shape fits.
void check_memory(const Plan& plan, const char* name, const DeviceImageView& v) {
  if (v.memory == 0)
    refuse(text("the device's memory for ", name, " is null (its memory is 0); give an image on ", plan.device().name));
  constexpr std::int64_t most = std::int64_t{1} << 60;  // so that addresses are computed without overflow
  if (v.offset < 0 || v.offset > most)
    refuse(text("the device's memory for ", name, " begins at element ", v.offset, "; it must be 0 to ", most));
  if (!is_memory_of(plan.device().name, v.memory))
    refuse(text("the memory for ", name, " is not memory of ", plan.device().name,
                "; give memory that was allocated on this device, or match images of the host"));
}

// Volumes on a device have no padding.
void check_volume(const Plan& plan, const char* name, const DeviceImageView& v) {
  if (v.pitch != std::int64_t{v.width} * v.channels)
    refuse(text("the rows of ", name, " are ", v.pitch, " elements apart; on a device they follow one another, ",
                std::int64_t{v.width} * v.channels));
  check_memory(plan, name, v);
}

void check_fits(const Plan& plan, const DevicePair& pair, const DeviceMatched& out) {
  const Problem& p = plan.problem();
  if (plan.device().name == "cpu")
    refuse("images on a device can't be matched by the cpu; plan for the device that they are on");
  if (p.stripe) refuse("a stripe's path costs lie on the host; match images of the host");
  if (p.refines) refuse("maps that are refined lie on the host; give images of the host");
  if (p.region) refuse("images on a device are matched whole; plan without a region, and give crops of them");
  const auto check_one = [&](const char* name, const DeviceImageView& v, Size size, PixelType type, int channels,
                             int bit_depth) {
    if (v.size() != size || v.type != type || v.channels != channels || v.bit_depth != bit_depth)
      refuse(text("the device's image for ", name, " has ", shown(v.size()), " pixels, ", to_string(v.type), ", ",
                  v.channels, " channels, ", v.bit_depth, " bits; it must have ", shown(size), " pixels, ",
                  to_string(type), ", ", channels, " channels, ", bit_depth, " bits"));
    if (v.pitch < std::int64_t{size.width} * channels ||
        v.pitch > std::numeric_limits<std::int32_t>::max() / size.height)
      refuse(text("the device's image for ", name, " has a pitch of ", v.pitch, " elements; a row has at least ",
                  std::int64_t{size.width} * channels, ", and all rows together at most 2147483647"));
    check_memory(plan, name, v);
  };
  check_costs(p, pair.costs, pair.costs.memory != 0);
  if (p.volumes.given) check_volume(plan, "the cost volume", pair.costs);
  if (p.volumes.without_images) {
    if (pair.left != DeviceImageView() || pair.right != DeviceImageView())
      refuse(
          "images are given beside the cost volume, which were not planned: set Problem::volumes.without_images = "
          "false");
  } else {
    check_same_format(p, pair.format);
    check_one("the left view", pair.left, given_size(p), p.pixel_type, given_channels(p), p.bit_depth);
    check_one("the right view", pair.right, given_size(p), p.pixel_type, given_channels(p), p.bit_depth);
  }
  if (pair.mask_left != DeviceImageView()) check_one("the left mask", pair.mask_left, p.size, PixelType::u8, 1, 8);
  if (pair.mask_right != DeviceImageView()) check_one("the right mask", pair.mask_right, p.size, PixelType::u8, 1, 8);
  if (p.geometry.want_rectified) refuse("the rectified image is delivered to the host alone; plan without it");
  if (!p.volumes.probes.empty()) refuse("probed costs are delivered to the host alone; plan without probes");
  for_each_volume(out, [&](Binding e, const DeviceImageView& v) {
    if (!is_wanted(p, e)) {
      if (v != DeviceImageView()) refuse(text("memory for ", name_of(e), " is given, which was not planned"));
      return;
    }
    const VolumeShape shape =
        plan.volume(static_cast<CostState>(static_cast<int>(e) - static_cast<int>(Binding::cost)));
    if (v.size() != shape.size || v.channels != shape.disparities || v.type != shape.type)
      refuse(text("the device's memory for ", name_of(e), " has ", shown(v.size()), " pixels with ", v.channels,
                  " disparities of ", to_string(v.type), "; it must have ", shown(shape.size), " with ",
                  shape.disparities, " of ", to_string(shape.type)));
    check_volume(plan, name_of(e), v);
  });
  for_each_image(out, [&](Binding image, const DeviceImageView& v) {
    if (is_wanted(p, image))
      return check_one(name_of(image), v, plan.output_size(), type_of(image), channels_of(image), v.bit_depth);
    if (v != DeviceImageView())
      refuse(text("an image for ", name_of(image), " is given, which was not planned: ask for it in Problem"));
  });
}

}  // namespace stereopsis
