// Lowers the slots of a pipeline to steps, from the input pair to the requested outputs.
#include "planning/lowering.hpp"

namespace stereopsis {
namespace {

// Adds the steps of a stage of the slot `prepare` that does not change the size of images.
Images prepared(Builder& b, const Images& full) {
  Images made = full;
  Maps none;
  for (const int view : {0, 1}) {
    Images images = full;
    Scope scope{images, none, b.context_of(b.request().range, images)};
    scope.context.from_right = view == 1;
    b.run(b.pipeline().prepare, scope);
    for (const auto& [name, values] : images.made)
      if (values[static_cast<std::size_t>(view)] != full.find(name, view))
        made.put(name, view, values[static_cast<std::size_t>(view)]);
  }
  const auto is_prepared = [&](const char* name) { return made.find(name, 0) != full.find(name, 0); };
  // Removes the luma of NV12, which is not prepared.
  if (is_prepared("image") && !is_prepared("grey")) made.made.erase("grey");
  return made;
}

}  // namespace

void lower(Builder& b) {
  const PipelineData& p = b.pipeline();
  const Request& request = b.request();
  if (!request.refine_only) check_combination(p, request);
  registry().with<BlackMask>().check_pipeline(p, request);
  Images full = lower_inputs(b);
  const Reduction* reduction = reduction_of(p);
  Images seen = reduction != nullptr                                   ? reduction->reduce(b, p.prepare, full)
                : p.prepare && p.prepare.facet<Reduction>() == nullptr ? prepared(b, full)
                                                                       : full;
  const DisparityRange range =
      reduction != nullptr ? reduction->range(p.prepare.parameters, request.range) : request.range;

  Maps paths;
  if (request.stripe) paths = lower_boundary(b, seen);
  if (request.stripe && request.stripe->follows()) return lower_paths(b, seen, paths);
  Maps maps = lower_maps(b, seen.size);
  maps.merge(paths);
  FirstPass first;
  if (p.second_pass && !request.refine_only) first = lower_first_pass(b, seen, range);
  if (!request.refine_only) lower_costs(b, seen, range, maps, first);
  lower_outputs(b, full, seen, range, maps, first);
}

}  // namespace stereopsis
