// Learned features: a small network of convolutions in 8-bit integers, the same on every device to the last bit.
//
//   a_0(x, y, 0) = I(x, y) − 128, I replicated beyond the image's borders
//   A_l(x, y, o) = b_l(o) + Σ w_l(o, i, dy, dx) · a_{l−1}(x + dx, y + dy, i)   over i and dx, dy from −1 to 1
//   a_l(x, y, o) = clamp((A_l(x, y, o) + 2^(s_l − 1)) >> s_l, low_l, 127)
//
// with low = 0, a ReLU, and −127 in the last layer. All layers are defined on the whole plane: borders are those of the image
// alone. The matching cost of two pixels is clamp((B − ⟨f_left, f_right⟩ + 2^(k − 1)) >> k, 0, limit). Ours; the training is in
// training/.
//
// Input: grey, 8 bits. Output: the last layer's channels interleaved, 8 bits with sign.
// Required input: as many pixels around as there are layers.
// Cost: 9 · Σ in · out multiplications and additions a pixel, 28 thousand for 32 channels: sums stay below 2^31, as parse()
// makes sure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/gpu/view.hpp"
#include "stereopsis/image.hpp"

namespace stereopsis {
class Threads;
}

namespace stereopsis::learned_features {

struct Layer {
  int in, out, shift, low;
  std::vector<std::int8_t> weights;  // [out][in][3][3]
  std::vector<std::int32_t> biases;  // [out]

  int weight(int o, int i, int dy, int dx) const { return weights[((o * in + i) * 3 + dy + 1) * 3 + dx + 1]; }
};

// As training/weights.py writes it.
struct Network {
  std::vector<Layer> layers;
  int cost_offset, cost_shift, cost_limit;

  int radius() const { return static_cast<int>(layers.size()); }
  int components() const { return layers.back().out; }
};

// Throws Error(format) for what is no file of weights, damaged, or of another version.
Network parse(std::span<const std::byte> file);

inline Rect required_input(const Network& n, const Rect& output) { return grow(output, n.radius(), n.radius()); }

// `features` has as many channels as the network has components.
void oracle(const Network&, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features);

void cpu(const Network&, ImageView<const std::uint8_t> grey, ImageView<std::int8_t> features, Threads&);

// The weights as kernels read them, and where they are on the device: `weights` holds all layers' biases and weights in
// 32-bit numbers, weights last[in][3][3][out]. `scratch` holds at least gpu_scratch_bytes().
std::vector<std::int32_t> gpu_weights(const Network&);
std::size_t gpu_scratch_bytes(const Network&, Size size);
void gpu(const Network&, gpu::Array<const std::int32_t> weights, gpu::View<const std::uint8_t> grey,
         gpu::View<std::int8_t> features, gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::learned_features
