#include <algorithm>

#include "device/gpu/device.hpp"
#include "stages/learned_features/learned_features.hpp"

namespace stereopsis::learned_features {
namespace {

// What a layer's values take, with a border around the image.
Size plane_of(Size size, int border) { return {size.width + 2 * border, size.height + 2 * border}; }
std::size_t plane_bytes(Size plane, int channels) {
  return static_cast<std::size_t>(plane.width) * plane.height * channels;
}

int most_channels(const Network& network) {
  int most = 1;
  for (const Layer& layer : network.layers) most = std::max(most, layer.out);
  return most;
}

}  // namespace

std::vector<std::int32_t> gpu_weights(const Network& network) {
  std::vector<std::int32_t> words;
  for (const Layer& layer : network.layers) {
    words.insert(words.end(), layer.biases.begin(), layer.biases.end());
    for (int i = 0; i < layer.in; ++i)
      for (int tap = 0; tap < 9; ++tap)
        for (int o = 0; o < layer.out; ++o) words.push_back(layer.weight(o, i, tap / 3 - 1, tap % 3 - 1));
  }
  return words;
}

std::size_t gpu_scratch_bytes(const Network& network, Size size) {
  return 2 * (plane_bytes(plane_of(size, network.radius()), most_channels(network)) + 256);
}

void gpu(const Network& network, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> grey,
         gpu::View<std::int8_t> features, gpu::Span scratch, gpu::Queue& queue) {
  int border = network.radius();
  const std::size_t bytes = plane_bytes(plane_of(grey.size(), border), most_channels(network));
  const gpu::Span places[] = {scratch.take(bytes), scratch.take(bytes)};
  const auto plane = [&](int i, int channels) {
    const Size size = plane_of(grey.size(), border);
    const auto start = places[i % 2].as<std::int8_t>();
    return gpu::View<std::int8_t>{start.memory, start.offset, size.width, size.height, channels, size.width * channels};
  };
  gpu::View<std::int8_t> before = plane(0, 1);
  queue.launch({"learned_features", "surround", "any"}, gpu::over(before.size()), grey, before, border);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    --border;
    const gpu::View<std::int8_t> after = border == 0 ? features : plane(static_cast<int>(i) + 1, layer.out);
    queue.launch({"learned_features", "layer", "any"}, gpu::over({after.width * layer.out, after.height}),
                 gpu::View<const std::int8_t>(before), weights, after, layer.in, layer.out, layer.shift, layer.low);
    weights.offset += layer.out * (1 + 9 * layer.in);
    before = after;
  }
}

}  // namespace stereopsis::learned_features
