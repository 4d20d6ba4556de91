#include "stages/cost_volume/cost_volume.hpp"

namespace stereopsis::cost_volume {

template <class Kind>
void oracle(const cost::Source<Kind>& source, int min_disparity, VolumeView<std::uint8_t> costs) {
  check(source.kind);
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k)
        costs(x, y, k) = static_cast<std::uint8_t>(cost::evaluate(source, x, y, min_disparity + k));
}

#define STEREOPSIS_INSTANCE(Kind) template void oracle(const cost::Source<Kind>&, int, VolumeView<std::uint8_t>);
STEREOPSIS_FOR_EACH_COST(STEREOPSIS_INSTANCE)
#undef STEREOPSIS_INSTANCE

}  // namespace stereopsis::cost_volume
