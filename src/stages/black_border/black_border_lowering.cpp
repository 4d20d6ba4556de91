// Adds the steps that mask black regions of the images as they are given.
#include "core/text.hpp"
#include "graph/builder.hpp"
#include "stages/black_border/black_border.hpp"

namespace stereopsis::black_border {
namespace {

// Returns the image of a view as it is given, without a crop. For NV12, this is the luma.
int whole_view(Builder& b, const Images& images, int view, const Rect& part) {
  const Request& request = b.request();
  for (const char* name : {"image", "channels", "mosaic", "luma"})
    if (const int value = images.find(name, view); value >= 0 && part.size() == request.size) return value;
  const int channels = request.format == PixelFormat::nv12 ? 1
                       : request.format                    ? channels_of(*request.format)
                                                           : request.channels;
  const int value = b.image(request.size, request.element, channels);
  b.bind(value, of_view(Binding::whole_left, view));
  return value;
}

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCategory::call, sentence); }

}  // namespace

// Also checks the members of ConstantRegions that apply to other stages.
void check(const PipelineData&, const Request& request) {
  const ConstantRegions& constant = request.constant;
  if (constant.black < 0 || constant.black > 255)
    refuse(text("Problem::constant.black is ", constant.black, "; it must be 0 to 255, in 8-bit units"));
  if (constant.mask_black && (request.refine_only || request.stripe))
    refuse(text("Problem::constant.mask_black requires whole images that are matched, but the problem has ",
                request.stripe ? "a stripe; pass masks of the stripe" : "refine_only; the given validity has the masks",
                ", and set mask_black to false"));
  if ((constant.mask_black || constant.mark_flat) && request.without_images)
    refuse(
        "Problem::constant requires images, but volumes.without_images is set; set constant.mask_black and "
        "constant.mark_flat to false");
}

void mask_view(Builder& b, Images& images, int view, const Rect& part) {
  const Request& request = b.request();
  const double white = request.element == Element::u16 ? (1 << request.bit_depth) - 1 : 255;
  const double darkest = request.format == PixelFormat::nv12 ? 16 : 0;  // luma of black
  const Parameters p{static_cast<float>(darkest + request.constant.black * white / 255), {part.x, part.y}};
  const int whole = whole_view(b, images, view, part), made = b.image(part.size(), Element::u8);
  b.add(registry().with<BlackMask>(), p, {}, {{"given", whole}, {"mask", images.find("mask", view)}}, {{"mask", made}});
  images.put("mask", view, made);
}

}  // namespace stereopsis::black_border
