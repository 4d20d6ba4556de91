#include "api/call_images.hpp"

#include "api/views.hpp"
#include "core/pixel_layout.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {
namespace {

AnyView& image_at(FrameImages& images, Binding binding) { return images[static_cast<std::size_t>(binding)]; }

template <class Pair>
void add_inputs(const Pair& pair, FrameImages& images) {
  for_each_input([&](std::size_t row, auto field) {
    if constexpr (requires { field(pair); }) image_at(images, input_binding(row)) = any_view(field(pair));
  });
}

template <class Result>
void add_outputs(const Result& result, FrameImages& images) {
  for_each_output([&](std::size_t row, auto field) {
    if constexpr (requires { field(result); }) image_at(images, output_binding(row)) = any_view(field(result));
  });
}

// Replaces an image of a view by the part of it that the steps read. In other formats than grey and RGB, the part
// begins at the first pixel of the shown region. NV12 is read as two planes.
void crop_view(const Problem& p, const Rect& shown, int view, FrameImages& images) {
  AnyView& image = image_at(images, view == 0 ? Binding::left : Binding::right);
  if (image.memory == 0 || image.empty()) return image = {}, void();
  const AnyView whole = image;
  image_at(images, of_view(Binding::whole_left, view)) =
      p.format == PixelFormat::nv12 ? whole.rows(0, p.size.height) : whole;
  const Rect part = p.format ? part_read(*p.format, p.size, shown) : shown;
  image = whole.crop(p.format == PixelFormat::nv12 ? shown : part);
  if (p.format != PixelFormat::nv12) return;
  AnyView chroma = whole.rows(p.size.height, p.size.height / 2);
  chroma.width /= 2;
  chroma.channels = 2;
  image_at(images, view == 0 ? Binding::chroma_left : Binding::chroma_right) =
      chroma.crop({part.x / 2, part.y / 2, part.width / 2, part.height / 2});
}

bool is_there(const AnyView& image) { return image.memory != 0 && !image.empty(); }

}  // namespace

CallImages::CallImages(const StereoPair& pair)
    : bit_depths_{pair.left.bit_depth, pair.right.bit_depth},
      format_(pair.format),
      rows_(pair.row_alignment),
      maps_(pair.rectification),
      is_on_device_(false) {
  add_inputs(pair, images_);
}

CallImages::CallImages(const DevicePair& pair)
    : bit_depths_{pair.left.bit_depth, pair.right.bit_depth},
      format_(pair.format),
      rows_(pair.row_alignment),
      is_on_device_(true) {
  add_inputs(pair, images_);
}

void CallImages::add(const Matched& result) { add_outputs(result, images_); }
void CallImages::add(const MatchedViews& result) { add_outputs(result, images_); }
void CallImages::add(const DeviceMatched& result) { add_outputs(result, images_); }

FrameArguments CallImages::frame(const Plan& plan) const {
  const Problem& p = plan.problem();
  FrameArguments arguments{images_, rows_ ? *rows_ : p.row_alignment.value_or(RowAlignment())};
  const Rect shown =
      p.region && !p.geometry.rectification ? plan.required_input() : Rect{0, 0, p.size.width, p.size.height};
  const Rect shown_right =
      arguments.rows.is_identity() || p.geometry.rectification ? shown : RowAlignment::rows_for(shown, p.size);
  FrameImages& images = arguments.images;
  for (const int view : {0, 1}) crop_view(p, view == 0 ? shown : shown_right, view, images);
  for (std::size_t row = 0; row < input_table.size(); ++row) {
    AnyView& image = image_at(images, input_binding(row));
    const InputKind kind = input_table[row].kind;
    if (!is_there(image))
      image = {};
    else if (kind == InputKind::mask)
      image = image.crop(input_binding(row) == Binding::mask_right ? shown_right : shown);
    else if (kind == InputKind::prior)
      image = image.crop(plan.required_input());
    else if (kind == InputKind::volume)
      image = as_volume(image.crop(shown));
  }
  for (std::size_t row = 0; row < output_table.size(); ++row)
    if (AnyView& image = image_at(images, output_binding(row)); output_table[row].kind == OutputKind::volume)
      image = as_volume(image);
  return arguments;
}

}  // namespace stereopsis
