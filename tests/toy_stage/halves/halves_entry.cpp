// A toy of the slot `levels`: matches at half the size, and doubles the disparities.
//
//   I'(x, y) = I(2x, 2y)        of the grey images and the masks
//   d(x, y) = 2 d'(⌊x / 2⌋, ⌊y / 2⌋), within the search range
#include "core/text.hpp"
#include "device/cpu/threads.hpp"
#include "device/gpu/device.hpp"
#include "graph/builder.hpp"
#include "graph/region.hpp"

namespace stereopsis::halves {
namespace {

using Bytes = ImageView<std::uint8_t>;

Size halved(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }
int floor_half(int value) { return value >> 1; }

// An absent mask makes a mask of usable pixels.
template <class T>
void half_rows(const ImageView<const T>& image, const ImageView<T>& half, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < half.width; ++x) half(x, y) = image.empty() ? T(255) : image(2 * x, 2 * y);
}

constexpr auto halve_image = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  c.with_pixels([&]<class T>() {
    const auto image = c.template image<const T>("grey");
    const auto half = c.template image<T>("half");
    if constexpr (on == On::gpu)
      c.worker().launch({"halves", "halve", gpu::instance_of<T>()}, gpu::over(half.size()), image, half);
    else if constexpr (on == On::cpu)
      c.worker().rows(half.height, [&](int first, int last) { half_rows(image, half, first, last); });
    else
      half_rows(image, half, 0, half.height);
  });
};

struct HalfMaps {
  ImageView<const float> disparity;
  ImageView<const std::uint8_t> validity, mask;  // the mask has the full size
};

void full_rows(const HalfMaps& half, const DisparityRange& range, const ImageView<float>& disparity,
               const Bytes& validity, int first, int last) {
  for (int y = first; y < last; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const bool masked = !half.mask.empty() && half.mask(x, y) == 0;
      const float d = 2 * half.disparity(x / 2, y / 2);
      const float least = static_cast<float>(range.min), most = static_cast<float>(range.max());
      disparity(x, y) = masked || !(d == d) ? invalid_disparity : d < least ? least : d > most ? most : d;
      validity(x, y) = masked ? validity::masked : half.validity(x / 2, y / 2);
    }
}

constexpr auto double_maps = [](const auto& c) {
  constexpr On on = device_of<decltype(c)>;
  const auto half_disparity = c.template image<const float>("disparity");
  const auto half_validity = c.template image<const std::uint8_t>("validity");
  const auto mask = c.template image<const std::uint8_t>("full_mask");
  const auto disparity = c.template image<float>("disparity");
  const auto validity = c.template image<std::uint8_t>("validity");
  const DisparityRange range = c.context.range;
  if constexpr (on == On::gpu) {
    c.worker().launch({"halves", "double_maps", "f32"}, gpu::over(disparity.size()), half_disparity, half_validity,
                      mask, range.min, range.max(), disparity, validity);
  } else {
    const HalfMaps half{half_disparity, half_validity, mask};
    const auto rows = [&](int first, int last) { full_rows(half, range, disparity, validity, first, last); };
    if constexpr (on == On::cpu)
      c.worker().rows(disparity.height, rows);
    else
      rows(0, disparity.height);
  }
};

const StageDescriptor half_image{
    .slot = Slot::internal,
    .name = "half_image",
    .title = "halves",
    .ports = {in("grey"), out("half", Element::same)},
    .functions = on_every_device(halve_image),
    .facets = {ImageShape{.size = [](const StageParameters&, Size size) { return halved(size); }}}};

const StageDescriptor full_maps{.slot = Slot::internal,
                                .name = "full_maps",
                                .title = "halves",
                                .ports = {in("disparity"), in("validity"), if_there("full_mask"),
                                          out("disparity", Element::f32), out("validity", Element::u8)},
                                .functions = on_every_device(double_maps),
                                .facets = {ImageShape{.size = [](const StageParameters&, Size half) {
                                  return Size{2 * half.width - 1, 2 * half.height};
                                }}}};

int half_of(Builder& b, int image) {
  const AnyView& shape = b.shape_of(image);
  const int half = b.image(halved(shape.size()), shape.element);
  b.add(half_image, {}, {}, {{"grey", image}}, {{"half", half}});
  return half;
}

Images half_images(Builder& b, Images& images) {
  Images half{{images.info.element, 1}, halved(images.size), {}};
  for (const int view : {0, 1}) {
    half.put("image", view, half_of(b, b.need(images, "grey", view)));
    half.put("grey", view, half.find("image", view));
    if (const int mask = images.find("mask", view); mask >= 0) half.put("mask", view, half_of(b, mask));
  }
  return half;
}

void match(Builder& b, Images& images, const DisparityRange& range, Maps& maps) {
  Images half = half_images(b, images);
  const int least = floor_half(range.min), most = floor_half(range.max());
  Maps half_maps{{"disparity", b.image(half.size, Element::f32)}, {"validity", b.image(half.size, Element::u8)}};
  Scope scope{half, half_maps, b.context_of({least, most - least + 1}, half)};
  b.run(b.pipeline().cost, scope);
  b.run(b.pipeline().select, scope);
  b.add(full_maps, {}, b.context_of(range, images),
        {{"disparity", half_maps.at("disparity")},
         {"validity", half_maps.at("validity")},
         {"full_mask", images.find("mask", 0)}},
        {{"disparity", maps.at("disparity")}, {"validity", maps.at("validity")}});
}

void check_pipeline(const PipelineData& p, const Request& request) {
  const bool only_costs = p.cost.facet<WordCosts>() == nullptr && p.cost.facet<GivenCosts>() == nullptr && !p.plus &&
                          !p.aggregation && !p.optimisation;
  if (!only_costs || request.requests_costs() || request.requests(Binding::output_right) ||
      request.requests(Binding::output_confidence))
    throw Error(ErrorCategory::call, text("the pipeline '", p.method,
                                          "' matches at half the size, which supports only a cost that computes a "
                                          "volume, and a disparity; set levels.stage = none"));
}

const Lowering lowering{.applies = [](const PipelineData&, const Request&) { return true; }, .match = match};
const RegionRule region_rule{
    .applies = [](const PipelineData&) { return true; },
    .required_input = [](const PipelineData&, const Request& request) { return whole_image(request); }};

const StageDescriptor entry{.slot = Slot::levels,
                            .name = "halves",
                            .title = "halves",
                            .check_pipeline = check_pipeline,
                            .facets = {&lowering, &region_rule}};

}  // namespace

void register_stage(Registry& registry) {
  registry.add(entry);
  registry.add(half_image);
  registry.add(full_maps);
}

}  // namespace stereopsis::halves
