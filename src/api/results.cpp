#include "api/results.hpp"

#include <algorithm>

#include "stages/pixel_format/pixel_format.hpp"
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
CostState state_of(Binding e) { return static_cast<CostState>(static_cast<int>(e) - static_cast<int>(Binding::cost)); }

// The size of a result that may not be wanted.
Size size_if(bool wanted, Size size) { return wanted ? size : Size{}; }

// Puts the region of `part`, which shows `shown` of the image, into a full-size image of `outside`.
template <class T>
void place(const ImageView<T>& part, const Rect& shown, const Rect& region, T outside, const ImageView<T>& whole) {
  if (part.empty() || whole.empty()) return;
  const int channels = part.channels;
  for (int y = 0; y < whole.height; ++y)
    std::fill_n(whole.row(y), static_cast<std::size_t>(whole.width) * channels, outside);
  const auto wanted = part.crop({region.x - shown.x, region.y - shown.y, region.width, region.height});
  for (int y = 0; y < region.height; ++y)
    std::copy_n(wanted.row(y), region.width * channels, whole.row(region.y + y) + region.x * channels);
}

template <class T>
void copy(const ImageView<T>& from, const ImageView<T>& to) {
  for (int y = 0; y < to.height; ++y)
    std::copy_n(from.row(y), static_cast<std::size_t>(to.width) * to.channels, to.row(y));
}

// Calls f with both views in their pixel type.
template <class F>
void with_pixels(const AnyOutputView& a, const AnyOutputView& b, F&& f) {
  const auto as = [&]<class T>(T) {
    const auto view = [](const AnyOutputView& v) {
      return ImageView<T>(static_cast<T*>(v.data), v.width, v.height, v.channels, v.pitch);
    };
    f(view(a), view(b));
  };
  switch (a.type) {
    case PixelType::u8: return as(std::uint8_t{});
    case PixelType::u16: return as(std::uint16_t{});
    default: return as(float{});
  }
}

AnyOutputView output_of(AnyImage& image) {
  return std::visit([]<class T>(Image<T>& i) { return AnyOutputView(i.view()); }, image.pixels);
}

