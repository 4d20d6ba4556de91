// Learned features from a small convolutional network in 8-bit integers, with the same bits on every device.
//
//   a_0(x, y, 0) = I(x, y) − 128, I replicated beyond the image's borders
//   A_l(x, y, o) = b_l(o) + Σ w_l(o, i, dy, dx) · a_{l−1}(x + dx, y + dy, i)   over i and dx, dy from −1 to 1
//   a_l(x, y, o) = clamp((A_l(x, y, o) + 2^(s_l − 1)) >> s_l, low_l, 127)
//
// with low = 0, a ReLU, and −127 in the last layer. All layers are defined on the infinite plane, so that the only
// borders are those of the image. The network is our own, and the code for training is in training/. The matching cost
// of two pixels decreases with the dot product of their features:
//
//   C(p, d) = clamp((m · (B − ⟨f_left(p), f_right(p − d)⟩) + 2^(k + 3)) >> (k + 4), 0, limit)
//
// B, k and the limit are part of the weights; m is `scale` in units of 1/16. The cost of a candidate outside the right
// image is that of the nearest right pixel of the row.
//
// Input: 8-bit grey. Output: the last layer's channels, interleaved, signed 8 bits; the cost stage writes an 8-bit
// volume.
// Required input: as many pixels on each side as there are layers.
// Cost: 9 · Σ in · out multiply-adds per pixel, 28 thousand for 32 channels, and 32 per cell. parse() ensures that sums
// stay below 2^31.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters.hpp"
#include "device/gpu/view.hpp"
#include "stages/shared/convolution.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
namespace gpu {
struct Grid;
}
}  // namespace stereopsis

namespace stereopsis::learned_features {

using Layer = Convolution;

// The network, as stored by training/weights.py.
struct Network {
  std::vector<Layer> layers;
  int cost_offset, cost_shift, cost_limit;

  int radius() const { return static_cast<int>(layers.size()); }
  int components() const { return layers.back().out; }
};

// Throws Error(format) if the bytes are not a weights file, are damaged, or are of another version.
Network parse(std::span<const std::byte> file);

// Returns the weights in the order of the kernels. For each layer, the biases are followed by [tap][group of
// inputs][output], with channels padded to whole groups. For shapes that have a tuned kernel, all weights follow a
// second time in the order of that kernel.
std::vector<std::int32_t> gpu_weights(const Network&);

// A network, found by name: one of the library's own networks, which is parsed at first use, or a file.
class Weights {
 public:
  Weights() : Weights("learned32") {}
  // Throws Error(file) if the file cannot be read, and the errors of parse().
  explicit Weights(std::string_view name);

  const std::string& name() const { return name_; }
  const Network& network() const { return loaded().network; }
  const std::vector<std::int32_t>& on_gpu() const { return loaded().on_gpu; }

  static constexpr std::array<const char*, 2> known_names() { return {"learned32", "learned16"}; }
  static const char* allowed_names() { return "learned32, learned16, or a file that training/ wrote"; }

 private:
  struct Loaded {
    Network network;
    std::vector<std::int32_t> on_gpu;
  };
  static Loaded load(std::span<const std::byte> file);
  const Loaded& loaded() const;

  std::string name_;
  std::shared_ptr<const Loaded> of_file_;  // null for one of the library's own networks
};

struct Parameters {
  static constexpr const char* stage = "learned";
  Weights weights = {};
  int scale = 16;

  static void describe(auto& p, auto&& visit) {
    visit("weights", p.weights, any, "weights of the network: those of the library, or a file");
    visit("scale", p.scale, between(1, 64).in("sixteenths").planned(),
          "factor of the costs, applied before they are limited");
  }
};

// Converts dot products to costs.
struct CostOfDot {
  int offset, scale, shift, limit;

  explicit CostOfDot(const Parameters& p)
      : offset(p.weights.network().cost_offset),
        scale(p.scale),
        shift(p.weights.network().cost_shift + 4),
        limit(p.weights.network().cost_limit) {}
  int operator()(int dot) const {
    const int cost = ((offset - dot) * scale + (1 << (shift - 1))) >> shift;
    return cost < 0 ? 0 : cost > limit ? limit : cost;
  }
};

// Returns the number of operations for the features of all pixels in both views and for the costs of cells. The dot
// product of four bytes counts as one operation.
inline double operations(const Parameters& p, double pixels, double cells) {
  double products = 0;
  for (const Layer& layer : p.weights.network().layers) products += 9.0 * groups_of(layer.in) * layer.out;
  return 2 * pixels * products + cells * (groups_of(p.weights.network().components()) + 4);
}

inline Rect required_input(const Network& n, const Rect& output) { return grow(output, n.radius(), n.radius()); }

// `features` has as many channels as the network has outputs.
void oracle(const Network&, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features);

void cpu(const Network&, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features, Threads&);

// `weights` comes from gpu_weights(). Channels of `features` beyond the outputs of the network are set to 0. If
// `features` has a multiple of 4 channels, its rows must start at multiples of 4 bytes. `scratch` holds at least
// gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(const Network&, Size size);
void gpu(const Network&, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> grey,
         gpu::View<std::int8_t> features, gpu::Span scratch, gpu::Queue&);

// Computes the matching costs of the reference view's pixels from the 8-bit grey images of both views. `scratch` holds
// at least cost_scratch_bytes() and starts at a multiple of 64 bytes; on a GPU it holds features_scratch_bytes().
void cost_oracle(const Parameters&, ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
                 int min_disparity, VolumeView<std::uint8_t> costs);

std::size_t cost_scratch_bytes(const Network&, Size size, int disparities, int threads);
// Computes the costs row by row, so that neither features nor costs of more than a few rows are in memory at a time.
// The costs of row y are written to memory(thread, y), where there is room for width × disparities bytes. Then,
// take(thread, y) is called, if there is such a function.
struct CostRows {
  std::function<std::uint8_t*(int thread, int y)> memory;
  std::function<void(int thread, int y)> take;
};
void cost_rows_cpu(const Parameters&, ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
                   int min_disparity, int disparities, const CostRows&, std::span<std::byte> scratch, Threads&);
void cost_cpu(const Parameters&, ImageView<const std::uint8_t> left, ImageView<const std::uint8_t> right,
              int min_disparity, VolumeView<std::uint8_t> costs, std::span<std::byte> scratch, Threads&);

// Computes the features of both views, [y][x][group of channels], in the first part of `scratch`. Removes that part
// from `scratch`, which must hold at least features_scratch_bytes().
std::size_t features_scratch_bytes(const Network&, Size size);
std::array<gpu::Array<const std::int32_t>, 2> features_gpu(const Parameters&, gpu::Array<const std::int32_t> weights,
                                                           const std::array<gpu::View<const std::uint8_t>, 2>& grey,
                                                           gpu::Span& scratch, gpu::Queue&);
// The grid of kernels that compute a cost volume from the features: learned_features_dots.cl.h.
gpu::Grid over_costs(const gpu::Volume<std::uint8_t>&);
void cost_gpu(const Parameters&, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> left,
              gpu::View<const std::uint8_t> right, int min_disparity, gpu::Volume<std::uint8_t> costs,
              gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::learned_features
