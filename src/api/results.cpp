#include "api/results.hpp"

#include <algorithm>

#include "api/due_images.hpp"
#include "api/views.hpp"
#include "graph/call.hpp"
#include "graph/pipeline.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/device_image.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {
namespace {

template <class T>
void resize(Image<T>& image, const AnyView& shape) {
  if (shape.empty())
    image = {};
  else if (image.size() != shape.size() || image.channels() != shape.channels)
    image = Image<T>(shape.size(), shape.channels);
}

void resize(AnyImage& image, const AnyView& shape) {
  const AnyView before = any_view(image);
  if (shape.empty())
    image = {};
  else if (before.size() != shape.size() || before.channels != shape.channels || before.element != shape.element)
    with_element<std::uint8_t, std::uint16_t, float>(shape.element,
                                                     [&]<class T> { image = Image<T>(shape.size(), shape.channels); });
}

template <class T>
ImageView<T> output_view(Image<T>& image) {
  return image;
}
AnyOutputView output_view(AnyImage& image) {
  return std::visit([]<class T>(Image<T>& i) { return AnyOutputView(i.view()); }, image.pixels);
}

MatchedViews resized(const Plan& plan, Matched& result, const ResultSizes& sizes) {
  MatchedViews views;
  for_each_output([&](std::size_t row, auto field) {
    resize(field(result), output_shape(plan, row, sizes));
    field(views) = output_view(field(result));
  });
  if (!result.rectified.view().empty()) result.rectified.bit_depth = plan.problem().bit_depth;
  views.times = &result.times;
  return views;
}

template <class T>
void copy(const ImageView<const T>& from, const ImageView<T>& to) {
  for (int y = 0; y < to.height; ++y)
    std::copy_n(from.row(y), static_cast<std::size_t>(to.width) * to.channels, to.row(y));
}

// Copies the region from `part`, which shows the rectangle `shown` of the image, to `whole`. Sets all other pixels to
// `outside`.
template <class T>
void place(const ImageView<const T>& part, const Rect& shown, const Rect& region, T outside,
           const ImageView<T>& whole) {
  for (int y = 0; y < whole.height; ++y)
    std::fill_n(whole.row(y), static_cast<std::size_t>(whole.width) * whole.channels, outside);
  copy(part.crop({region.x - shown.x, region.y - shown.y, region.width, region.height}), whole.crop(region));
}

// Converts a rectangle of the input to pixels of the output. If the pipeline returns maps of reduced images, an output
// pixel covers several input pixels.
Rect in_output(const Rect& r, int factor) {
  const auto up = [&](int at) { return (at + factor - 1) / factor; };
  const int x = r.x / factor, y = r.y / factor;
  return {x, y, up(r.x + r.width) - x, up(r.y + r.height) - y};
}

void place_output(const Plan& plan, const Output& output, const AnyView& part, const AnyView& result) {
  const Rect shown = plan.required_input(), region = *plan.problem().region;
  const int factor = output_factor(plan.pipeline().data());
  with_element<std::uint8_t, std::uint16_t, float>(result.element, [&]<class T> {
    const auto from = part.on_host<const T>();
    const auto to = result.on_host<T>();
    switch (output.kind) {
      case OutputKind::map:
        return place(from, in_output(shown, factor), in_output(region, factor), static_cast<T>(output.outside), to);
      case OutputKind::picture: return place(from, shown, region, T{0}, to);
      case OutputKind::volume:
        return copy(from.crop({region.x - shown.x, region.y - shown.y, region.width, region.height}), to);
      default: return copy(from, to);
    }
  });
}

}  // namespace

MatchedViews resized_views(const Plan& plan, Matched& result) { return resized(plan, result, result_sizes(plan)); }

MatchedViews resized_part_views(const Plan& plan, Matched& part) {
  const Size input = plan.required_input().size();
  return resized(plan, part, {output_size(plan.pipeline().data(), input), input, {}});
}

Matched page_locked_result(const Plan& plan) {
  const std::string& device = plan.device().name;
  Matched result;
  for_each_output([&](std::size_t row, auto field) {
    const AnyView shape = output_shape(plan, row, result_sizes(plan));
    const OutputKind kind = output_table[row].kind;
    if (shape.empty() || (kind != OutputKind::map && kind != OutputKind::picture)) return;
    with_element<std::uint8_t, std::uint16_t, float>(shape.element, [&]<class T> {
      if constexpr (requires { field(result) = Image<T>(); })
        field(result) = page_locked_image<T>(device, shape.size(), shape.channels);
    });
  });
  result.rectified.bit_depth = plan.problem().bit_depth;
  return result;
}

void place_part(const Plan& plan, const MatchedViews& part, const MatchedViews& result) {
  for_each_output([&](std::size_t row, auto field) {
    if (!field(part).empty() && !field(result).empty())
      place_output(plan, output_table[row], any_view(field(part)), any_view(field(result)));
  });
}

}  // namespace stereopsis