AnyView view_of(const AnyImageView& v) {
  return {reinterpret_cast<std::uint64_t>(v.data), 0, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}
AnyView view_of(const AnyOutputView& v) {
  return {reinterpret_cast<std::uint64_t>(v.data), 0, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}
AnyView view_of(const DeviceImageView& v) {
  return {v.memory, v.offset, element_of(v.type), v.width, v.height, v.channels, 0, v.pitch};
}
// Of a volume, which is an image with a channel for each disparity.
AnyView volume_of(AnyView volume) {
  std::swap(volume.disparities, volume.channels);
  volume.channels = 1;
  return volume;
}
AnyView& of(FrameImages& images, Binding e) { return images[static_cast<std::size_t>(e)]; }

// What is read of a view's image, as the composer has it: of one in another format the pixels, or both planes, that the shown part
// is made of.
void add_view(const Problem& p, const Rect& shown, const AnyView& whole, int view, FrameImages& images) {
  AnyView& image = of(images, view == 0 ? Binding::left : Binding::right);
  if (whole.memory == 0 || whole.empty()) return;
  const Rect part = p.format ? pixel_format::part_read(*p.format, p.size, shown) : shown;
  image = whole.crop(p.format == PixelFormat::nv12 ? shown : part);
  if (p.format != PixelFormat::nv12) return;
  AnyView chroma = whole.rows(p.size.height, p.size.height / 2);
  chroma.width /= 2;
  chroma.channels = 2;
  of(images, view == 0 ? Binding::chroma_left : Binding::chroma_right) =
      chroma.crop({part.x / 2, part.y / 2, part.width / 2, part.height / 2});
}

// What a plan's region needs of a pair.
template <class Pair>
FrameImages images_of_pair(const Plan& plan, const Pair& pair) {
  const Problem& p = plan.problem();
  const Rect shown =
      p.region && !p.geometry.rectification ? plan.required_input() : Rect{0, 0, p.size.width, p.size.height};
  FrameImages images{};
  add_view(p, shown, view_of(pair.left), 0, images);
  add_view(p, shown, view_of(pair.right), 1, images);
  if (!pair.mask_left.empty()) of(images, Binding::mask_left) = view_of(pair.mask_left).crop(shown);
  if (!pair.mask_right.empty()) of(images, Binding::mask_right) = view_of(pair.mask_right).crop(shown);
  if (!pair.costs.empty()) of(images, Binding::costs) = volume_of(view_of(pair.costs).crop(shown));
  return images;
}
// Of a stripe, and of maps to be refined.
void add_rest(const StereoPair& pair, FrameImages& images) {
  if (!pair.paths_above.empty()) of(images, Binding::paths_above) = AnyView::of(pair.paths_above);
  if (!pair.paths_below.empty()) of(images, Binding::paths_below) = AnyView::of(pair.paths_below);
  const GivenMaps& maps = pair.maps;
  if (!maps.disparity.empty()) of(images, Binding::given_disparity) = AnyView::of(maps.disparity);
  if (!maps.validity.empty()) of(images, Binding::given_validity) = AnyView::of(maps.validity);
  if (!maps.right.empty()) of(images, Binding::given_right) = AnyView::of(maps.right);
  if (!maps.confidence.empty()) of(images, Binding::given_confidence) = AnyView::of(maps.confidence);
}

// Makes the images of a result, of these sizes.
MatchedViews resized(const Plan& plan, Matched& result, Size size, Size rectified, std::optional<Size> volumes) {
  const Problem& p = plan.problem();
  MatchedViews views;
  for_each_image(result, [&]<class T>(Binding e, Image<T>& image) {
    resize(image, size_if(is_wanted(p, e), size), channels_of(e));
    for_each_image(views, [&]<class U>(Binding f, ImageView<U>& view) {
      if constexpr (std::is_same_v<T, U>)
        if (e == f) view = image;
    });
  });
  resize(result.rectified, p, size_if(p.geometry.want_rectified, rectified));
  views.rectified = output_of(result.rectified);
  const auto volume = [&](Binding e, AnyImage& image, AnyOutputView& view) {
    const VolumeShape shape = is_wanted(p, e) ? plan.volume(state_of(e)) : VolumeShape();
    resize_volume(image, shape, volumes.value_or(shape.size));
    view = output_of(image);
  };
  volume(Binding::cost, result.cost, views.cost);
  volume(Binding::aggregated, result.aggregated, views.aggregated);
  volume(Binding::optimised, result.optimised, views.optimised);
  const VolumeShape paths = follows_paths(p) ? plan.path_costs() : VolumeShape();
  resize(result.paths, paths.size, std::max(1, paths.disparities));
  views.paths = result.paths;
  for (int state = 0; state < 3; ++state) {
    const VolumeShape row = plan.probed(static_cast<CostState>(state));  // of one channel, as wide as the candidates
    resize_volume(result.probed[state], row, row.size);
    views.probed[state] = output_of(result.probed[state]);
  }
  views.times = &result.times;
  return views;
}

}  // namespace

MatchedViews views_of(const Plan& plan, Matched& result) {
  const Problem& p = plan.problem();
  const auto region = p.region ? std::optional(p.region->size()) : std::nullopt;
  return resized(plan, result, plan.output_size(), p.rectified_size(), region);
}

MatchedViews views_of_part(const Plan& plan, Matched& part) {
  const Size input = plan.required_input().size();
  return resized(plan, part, output_size(plan.pipeline().data(), input), input, {});
}

Matched page_locked_result(const Plan& plan) {
  const Problem& p = plan.problem();
  const std::string& device = plan.device().name;
  Matched result;
  for_each_image(result, [&]<class T>(Binding e, Image<T>& image) {
    if (is_wanted(p, e)) image = page_locked_image<T>(device, plan.output_size(), channels_of(e));
  });
  if (p.geometry.want_rectified)
    with_type(p, [&]<class T>(Image<T>) {
      result.rectified.pixels = page_locked_image<T>(device, p.rectified_size(), p.channels);
    });
  result.rectified.bit_depth = p.bit_depth;
  return result;
}

FrameImages images_of(const Plan& plan, const StereoPair& pair, const MatchedViews& result) {
  FrameImages images = images_of_pair(plan, pair);
  add_rest(pair, images);
  for_each_image(result, [&](Binding e, const auto& image) { of(images, e) = AnyView::of(image); });
  of(images, Binding::rectified) = view_of(result.rectified);
  for_each_volume(result, [&](Binding e, const AnyOutputView& volume) { of(images, e) = volume_of(view_of(volume)); });
  of(images, Binding::paths) = AnyView::of(result.paths);
  for (int state = 0; state < 3; ++state) of(images, probed(state)) = view_of(result.probed[state]);
  return images;
}

void place_part(const Plan& plan, const MatchedViews& part, const MatchedViews& result) {
  const Problem& p = plan.problem();
  // In pixels of the output: of the reduced images, if it has their size.
  const int factor = output_factor(plan.pipeline().data());
  const auto in_output = [&](const Rect& r) {
    const auto up = [&](int at) { return (at + factor - 1) / factor; };
    const int x = r.x / factor, y = r.y / factor;
    return Rect{x, y, up(r.x + r.width) - x, up(r.y + r.height) - y};
  };
  const Rect shown = in_output(plan.required_input()), region = in_output(*p.region);
  for_each_image(result, [&]<class T>(Binding e, const ImageView<T>& image) {
    for_each_image(part, [&]<class U>(Binding f, const ImageView<U>& from) {
      if constexpr (std::is_same_v<T, U>)
        if (e == f) place(from, shown, region, outside_of<T>(e), image);
    });
  });
  const Rect read = plan.required_input();
  with_pixels(part.rectified, result.rectified, [&]<class T>(const ImageView<T>& from, const ImageView<T>& to) {
    place(from, read, *p.region, T{0}, to);
  });
  // Of volumes, the region alone.
  const Rect inside{p.region->x - read.x, p.region->y - read.y, p.region->width, p.region->height};
  for_each_volume(result, [&](Binding e, const AnyOutputView& volume) {
    for_each_volume(part, [&](Binding f, const AnyOutputView& whole) {
      if (e == f && !whole.empty())
        with_pixels(whole, volume, [&](const auto& from, const auto& to) { copy(from.crop(inside), to); });
    });
  });
  for (int state = 0; state < 3; ++state)
    with_pixels(part.probed[state], result.probed[state], [](const auto& from, const auto& to) { copy(from, to); });
}

FrameImages images_of(const Plan& plan, const DevicePair& pair, const DeviceMatched& result) {
  FrameImages images = images_of_pair(plan, pair);
  for_each_image(result, [&](Binding e, const DeviceImageView& view) { of(images, e) = view_of(view); });
  for_each_volume(result, [&](Binding e, const DeviceImageView& view) { of(images, e) = volume_of(view_of(view)); });
  return images;
}

}  // namespace stereopsis
