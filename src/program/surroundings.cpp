// What comes before the matching, and after it: the pair as it is given, rectified, reduced; which maps are wanted; results of
// reduced images in pixels of the input; depth and points.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "program/composer.hpp"
#include "stages/pixel_format/pixel_format.hpp"
#include "stages/reduce/reduce.hpp"
#include "stages/triangulate/triangulate.hpp"
#include "stages/upsample/upsample.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {

reduce::Parameters reduction_of(const PipelineData& p) {
  const auto* r = p.prepare.get_if<reduce::Parameters>();
  return r == nullptr ? reduce::Parameters{} : *r;
}

Size output_size(const PipelineData& p, Size input) { return reduce::output_size(reduction_of(p), input); }

int output_factor(const PipelineData& p) {
  const reduce::Parameters r = reduction_of(p);
  return r.upsample ? 1 : r.factor;
}

// Of the pair as it is given: all of one that is rectified first.
Rect Composer::given_part() const {
  return problem_.geometry.rectification ? Rect{0, 0, problem_.size.width, problem_.size.height} : shown_;
}

Images Composer::given_images() {
  Images images{{element_of(problem_.pixel_type), problem_.channels}, given_part().size(), {}};
  if (problem_.volumes.given) {
    given_costs_ = value({.element = element_of(*problem_.volumes.given),
                          .width = images.size.width,
                          .height = images.size.height,
                          .disparities = problem_.range.count,
                          .pitch = static_cast<std::int64_t>(images.size.width) * problem_.range.count},
                         Binding::costs);
    if (problem_.volumes.without_images) return images;
  }
  for (const int view : {0, 1}) give(images, view);
  if (!problem_.geometry.rectification) return images;
  raw_ = std::move(images);
  return rectified_images();
}

// Of NV12 the luma is the grey image; what colours other formats have, and all of NV12's, is made where something reads them.
void Composer::give(Images& images, int view) {
  const auto given = [&](Binding left, Size size, Element element, int channels) {
    const int v = image(size, element, channels);
    program_.values_[v].binding = static_cast<Binding>(static_cast<int>(left) + view);
    return v;
  };
  const Rect shown = given_part();
  if (request_.masks[view]) images.put("mask", view, given(Binding::mask_left, shown.size(), Element::u8, 1));
  if (!problem_.format)
    return images.put("image", view, given(Binding::left, shown.size(), images.info.element, images.info.channels));
  const PixelFormat format = *problem_.format;
  const Rect part = pixel_format::part_read(format, problem_.size, shown);
  if (format != PixelFormat::nv12)
    return images.put(is_bayer(format) ? "mosaic" : "channels", view,
                      given(Binding::left, part.size(), images.info.element, channels_of(format)));
  images.put("luma", view, given(Binding::left, shown.size(), Element::u8, 1));
  images.put("grey", view, images.find("luma", view));
  images.put("chroma", view, given(Binding::chroma_left, {part.width / 2, part.height / 2}, Element::u8, 2));
}

// The image of a pair that is given in another format.
int Composer::make_picture(Images& images, int view) {
  if (&images != &raw_ && problem_.geometry.rectification) {
    images.put("image", view, rectified("image", view, -1));
  } else {
    const PixelFormat format = *problem_.format;
    const Rect shown = given_part(), part = pixel_format::part_read(format, problem_.size, shown);
    Maps none;
    StepContext n = context_of(problem_.range, images);
    n.from_right = view == 1;
    Scope scope{images, none, n};
    run(registry().at(pixel_format::entry_of(format)),
        pixel_format::Parameters{format, {shown.x - part.x, shown.y - part.y}}, scope);
  }
  return images.find("image", view);
}

// The part of both rectified views that is shown: of NV12 the grey image, and the colours where something reads them.
Images Composer::rectified_images() {
  const RectificationMaps& maps = *problem_.geometry.rectification;
  Images images{raw_.info, shown_.size(), {}};
  const char* name = problem_.format == PixelFormat::nv12 ? "grey" : "image";
  for (const int view : {0, 1}) {
    const bool complete = view == 0 ? maps.left_complete : maps.right_complete;
    const bool masks = !complete || raw_.find("mask", view) >= 0 || raw_.info.is_float();
    if (masks) images.put("mask", view, image(images.size, Element::u8));
    images.put(name, view, rectified(name, view, images.find("mask", view)));
  }
  if (problem_.geometry.want_rectified) program_.values_[need(images, "image", 0)].binding = Binding::output_rectified;
  return images;
}

// `usable` is where its mask goes, if that is wanted.
int Composer::rectified(std::string_view name, int view, int usable) {
  const int from = need(raw_, name, view);
  const Size whole = problem_.geometry.rectification->size();
  AnyView map{.element = Element::s32, .width = whole.width, .height = whole.height, .channels = 2};
  const int shown_map = value(map.crop(shown_), view == 0 ? Binding::map_left : Binding::map_right);
  const int made = image(shown_.size(), raw_.info.element, shape_of(from).channels);
  add(registry().at("remap"), {}, {},
      {{from, {}}, {raw_.find("mask", view), {}}, {shown_map, {}}, {made, {}}, {usable, {}}});
  return made;
}

