#include <algorithm>

#include "stages/learned_features/learned_features.hpp"

namespace stereopsis::learned_features {
namespace {

int activation(const Layer& layer, ImageView<const std::int16_t> before, int x, int y, int o) {
  int sum = layer.biases[o];
  for (int i = 0; i < layer.in; ++i)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) sum += layer.weight(o, i, dy, dx) * before(x + dx, y + dy, i);
  return std::clamp((sum + (1 << (layer.shift - 1))) >> layer.shift, layer.low, 127);
}

}  // namespace

void oracle(const Network& network, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features) {
  // Each layer is computed with the margin that the later layers need, so the border shrinks by one pixel per layer.
  int border = network.radius();
  Image<std::int16_t> before(Size{grey.width + 2 * border, grey.height + 2 * border});
  for (int y = 0; y < before.height(); ++y)
    for (int x = 0; x < before.width(); ++x)
      before(x, y) = static_cast<std::int16_t>(grey.clamped(x - border, y - border) - 128);
  for (const Layer& layer : network.layers) {
    --border;
    Image<std::int16_t> after(Size{grey.width + 2 * border, grey.height + 2 * border}, layer.out);
    for (int y = 0; y < after.height(); ++y)
      for (int x = 0; x < after.width(); ++x)
        for (int o = 0; o < layer.out; ++o)
          after(x, y, o) = static_cast<std::int16_t>(activation(layer, before, x + 1, y + 1, o));
    before = std::move(after);
  }
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x)
      for (int o = 0; o < network.components(); ++o) features(x, y, o) = static_cast<std::int8_t>(before(x, y, o));
}

void cost_oracle(const Parameters& p, ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
                 int min_disparity, VolumeView<std::uint8_t> costs) {
  const Network& network = p.weights.network();
  Image<std::int8_t> of_left(left.size(), network.components()), of_right(right.size(), network.components());
  oracle(network, left, of_left);
  oracle(network, right, of_right);
  const CostOfDot cost(p);
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x)
      for (int k = 0; k < costs.disparities; ++k) {
        const int other = std::clamp(x - min_disparity - k, 0, right.width - 1);
        int dot = 0;
        for (int i = 0; i < network.components(); ++i) dot += of_left(x, y, i) * of_right(other, y, i);
        costs(x, y, k) = static_cast<std::uint8_t>(cost(dot));
      }
}

}  // namespace stereopsis::learned_features
