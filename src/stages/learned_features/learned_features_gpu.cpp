#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/learned_features/learned_features.hpp"

namespace stereopsis::learned_features {
namespace {

constexpr int parts(int count, int size) { return (count + size - 1) / size; }

// What a layer's values take, with a border around the image.
Size plane_of(Size size, int border) { return {size.width + 2 * border, size.height + 2 * border}; }
std::size_t plane_bytes(Size plane, int channels) {
  return sizeof(std::int32_t) * plane.width * plane.height * groups_of(channels);
}

int most_channels(const Network& network) {
  int most = 1;
  for (const Layer& layer : network.layers) most = std::max(most, layer.out);
  return most;
}

// Four rows of 32 columns; for 32 columns, 8 outputs.
gpu::Grid over_layer(Size size, int out) {
  constexpr int tile_x = 32, tile_y = 4, outs = 8, outs_of_group = 32;  // of learned_features.cl
  return {parts(size.width, tile_x) * parts(out, outs_of_group), parts(size.height, tile_y),
          tile_x * parts(std::min(out, outs_of_group), outs), 1};
}

gpu::Grid over_costs(const gpu::Volume<std::uint8_t>& costs) {
  constexpr int pixels = 64, candidates = 32, items = 128;
  return {parts(costs.width, pixels) * parts(costs.disparities, candidates), costs.height, items, 1};
}

std::size_t features_bytes(const Network& network, Size size) { return plane_bytes(size, network.components()) + 256; }

}  // namespace

std::size_t gpu_scratch_bytes(const Network& network, Size size) {
  return 2 * (plane_bytes(plane_of(size, network.radius()), most_channels(network)) + 256);
}

void gpu(const Network& network, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> grey,
         gpu::View<std::int8_t> features, gpu::Span scratch, gpu::Queue& queue) {
  int border = network.radius();
  const std::size_t bytes = plane_bytes(plane_of(grey.size(), border), most_channels(network));
  const gpu::Span places[] = {scratch.take(bytes), scratch.take(bytes)};
  queue.launch({"learned_features", "surround", "any"}, gpu::over(plane_of(grey.size(), border)), grey,
               places[0].as<std::int32_t>(), border);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    const int in = groups_of(layer.in), out = 4 * groups_of(layer.out);
    const Size size = plane_of(grey.size(), --border);
    const auto start = places[(i + 1) % 2].as<std::int8_t>();
    const gpu::View<std::int8_t> plane{start.memory, start.offset, size.width, size.height, out, size.width * out};
    const gpu::View<std::int8_t> after = border == 0 ? features : plane;
    queue.launch({"learned_features", "layer", "any"}, over_layer(size, out),
                 gpu::Array<const std::int32_t>(places[i % 2].as<std::int32_t>()), weights, after, in, out,
                 after.channels, layer.shift, layer.low);
    weights.offset += out * (1 + 9 * in);
  }
}

std::size_t cost_gpu_scratch_bytes(const Network& network, Size size) {
  return 2 * features_bytes(network, size) + gpu_scratch_bytes(network, size);
}

void cost_gpu(const Parameters& p, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> left,
              gpu::View<const std::uint8_t> right, int min_disparity, gpu::Volume<std::uint8_t> costs,
              gpu::Span scratch, gpu::Queue& queue) {
  const Network& network = p.weights.network();
  const int groups = groups_of(network.components());
  const auto features = [&](gpu::View<const std::uint8_t> view) {
    const gpu::Span place = scratch.take(plane_bytes(view.size(), network.components()));
    return gpu::View<std::int8_t>{place.memory, place.offset, view.width,
                                  view.height,  4 * groups,   std::int64_t{4} * groups * view.width};
  };
  const gpu::View<std::int8_t> of_left = features(left), of_right = features(right);
  gpu(network, weights, left, of_left, scratch, queue);
  gpu(network, weights, right, of_right, scratch, queue);
  const auto words = [](const gpu::View<std::int8_t>& v) {
    return gpu::Array<const std::int32_t>{v.memory, v.offset / 4};
  };
  const CostOfDot cost(p);
  queue.launch({"learned_features", "costs", "any"}, over_costs(costs), words(of_left), words(of_right), costs.cells,
               costs.width, costs.height, groups, costs.disparities, min_disparity, cost.offset, cost.scale, cost.shift,
               cost.limit);
}

}  // namespace stereopsis::learned_features
