// Adds the steps that reduce the images of a pair, and the steps that convert maps of reduced images to pixels of the
// input.
#include "graph/builder.hpp"
#include "stages/reduce/reduce.hpp"
#include "stages/upsample/upsample.hpp"

namespace stereopsis::reduce {
namespace {

// Adds the steps that compute reduced grey images and their masks.
Images reduced(Builder& b, const StageChoice& stage, Images& full) {
  const Parameters& p = stage.parameters.as<Parameters>();
  Images images{{full.info.element, 1}, reduced_size(p, full.size), {}};
  for (const int view : {0, 1}) {
    const int grey = b.need(full, "grey", view), mask = full.find("mask", view);
    const int made = b.image(images.size, full.info.element),
              usable = mask >= 0 ? b.image(images.size, Element::u8) : -1;
    b.add(*stage.entry, stage.parameters, {}, {{"grey", grey}, {"mask", mask}}, {{"image", made}, {"mask", usable}});
    images.put("image", view, made);
    images.put("grey", view, made);
    if (mask >= 0) images.put("mask", view, usable);
  }
  return images;
}

void scale(Builder& b, const Parameters& p, Maps& maps) {
  const StageDescriptor& stage = registry().at("scale");
  b.add(stage, p, {}, {{"disparity", maps["disparity"]}});
  if (b.request().requests(Binding::output_right)) b.add(stage, p, {}, {{"disparity", maps["right"]}});
}

// Adds the steps that upsample the map of a view along the edges of the full image. Only the left view has a validity
// and a confidence.
void upsample_view(Builder& b, const Parameters& p, int view, Images& full, Images& reduced, Maps& maps) {
  const bool left = view == 0, confident = left && b.request().requests(Binding::output_confidence);
  const char* const name = left ? "disparity" : "right";
  const int disparity = b.image(full.size, Element::f32), validity = left ? b.image(full.size, Element::u8) : -1,
            confidence = confident ? b.image(full.size, Element::f32) : -1;
  b.add(registry().at("upsample"), upsample::Parameters{p.factor, p.sampling == Sampling::average, p.edge}, {},
        {{"disparity", maps[name]},
         {"validity", left ? maps["validity"] : -1},
         {"confidence", confident ? maps["confidence"] : -1},
         {"grey8", b.need(reduced, "grey8", view)},
         {"full_grey8", b.need(full, "grey8", view)},
         {"full_mask", full.find("mask", view)}},
        {{"full_disparity", disparity}, {"full_validity", validity}, {"full_confidence", confidence}});
  maps[name] = disparity;
  if (left) maps["validity"] = validity;
  if (confident) maps["confidence"] = confidence;
}

void restore(Builder& b, const StageChoice& stage, Images& full, Images& reduced, Maps& maps) {
  const Parameters& p = stage.parameters.as<Parameters>();
  if (!p.upsample) return scale(b, p, maps);
  upsample_view(b, p, 0, full, reduced, maps);
  if (b.request().requests(Binding::output_right)) upsample_view(b, p, 1, full, reduced, maps);
}

}  // namespace

extern const Reduction reduction;
const Reduction reduction{
    .factor = [](const StageParameters& p) { return p.as<Parameters>().factor; },
    .output_size = [](const StageParameters& p, Size input) { return output_size(p.as<Parameters>(), input); },
    .output_factor =
        [](const StageParameters& p) { return p.as<Parameters>().upsample ? 1 : p.as<Parameters>().factor; },
    .range = [](const StageParameters& p,
                const DisparityRange& range) { return reduced_range(p.as<Parameters>(), range); },
    .reduce = reduced,
    .restore = restore};

}  // namespace stereopsis::reduce
