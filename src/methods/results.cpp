#include "methods/results.hpp"

#include <algorithm>

#include "stereopsis/rectification.hpp"

namespace stereopsis {
namespace {

template <class T>
void resize(Image<T>& image, Size size, int channels = 1) {
  if (image.size() != size || image.channels() != channels) image = Image<T>(size, channels);
}

void resize(AnyImage& image, const Problem& p, Size size) {
  const AnyImageView before = image;
  if (before.size() == size && before.type == p.pixel_type && before.channels == p.channels) return;
  with_type(p, [&]<class T>(Image<T>) { image.pixels = Image<T>(size, p.channels); });
  image.bit_depth = p.bit_depth;
}

// An image with a channel for each disparity; of no size where it is not wanted.
void resize_volume(AnyImage& volume, const VolumeShape& shape, Size size) {
  const AnyImageView before = volume;
  if (shape.disparities == 0) return volume = AnyImage(), void();
  if (before.size() == size && before.type == shape.type && before.channels == shape.disparities) return;
  switch (shape.type) {
    case PixelType::u8: volume = Image<std::uint8_t>(size, shape.disparities); return;
    case PixelType::u16: volume = AnyImage(Image<std::uint16_t>(size, shape.disparities)); return;
    case PixelType::f32: volume = Image<float>(size, shape.disparities);
  }
}
CostState state_of(External e) {
  return static_cast<CostState>(static_cast<int>(e) - static_cast<int>(External::cost));
}

// The size of a result that may not be wanted.
Size size_if(bool wanted, Size size) { return wanted ? size : Size{}; }

// Puts the region of `part`, which shows `shown` of the image, into a full-size image of `outside`.
template <class T>
void place(const Image<T>& part, const Rect& shown, const Rect& region, Size size, T outside, Image<T>& whole) {
  if (part.empty()) return whole = Image<T>(), void();
  const int channels = part.channels();
  resize(whole, size, channels);
  whole.fill(outside);
  const auto wanted = part.view().crop({region.x - shown.x, region.y - shown.y, region.width, region.height});
  for (int y = 0; y < region.height; ++y)
    std::copy_n(wanted.row(y), region.width * channels, whole.row(region.y + y) + region.x * channels);
}

void copy(const AnyImageView& from, AnyImage& to) {
  std::visit([&]<class T>(Image<T>& image) { image.copy_from(from.as<T>()); }, to.pixels);
}

// Of a pair, what a plan's region needs.
StereoPair input_of(const Plan& plan, const StereoPair& pair) {
  if (!plan.problem().region || plan.problem().geometry.rectification) return pair;
  const Rect shown = plan.required_input();
  const auto crop = [&](const ImageView<const std::uint8_t>& mask) { return mask.empty() ? mask : mask.crop(shown); };
  const auto crop_any = [&](const AnyImageView& image) { return image.empty() ? image : image.crop(shown); };
  return {crop_any(pair.left), crop_any(pair.right), crop(pair.mask_left), crop(pair.mask_right), crop_any(pair.costs)};
}

AnyView view_of(const AnyImageView& v) {
  return {reinterpret_cast<std::uint64_t>(v.data), 0, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}
AnyView view_of(const DeviceImageView& v) {
  return {v.memory, v.offset, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}
// Of a volume.
template <class View>
AnyView volume_of(const View& v) {
  AnyView volume = view_of(v);
  std::swap(volume.disparities, volume.channels);
  volume.channels = 1;
  return volume;
}
AnyView& of(FrameImages& images, External e) { return images[static_cast<std::size_t>(e)]; }

template <class Pair>
FrameImages images_of_pair(const Pair& pair) {
  FrameImages images{};
  of(images, External::left) = view_of(pair.left);
  of(images, External::right) = view_of(pair.right);
  if (!pair.mask_left.empty()) of(images, External::mask_left) = view_of(pair.mask_left);
  if (!pair.mask_right.empty()) of(images, External::mask_right) = view_of(pair.mask_right);
  if (!pair.costs.empty()) of(images, External::costs) = volume_of(pair.costs);
  return images;
}

}  // namespace

FrameImages images_of(const Plan& plan, const StereoPair& pair, Matched& result) {
  const Problem& p = plan.problem();
  FrameImages images = images_of_pair(input_of(plan, pair));
  const Size input = plan.required_input().size(), size = output_size(plan.pipeline().data(), input);
  for_each_image(result, [&]<class T>(External e, Image<T>& image) {
    resize(image, size_if(is_wanted(p, e), size), channels_of(e));
    of(images, e) = AnyView::of(image.view());
  });
  resize(result.rectified, p, size_if(p.geometry.want_rectified, input));
  of(images, External::rectified) = view_of(result.rectified.view());
  for_each_volume(result, [&](External e, AnyImage& volume) {
    const VolumeShape shape = is_wanted(p, e) ? plan.volume(state_of(e)) : VolumeShape();
    resize_volume(volume, shape, shape.size);
    of(images, e) = volume_of(volume.view());
  });
  for (int state = 0; state < 3; ++state) {
    const VolumeShape row = plan.probed(static_cast<CostState>(state));  // of one channel, as wide as the candidates
    resize_volume(result.probed[state], row, row.size);
    of(images, probed(state)) = view_of(result.probed[state].view());
  }
  return images;
}

void place_part(const Plan& plan, Matched& part, Matched& result) {
  const Problem& p = plan.problem();
  // In pixels of the output: of the reduced images, if it has their size.
  const Size input = p.rectified_size(), output = plan.output_size();
  const int factor = output_factor(plan.pipeline().data());
  const auto in_output = [&](const Rect& r) {
    const auto up = [&](int at) { return (at + factor - 1) / factor; };
    const int x = r.x / factor, y = r.y / factor;
    return Rect{x, y, up(r.x + r.width) - x, up(r.y + r.height) - y};
  };
  const Rect shown = in_output(plan.required_input()), region = in_output(*p.region);
  for_each_image(result, [&]<class T>(External e, Image<T>& image) {
    for_each_image(part, [&]<class U>(External f, Image<U>& from) {
      if constexpr (std::is_same_v<T, U>)
        if (e == f) place(from, shown, region, output, outside_of<T>(e), image);
    });
  });
  resize(result.rectified, p, size_if(p.geometry.want_rectified, input));
  std::visit(
      [&]<class T>(const Image<T>& from) {
        place(from, plan.required_input(), *p.region, input, T{0}, std::get<Image<T>>(result.rectified.pixels));
      },
      part.rectified.pixels);
  // Of volumes, the region alone.
  const Rect read = plan.required_input();
  for_each_volume(result, [&](External e, AnyImage& volume) {
    if (!is_wanted(p, e)) return volume = AnyImage(), void();
    resize_volume(volume, plan.volume(state_of(e)), p.region->size());
    for_each_volume(part, [&](External f, AnyImage& whole) {
      if (e == f)
        copy(whole.view().crop({p.region->x - read.x, p.region->y - read.y, p.region->width, p.region->height}),
             volume);
    });
  });
  result.probed = part.probed;
  result.times = part.times;
}

FrameImages images_of(const DevicePair& pair, const DeviceMatched& result) {
  FrameImages images = images_of_pair(pair);
  for_each_image(result, [&](External e, const DeviceImageView& view) { of(images, e) = view_of(view); });
  for_each_volume(result, [&](External e, const DeviceImageView& view) { of(images, e) = volume_of(view); });
  return images;
}

}  // namespace stereopsis