// Grey, and smaller by the factor.
Images Composer::reduced_images(Images& full) {
  const StageDescriptor& entry = *pipeline_.prepare.entry;
  Images reduced{{full.info.element, 1}, entry.output_size(pipeline_.prepare.parameters, full.size), {}};
  for (const int view : {0, 1}) {
    const int grey = need(full, "grey", view), mask = full.find("mask", view);
    const int made = image(reduced.size, full.info.element), usable = mask >= 0 ? image(reduced.size, Element::u8) : -1;
    add(entry, pipeline_.prepare.parameters, {}, {{grey, {}}, {mask, {}}, {made, {}}, {usable, {}}});
    reduced.put("image", view, made);
    reduced.put("grey", view, made);
    if (mask >= 0) reduced.put("mask", view, usable);
  }
  return reduced;
}

// Whether a refinement that runs reads a map.
bool Composer::reads(const char* map) const {
  return std::any_of(pipeline_.refinements.begin(), pipeline_.refinements.end(), [&](const StageChoice& stage) {
    if (!stage.enabled) return false;
    const Ports ports = stage.entry->ports(stage.parameters, {});
    return std::any_of(ports.begin(), ports.end(), [&](const Port& port) {
      return port.name == std::string_view(map) && (port.use == Port::Use::in || port.use == Port::Use::change);
    });
  });
}

// Whether the selection is to make the confidence: somebody wants it, before a refinement that makes it.
bool Composer::selects_confidence() const {
  for (const StageChoice& stage : pipeline_.refinements) {
    if (!stage.enabled) continue;
    for (const Port& port : stage.entry->ports(stage.parameters, {})) {
      if (port.name != std::string_view("confidence")) continue;
      if (port.use == Port::Use::out) return false;
      if (port.use == Port::Use::in || port.use == Port::Use::change) return true;
    }
  }
  return problem_.want_confidence;
}

// What the selection makes.
Maps Composer::wanted_maps(Size size) {
  Maps maps{{"disparity", image(size, Element::f32)}, {"validity", image(size, Element::u8)}};
  if (problem_.want_right || reads("right")) maps["right"] = image(size, Element::f32);
  if (selects_confidence()) maps["confidence"] = image(size, Element::f32);
  return maps;
}

// From maps of the reduced images, in their pixels, to those in pixels of the input.
void Composer::restore(Images& full, Images& reduced, Maps& maps) {
  const reduce::Parameters p = reduction_of(pipeline_);
  if (!p.upsample) {
    add(registry().at("scale"), p, {}, {{maps["disparity"], {}}});
    if (problem_.want_right) add(registry().at("scale"), p, {}, {{maps["right"], {}}});
    return;
  }
  const upsample::Parameters parameters{p.factor, p.sampling == reduce::Sampling::average, p.edge};
  const bool confident = problem_.want_confidence;
  for (const int view : {0, 1}) {
    const char* name = view == 0 ? "disparity" : "right";
    if (view == 1 && !problem_.want_right) continue;
    const bool left = view == 0;
    const int disparity = image(full.size, Element::f32), validity = left ? image(full.size, Element::u8) : -1,
              confidence = left && confident ? image(full.size, Element::f32) : -1;
    add(registry().at("upsample"), parameters, {},
        {{maps[name], {}},
         {left ? maps["validity"] : -1, {}},
         {left && confident ? maps["confidence"] : -1, {}},
         {need(reduced, "grey8", view), {}},
         {need(full, "grey8", view), {}},
         {full.find("mask", view), {}},
         {disparity, {}},
         {validity, {}},
         {confidence, {}}});
    maps[name] = disparity;
    if (left) maps["validity"] = validity;
    if (left && confident) maps["confidence"] = confidence;
  }
}

void Composer::triangulate(const Images& full, Maps& maps) {
  const Geometry& g = problem_.geometry;
  if (!g.want_depth && !g.want_points && !g.want_uncertainty) return;
  const int disparity = maps.at("disparity");
  const Size size = shape_of(disparity).size();
  if (output_size(pipeline_, full.size) != full.size)
    throw Error(ErrorCategory::call, "a result of reduced size can't be triangulated; set reduce.upsample = true");
  const auto made = [&](bool requested, const char* name, int channels) {
    if (!requested) return Operand{};
    return Operand{maps[name] = image(size, Element::f32, channels), {}};
  };
  add(registry().at("triangulate"), triangulate::Parameters{*g.rig, g.frame, g.disparity_error, shown_.x, shown_.y, 1},
      {},
      {{disparity, {}},
       made(g.want_depth, "depth", 1),
       made(g.want_points, "points", 3),
       made(g.want_uncertainty, "uncertainty", 1)});
}

void Composer::deliver(const Images&, const Maps& maps) {
  const auto changes_maps = [](const StageChoice& stage) { return stage.enabled; };
  if (problem_.want_confidence && (problem_.refine_only || std::ranges::any_of(pipeline_.refinements, changes_maps)))
    add(registry().at("measured_confidence"), {}, {}, {{maps.at("validity"), {}}, {maps.at("confidence"), {}}});
  for (std::size_t row = 0; row < output_table.size(); ++row) {
    const Output& output = output_table[row];
    if (output.kind != OutputKind::map || !is_requested(problem_, output)) continue;
    const auto map = maps.find(output.name);
    if (map == maps.end())
      throw Error(ErrorCategory::call,
                  text("the pipeline '", pipeline_.method, "' has no stage that makes the output '", output.name,
                       "', which is requested; choose one, or do without"));
    program_.values_[map->second].binding = output_binding(row);
  }
}

}  // namespace stereopsis
