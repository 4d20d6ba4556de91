#include "api/request_of.hpp"

#include "graph/region.hpp"
#include "stereopsis/arguments.hpp"
#include "stereopsis/rectification.hpp"

namespace stereopsis {

Request request_of(const Problem& p) {
  Request r;
  r.size = p.size;
  r.element = element_of(p.pixel_type);
  r.channels = p.channels;
  r.bit_depth = p.bit_depth;
  r.format = p.format;
  if (p.volumes.given) r.costs = element_of(*p.volumes.given);
  r.without_images = p.volumes.without_images;
  if (const RectificationMaps* maps = p.geometry.rectification.get())
    r.rectification = {maps->size(), {maps->left_complete, maps->right_complete}};
  r.with_rows = p.row_alignment.has_value();
  r.range = p.range;
  r.region = p.region;
  // The right map of the region is moved by the alignment of the pair.
  if (p.region && p.want_right && r.with_rows)
    r.region = intersect(grow(*p.region, 0, RowAlignment::most_rows + 2), whole_image(r));
  if (const auto& s = p.stripe)
    r.stripe = {s->first_row,
                s->rows,
                s->above,
                s->below,
                s->follow == BoundaryStripe::Follow::down,
                s->follow == BoundaryStripe::Follow::up};
  r.refine_only = p.refine_only;
  r.constant = p.constant;
  for (std::size_t row = 0; row < output_table.size(); ++row)
    r.requested[index_of(output_binding(row))] = is_requested(p, output_table[row]);
  r.probes = p.volumes.probes;
  r.rig = p.geometry.rig;
  r.frame = p.geometry.frame;
  r.disparity_error = p.geometry.disparity_error;
  r.fill_depth = p.geometry.fill_depth;
  return r;
}

}  // namespace stereopsis
