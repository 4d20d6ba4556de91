#include <algorithm>
#include <span>

#include "core/rounding.hpp"
#include "device/cuda/address.hpp"
#include "device/gpu/device.hpp"
#include "stages/learned_features/learned_features.hpp"
#include "stages/learned_features/learned_features_cuda_problem.hpp"

namespace stereopsis::learned_features {
namespace {

// Returns the size of a layer's values with a border around the image.
Size plane_of(Size size, int border) { return {size.width + 2 * border, size.height + 2 * border}; }
std::size_t plane_bytes(Size plane, int channels) {
  return sizeof(std::int32_t) * plane.width * plane.height * groups_of(channels);
}

int most_channels(const Network& network) {
  int most = 1;
  for (const Layer& layer : network.layers) most = std::max(most, layer.out);
  return most;
}

// A group computes 32 outputs for four rows of 32 columns. A work-item computes 8 outputs for the rows of its column.
gpu::Grid over_layer(Size size, int out) {
  constexpr int tile_x = 32, tile_y = 4, outs = 8, outs_of_group = 32;  // the same values as in learned_features.cl
  return {ceil_div(size.width, tile_x) * ceil_div(out, outs_of_group), ceil_div(size.height, tile_y),
          tile_x * outs_of_group / outs, 1};
}

std::size_t features_bytes(const Network& network, Size size) { return plane_bytes(size, network.components()) + 256; }

bool has_tuned_shape(const Network& network) {
  const auto& layers = network.layers;
  const int channels = layers[0].out;
  return layers.size() == tuned_layers && (channels == 16 || channels == 32) && layers[1].out == channels &&
         layers[2].out == channels && layers[3].out == tuned_components;
}

// Appends the weights of a layer in the order in which learned_features_cuda.cu reads them, with one word for each lane
// of a warp. Lane 4n + q has the outputs of column n of the weights, and columns 2q and 2q + 1 of the sums.
void add_tuned(const Layer& layer, std::vector<std::int32_t>& words) {
  const auto for_each_lane = [&](auto&& word_of) {
    for (int lane = 0; lane < warp; ++lane) words.push_back(word_of(lane / 4, lane % 4));
  };
  const int half = 1 << (layer.shift - 1), tiles = layer.out / 8;
  for (int j = 0; j < tiles; ++j)
    for (const int e : {0, 1}) for_each_lane([&](int, int q) { return layer.biases[output_of(j, 2 * q + e)] + half; });
  if (layer.in == 1) {
    for (int j = 0; j < tiles; ++j)
      for_each_lane([&](int n, int q) {
        return four_weights(4 * q, 9,
                            [&](int tap) { return layer.weight(output_of(j, n), 0, tap / 3 - 1, tap % 3 - 1); });
      });
    return;
  }
  for (int tap = 0; tap < 9; ++tap)
    for (int j = 0; j < tiles; ++j)
      for (int first = 0; first < layer.in; first += 16)
        for_each_lane([&](int n, int q) {
          return four_weights(first + 4 * q, layer.in,
                              [&](int i) { return layer.weight(output_of(j, n), i, tap / 3 - 1, tap % 3 - 1); });
        });
}

#ifdef STEREOPSIS_CUDA
std::int64_t portable_words(const Network& network) {
  std::int64_t words = 0;
  for (const Layer& layer : network.layers) words += words_of(layer.in, layer.out);
  return words;
}

using Greys = std::span<const gpu::View<const std::uint8_t>>;
using Features = std::span<const gpu::View<std::int8_t>>;

bool takes_tuned(const Network& network, Greys grey, Features features, const gpu::Queue& queue) {
  const auto fits = [](const gpu::View<std::int8_t>& v) {
    return v.channels == tuned_components && v.pitch % 4 == 0 && v.offset % 4 == 0;
  };
  return gpu::runs(tunings, queue.properties()) && has_tuned_shape(network) && std::ranges::all_of(features, fits) &&
         grey.front().size() == grey.back().size() &&
         ceil_div(grey.front().height, gpu::pick(tunings, queue.properties()).block_rows) <= gpu::most_cuda_groups_y;
}

// Computes the features of one view, or of both views at once.
void run_tuned(const Network& network, gpu::Array<const std::int32_t> weights, Greys grey, Features features,
               gpu::Queue& queue) {
  const Size size = grey.front().size();
  Problem problem{};
  for (std::size_t v = 0; v < grey.size(); ++v) {
    problem.grey[v] = address(grey[v]);
    problem.grey_pitch[v] = grey[v].pitch;
    problem.features[v] = address(features[v]);
    problem.features_pitch[v] = features[v].pitch;
  }
  problem.weights = address(weights) + portable_words(network);
  problem.width = size.width;
  problem.height = size.height;
  const Tuning& tuning = gpu::pick(tunings, queue.properties());
  problem.blocks_across = ceil_div(size.width, tuning.block_columns());
  for (int i = 0; i < tuned_layers; ++i) problem.shift[i] = network.layers[i].shift;
  const int channels = network.layers[0].out, local_bytes = tuning.shared_bytes(channels);
  queue.launch({.file = "learned_features_cuda",
                .name = "features",
                .instance = channels == 16 ? "n16" : "n32",
                .most_local_bytes = local_bytes},
               {problem.blocks_across * static_cast<int>(grey.size()), ceil_div(size.height, tuning.block_rows),
                tuning.threads, 1, local_bytes},
               problem);
}
#endif

}  // namespace

std::vector<std::int32_t> gpu_weights(const Network& network) {
  std::vector<std::int32_t> words;
  for (const Layer& layer : network.layers) append_words(layer, words);
  if (has_tuned_shape(network))
    for (const Layer& layer : network.layers) add_tuned(layer, words);
  return words;
}

std::size_t gpu_scratch_bytes(const Network& network, Size size) {
  return 2 * (plane_bytes(plane_of(size, network.radius()), most_channels(network)) + 256);
}

void gpu(const Network& network, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> grey,
         gpu::View<std::int8_t> features, gpu::Span scratch, gpu::Queue& queue) {
#ifdef STEREOPSIS_CUDA
  if (takes_tuned(network, {&grey, 1}, {&features, 1}, queue))
    return run_tuned(network, weights, {&grey, 1}, {&features, 1}, queue);
#endif
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

gpu::Grid over_costs(const gpu::Volume<std::uint8_t>& costs) {
  constexpr int pixels = 64, candidates = 32, items = 128;
  return {ceil_div(costs.width, pixels) * ceil_div(costs.disparities, candidates), costs.height, items, 1};
}

std::size_t features_scratch_bytes(const Network& network, Size size) {
  return 2 * features_bytes(network, size) + gpu_scratch_bytes(network, size);
}

std::array<gpu::Array<const std::int32_t>, 2> features_gpu(const Parameters& p, gpu::Array<const std::int32_t> weights,
                                                           const std::array<gpu::View<const std::uint8_t>, 2>& grey,
                                                           gpu::Span& scratch, gpu::Queue& queue) {
  const Network& network = p.weights.network();
  const int channels = 4 * groups_of(network.components());
  const auto place = [&](Size size) {
    const gpu::Span start = scratch.take(plane_bytes(size, network.components()));
    return gpu::View<std::int8_t>{start.memory, start.offset, size.width,
                                  size.height,  channels,     std::int64_t{channels} * size.width};
  };
  const gpu::View<std::int8_t> made[] = {place(grey[0].size()), place(grey[1].size())};
  const auto words = [](const gpu::View<std::int8_t>& v) {
    return gpu::Array<const std::int32_t>{v.memory, v.offset / 4};
  };
#ifdef STEREOPSIS_CUDA
  if (takes_tuned(network, grey, made, queue)) {
    run_tuned(network, weights, grey, made, queue);
    return {words(made[0]), words(made[1])};
  }
#endif
  for (const int view : {0, 1}) gpu(network, weights, grey[view], made[view], scratch, queue);
  return {words(made[0]), words(made[1])};
}

void cost_gpu(const Parameters& p, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> left,
              gpu::View<const std::uint8_t> right, int min_disparity, gpu::Volume<std::uint8_t> costs,
              gpu::Span scratch, gpu::Queue& queue) {
  const auto features = features_gpu(p, weights, {left, right}, scratch, queue);
  const CostOfDot cost(p);
  queue.launch({"learned_features", "costs", "any"}, over_costs(costs), features[0], features[1], costs.cells,
               costs.width, costs.height, groups_of(p.weights.network().components()), costs.disparities, min_disparity,
               cost.offset, cost.scale, cost.shift, cost.limit);
}

}  // namespace stereopsis::learned_features
