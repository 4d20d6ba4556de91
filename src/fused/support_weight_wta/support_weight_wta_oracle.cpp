#include "fused/support_weight_wta/support_weight_wta.hpp"

namespace stereopsis::support_weight_wta {
namespace {

void aggregate(const esaw::Parameters& p, const Input& in, VolumeView<const std::uint8_t> costs,
               VolumeView<std::uint16_t> aggregated) {
  Image<std::uint32_t> weights(esaw::weights_size(p, in.lab_left.size()));
  esaw::oracle_weights(p, in.lab_left, weights);
  esaw::oracle(p, weights, costs, aggregated);
}

void aggregate(const asw_separable::Parameters& p, const Input& in, VolumeView<const std::uint8_t> costs,
               VolumeView<std::uint16_t> aggregated) {
  asw_separable::oracle(p, in.lab_left, costs, aggregated);
}

void aggregate(const asw::Parameters& p, const Input& in, VolumeView<const std::uint8_t> costs,
               VolumeView<std::uint16_t> aggregated) {
  asw::oracle(p, in.lab_left, in.lab_right, in.select.min_disparity, costs, aggregated);
}

}  // namespace

void oracle(const Parameters& p, const Input& in, const wta::Output& out) {
  Volume<std::uint8_t> costs(in.rgb_left.size(), in.disparities);
  Volume<std::uint16_t> aggregated(in.rgb_left.size(), in.disparities);
  colour_difference::oracle(p.cost, in.rgb_left, in.rgb_right, in.select.min_disparity, costs);
  std::visit([&](const auto& stage) { aggregate(stage, in, costs, aggregated); }, p.aggregation);
  wta::oracle(p.select, in.select, aggregated, out);
}

}  // namespace stereopsis::support_weight_wta
