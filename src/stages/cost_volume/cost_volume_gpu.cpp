#include "device/gpu/device.hpp"
#include "stages/cost/tile.hpp"
#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::cost_volume {
namespace {

template <class Kind>
constexpr const char* instance() {
  if constexpr (std::is_same_v<Kind, cost::Rank>)
    return "rank";
  else if constexpr (std::is_same_v<Kind, cost::Census<std::uint32_t>>)
    return "census32";
  else if constexpr (std::is_same_v<Kind, cost::Census<std::uint64_t>>)
    return "census64";
  else if constexpr (std::is_same_v<Kind, cost::Census<Word128>>)
    return "census128";
  else if constexpr (std::is_same_v<Kind, cost::CensusGradient>)
    return "census_gradient";
  else if constexpr (std::is_same_v<Kind, cost::AbsoluteDifference>)
    return "absolute_difference";
  else if constexpr (std::is_same_v<Kind, cost::SquaredDifference>)
    return "squared_difference";
  else
    return "colour_gradient";
}

}  // namespace

template <class Kind>
void gpu(const cost::Source<Kind, gpu::View>& source, int min_disparity, gpu::Volume<std::uint8_t> costs,
         gpu::Queue& queue) {
  check(source.kind);
  int parameters[4] = {}, replicates = 1, outside_colour = 0, outside_gradient = 0;
  if constexpr (std::is_same_v<Kind, cost::CensusGradient>) {
    parameters[0] = source.kind.census_weight;
    parameters[1] = source.kind.gradient_limit;
  } else if constexpr (std::is_same_v<Kind, cost::AbsoluteDifference>) {
    parameters[0] = source.kind.limit;
  } else if constexpr (std::is_same_v<Kind, cost::SquaredDifference>) {
    parameters[0] = source.kind.limit;
    parameters[1] = source.kind.factor();
  } else if constexpr (std::is_same_v<Kind, cost::ColourGradient>) {
    const auto& kind = source.kind;
    parameters[0] = kind.colour_factor;
    parameters[1] = kind.gradient_factor;
    parameters[2] = kind.colour_limit;
    parameters[3] = kind.gradient_limit;
    replicates = kind.replicates;
    outside_colour = static_cast<int>(kind.outside & 0xFFFFFF);
    outside_gradient = static_cast<int>(kind.outside >> 32);
  }
  queue.launch({"cost_volume", "cost_volume", instance<Kind>()}, cost::over_tiles(costs), source.left, source.right,
               costs.cells, costs.disparities, min_disparity, parameters[0], parameters[1], parameters[2],
               parameters[3], replicates, outside_colour, outside_gradient);
}

#define STEREOPSIS_INSTANCE(Kind) \
  template void gpu(const cost::Source<Kind, gpu::View>&, int, gpu::Volume<std::uint8_t>, gpu::Queue&);
STEREOPSIS_FOR_EACH_COST(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::cost_volume
