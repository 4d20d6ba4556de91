// Adds the steps that mark pixels without contrast, and the windows of these pixels to the required input.
#include <algorithm>

#include "graph/builder.hpp"
#include "graph/region.hpp"
#include "stages/contrast/contrast.hpp"

namespace stereopsis::contrast {

// The luma of NV12 is compared alone, because the method may not need the colours.
void mark_maps(Builder& b, Images& full, const Maps& maps, int factor, int first_row) {
  const char* const name = b.request().format == PixelFormat::nv12 ? "grey" : "image";
  b.add(registry().with<FlatMarks>(), Parameters{factor, first_row}, {},
        {{"image", b.need(full, name, 0)}, {"validity", maps.at("validity")}});
}

// The windows are those of the pixels whose validity is read: of the region, or of the required input of its confidence.
Rect with_windows(const PipelineData& p, const Request& request, const Rect& r) {
  const int f = reduction_factor(p);
  const Rect blocks = aligned(*request.region, f);
  Rect read{blocks.x / f, blocks.y / f, blocks.width / f, blocks.height / f};
  if (rates_pixels(p, request)) read = p.confidence.entry->required_input(p.confidence.parameters, read);
  const Rect windows = grow({read.x * f, read.y * f, read.width * f, read.height * f}, reach, reach);
  const int x = std::min(r.x, windows.x), y = std::min(r.y, windows.y);
  const int right = std::max(r.x + r.width, windows.x + windows.width),
            bottom = std::max(r.y + r.height, windows.y + windows.height);
  return intersect(aligned({x, y, right - x, bottom - y}, f), whole_image(request));
}

}  // namespace stereopsis::contrast
