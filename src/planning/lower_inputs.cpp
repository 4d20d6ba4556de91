// Lowers the input: the steps from the pair to the images that the method reads.
#include <algorithm>

#include "core/pixel_layout.hpp"
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

// Returns the part of an input image that is read. If the images are rectified first, this is the whole image.
Rect given_part(const Builder& b, int view) {
  const Request& request = b.request();
  if (request.rectification) return {0, 0, request.size.width, request.size.height};
  return view == 1 && request.with_rows ? RowAlignment::rows_for(b.shown(), request.size) : b.shown();
}

// Adds the images of a view. The luma of NV12 is the grey image. Steps that convert the colours of NV12 and other
// formats are added only if a stage reads colours.
void take_view(Builder& b, Images& images, int view, const Rect& part) {
  const Request& request = b.request();
  const auto take = [&](const char* name, Binding left, Size size, Element element, int channels) {
    const int value = b.image(size, element, channels);
    b.bind(value, of_view(left, view));
    images.put(name, view, value);
  };
  if (request.masks[static_cast<std::size_t>(view)]) take("mask", Binding::mask_left, part.size(), Element::u8, 1);
  if (!request.format) return take("image", Binding::left, part.size(), request.element, request.channels);
  const PixelFormat format = *request.format;
  const Rect read = part_read(format, request.size, part);
  if (format != PixelFormat::nv12)
    return take(is_bayer(format) ? "mosaic" : "channels", Binding::left, read.size(), request.element,
                channels_of(format));
  take("luma", Binding::left, part.size(), Element::u8, 1);
  images.put("grey", view, images.find("luma", view));
  take("chroma", Binding::chroma_left, {read.width / 2, read.height / 2}, Element::u8, 2);
}

// Returns the stage that converts images of this format.
const StageDescriptor& stage_for(PixelFormat format) {
  return **std::ranges::find_if(registry().entries, [&](const StageDescriptor* stage) {
    const auto* conversion = stage->facet<FormatConversion>();
    return conversion != nullptr && conversion->takes(format);
  });
}

int resample(Builder& b, const char* name, int view, int mask);

// Converts the image of a view from the format of the pair.
int make_picture(Builder& b, Images& images, int view) {
  const Request& request = b.request();
  if (&images != &b.raw && (request.rectification || request.with_rows)) {
    images.put("image", view, resample(b, "image", view, -1));
    return images.find("image", view);
  }
  const Rect part = given_part(b, view), read = part_read(*request.format, request.size, part);
  const StageDescriptor& stage = stage_for(*request.format);
  Maps none;
  Images sized = images;
  sized.size = part.size();
  Scope scope{sized, none, b.context_of(request.range, images)};
  scope.context.from_right = view == 1;
  b.run(stage, stage.facet<FormatConversion>()->parameters(*request.format, {part.x - read.x, part.y - read.y}), scope);
  images.put("image", view, sized.find("image", view));
  return images.find("image", view);
}

// Returns the shown part of the map of a view. The rows of the right map are aligned, so that the pixels of the right
// image are interpolated once.
int shown_map(Builder& b, int view) {
  const Size whole = b.request().rectification->size;
  const AnyView map{.element = Element::s32, .width = whole.width, .height = whole.height, .channels = 2};
  if (view == 0 || !b.request().with_rows) return b.value(map.crop(b.shown()), of_view(Binding::map_left, view));
  const AnyView columns = map.crop({b.shown().x, 0, b.shown().width, whole.height});
  return facet_of<AlignedMap>().align(b, b.value(columns, Binding::map_rows_right));
}

// Resamples an image of a view by its map, or by the alignment of rows, which leaves the left view as it is. `mask` is the
// value that receives the resampled mask, or −1.
int resample(Builder& b, const char* name, int view, int mask) {
  const int raw = b.need(b.raw, name, view);
  if (view == 0 && b.request().aligns_image()) return raw;
  if (b.request().aligns_image()) return facet_of<AlignedView>().align(b, raw, given_part(b, 1).y, mask);
  const int map = shown_map(b, view);
  const int made = b.image(b.shown().size(), b.raw.info.element, b.shape_of(raw).channels);
  b.add(registry().with<MapResampling>(), {}, {}, {{"raw", raw}, {"raw_mask", b.raw.find("mask", view)}, {"map", map}},
        {{"image", made}, {"mask", mask}});
  return made;
}

// Returns the shown part of both views, rectified or with aligned rows. For NV12, this is the grey image, and the colours
// only if a stage reads them.
Images resampled_images(Builder& b) {
  const Request& request = b.request();
  Images images{b.raw.info, b.shown().size(), {}};
  const char* name = request.format == PixelFormat::nv12 ? "grey" : "image";
  for (const int view : {0, 1}) {
    const bool complete = request.complete(view);
    const int given = b.raw.find("mask", view);
    images.put("mask", view, given);
    if (!(view == 0 && request.aligns_image()) && (!complete || given >= 0 || b.raw.info.is_float()))
      images.put("mask", view, b.image(images.size, Element::u8));
    images.put(name, view, resample(b, name, view, images.find("mask", view)));
  }
  if (request.requests(Binding::output_rectified)) b.bind(b.need(images, "image", 0), Binding::output_rectified);
  return images;
}

// Adds the inputs per pixel of the left view that stages of the pipeline read.
Images with_priors(Builder& b, Images images) {
  const bool is_given = !b.request().refine_only || checks_seeds(b.pipeline());
  for (const InputRow& row : input_rows)
    if (row.kind == InputKind::prior && is_given && use_of(b.pipeline(), row.name)) {
      const int value = b.image(images.size, Element::f32);
      b.bind(value, row.binding);
      images.put(row.name, 0, value);
    }
  return images;
}

}  // namespace

Images lower_inputs(Builder& b) {
  const Request& request = b.request();
  Images images{{request.element, request.channels}, given_part(b, 0).size(), {}};
  if (request.costs) {
    b.given_costs = b.volume(images.size, *request.costs, request.range.count);
    b.bind(b.given_costs, Binding::costs);
    if (request.without_images) return images;
  }
  if (request.format) b.make_pictures_by(make_picture);
  for (const int view : {0, 1}) {
    take_view(b, images, view, given_part(b, view));
    if (request.constant.mask_black && request.masks[static_cast<std::size_t>(view)])
      facet_of<BlackMask>().mask_view(b, images, view, given_part(b, view));
  }
  if (!request.rectification && !request.with_rows) return with_priors(b, std::move(images));
  b.raw = std::move(images);
  return with_priors(b, resampled_images(b));
}

}  // namespace stereopsis
