// Learned features on the tensor cores, with all layers at once. A block keeps the planes between the layers in shared
// memory. A layer consists of nine products, one per tap. A factor with 16 adjacent pixels and their input channels is
// multiplied by a factor with the weights from input channels to outputs. A warp holds all weights of a layer in
// registers, and processes every eighth run of 16 pixels.
#include "device/gpu/vocabulary.h"
#include "stages/learned_features/learned_features_cuda_problem.hpp"

using namespace stereopsis;
using namespace stereopsis::learned_features;

constexpr Tuning tuning = gpu::pick(tunings, gpu::compiled_capability);
constexpr int threads = tuning.threads, blocks = tuning.blocks;
constexpr int block_pitch = tuning.block_pitch, block_rows = tuning.block_rows, block_columns = tuning.block_columns();
consteval int plane_pixels(int layer) { return tuning.plane_pixels(layer); }

// Returns the position of 16 bytes, which are half of a pixel's channels. Eight adjacent pixels use eight different
// groups of banks.
template <int kChannels>
__device__ __forceinline__ int place_of(int pixel, int half) {
  if constexpr (kChannels == 16) return pixel * 16;
  return pixel * 32 + (half ^ (pixel >> 2 & 1)) * 16;
}

// Computes sums += inputs · weights, where the inputs are 16 pixels by kIn channels, and there are 8 outputs.
template <int kIn>
__device__ __forceinline__ void multiply(int (&sums)[4], const uint (&inputs)[kIn / 8],
                                         const uint (&weights)[kIn / 16]) {
  if constexpr (kIn == 32)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(inputs[0]), "r"(inputs[1]), "r"(inputs[2]), "r"(inputs[3]), "r"(weights[0]), "r"(weights[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(inputs[0]), "r"(inputs[1]), "r"(weights[0]));
}

// Loads the channels of the 16 pixels from `first` on, in the order that multiply() requires.
template <int kIn>
__device__ __forceinline__ void load_inputs(uint (&inputs)[kIn / 8], uint plane, int first) {
  const int lane = threadIdx.x % warp, pixel = first + lane % 16;
  const uint from = plane + place_of<kIn>(pixel, lane / 16);
  if constexpr (kIn == 32)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(inputs[0]), "=r"(inputs[1]), "=r"(inputs[2]), "=r"(inputs[3])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(inputs[0]), "=r"(inputs[1])
                 : "r"(from)
                 : "memory");
}

// Packs four adjacent outputs, after shifting and clamping, into one byte each.
__device__ __forceinline__ uint packed(int a, int b, int c, int d, int shift, int low) {
  uint word;
  asm("{ .reg .u32 upper;\n\t"
      "cvt.pack.sat.s8.s32.b32 upper, %4, %3, 0;\n\t"
      "cvt.pack.sat.s8.s32.b32 %0, %2, %1, upper; }"
      : "=r"(word)
      : "r"(max(a >> shift, low)), "r"(max(b >> shift, low)), "r"(max(c >> shift, low)), "r"(max(d >> shift, low)));
  return word;
}

// The part of a layer that a lane has: the biases of its outputs, and the weights [tap][tile].
template <int kIn, int kOut, int kTaps>
struct Weights {
  int biases[kOut / 8][2];
  uint of[kTaps][kOut / 8][kIn / 16];

  __device__ __forceinline__ void load(const int* from) {
    from += threadIdx.x % warp;
#pragma unroll
    for (int j = 0; j < kOut / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e, from += warp) biases[j][e] = __ldg(from);
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap)
#pragma unroll
      for (int j = 0; j < kOut / 8; ++j)
#pragma unroll
        for (int r = 0; r < kIn / 16; ++r, from += warp) of[tap][j][r] = __ldg(from);
  }
  __device__ __forceinline__ void start(int (&sums)[kOut / 8][4]) const {
#pragma unroll
    for (int j = 0; j < kOut / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[j][i] = biases[j][i % 2];
  }
};

// Calls store(pixel, half of the channels, word) for the lane's part of the outputs of 16 pixels.
template <int kOut, class Store>
__device__ __forceinline__ void finish(const int (&sums)[kOut / 8][4], int first, int shift, int low, Store&& store) {
  const int pixel = first + threadIdx.x % warp / 4;
#pragma unroll
  for (int half = 0; half < kOut / 16; ++half)
#pragma unroll
    for (int below = 0; below < 2; ++below) {
      const int(&a)[4] = sums[2 * half], (&b)[4] = sums[2 * half + 1];
      store(pixel + 8 * below, half,
            packed(a[2 * below], a[2 * below + 1], b[2 * below], b[2 * below + 1], shift, low));
    }
}

// Computes the first layer. The channels of a pixel are the nine taps around it, and seven channels with weight 0.
template <int kOut, class Store>
__device__ __forceinline__ void first_layer(const int* from, const uchar* image, int shift, Store&& store) {
  Weights<16, kOut, 1> weights;
  weights.load(from);
  const int lane = threadIdx.x % warp;
  int offsets[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int tap = min(lane % 4 * 4 + i, 8);
    offsets[i] = tap / 3 * block_pitch + tap % 3;
  }
  constexpr int end = plane_pixels(1) - spare_pixels;
#pragma unroll 1
  for (int first = threadIdx.x / warp * 16; first < end; first += threads / warp * 16) {
    uint inputs[2] = {};
#pragma unroll
    for (int below = 0; below < 2; ++below)
#pragma unroll
      for (int i = 0; i < 4; ++i) inputs[below] |= (uint)image[first + lane / 4 + 8 * below + offsets[i]] << 8 * i;
    int sums[kOut / 8][4];
    weights.start(sums);
#pragma unroll
    for (int j = 0; j < kOut / 8; ++j) multiply<16>(sums[j], inputs, weights.of[0][j]);
    finish<kOut>(sums, first, shift, 0, store);
  }
}

// Computes layer number kLayer, from 1 on, from the plane of the previous layer.
template <int kLayer, int kIn, int kOut, class Store>
__device__ __forceinline__ void layer(const int* from, uint plane, int shift, Store&& store) {
  Weights<kIn, kOut, 9> weights;
  weights.load(from);
  constexpr int end = plane_pixels(kLayer + 1) - spare_pixels;
#pragma unroll 1
  for (int first = threadIdx.x / warp * 16; first < end; first += threads / warp * 16) {
    int sums[kOut / 8][4];
    weights.start(sums);
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      uint inputs[kIn / 8];
      load_inputs<kIn>(inputs, plane, first + tap / 3 * block_pitch + tap % 3);
#pragma unroll
      for (int j = 0; j < kOut / 8; ++j) multiply<kIn>(sums[j], inputs, weights.of[tap][j]);
    }
    finish<kOut>(sums, first, shift, kLayer == tuned_layers - 1 ? -127 : 0, store);
  }
}

// Loads the image with replicated borders, minus 128.
__device__ __forceinline__ void load_image(const Problem& p, int view, int first_x, int first_y, uchar* image) {
  const uchar* const grey = view == 0 ? p.grey[0] : p.grey[1];
  const long pitch = view == 0 ? p.grey_pitch[0] : p.grey_pitch[1];
  for (int i = threadIdx.x; i < plane_pixels(0) - spare_pixels; i += threads) {
    const int x = clamp(first_x - tuned_layers + i % block_pitch, 0, p.width - 1),
              y = clamp(first_y - tuned_layers + i / block_pitch, 0, p.height - 1);
    image[i] = grey[y * pitch + x] ^ 128;
  }
}

template <int kChannels>
__device__ __forceinline__ void features_of_block(const Problem& p) {
  extern __shared__ uint4 shared[];
  uchar* const planes[2] = {reinterpret_cast<uchar*>(shared),
                            reinterpret_cast<uchar*>(shared) + kChannels * plane_pixels(1)};
  uchar* const image = planes[1] + kChannels * plane_pixels(2);
  const int view = blockIdx.x / p.blocks_across;
  const int first_x = blockIdx.x % p.blocks_across * block_columns, first_y = blockIdx.y * block_rows;
  const int quarter = threadIdx.x % 4 * 4;
  const auto into = [&](uchar* plane) {
    return [=](int pixel, int half, uint word) {
      *reinterpret_cast<uint*>(plane + place_of<kChannels>(pixel, half) + quarter) = word;
    };
  };
  const auto at = [](uchar* plane) { return static_cast<uint>(__cvta_generic_to_shared(plane)); };
  load_image(p, view, first_x, first_y, image);
  __syncthreads();
  const int* weights = p.weights;
  first_layer<kChannels>(weights, image, p.shift[0], into(planes[0]));
  weights += tuned_words(1, kChannels);
  __syncthreads();
  layer<1, kChannels, kChannels>(weights, at(planes[0]), p.shift[1], into(planes[1]));
  weights += tuned_words(kChannels, kChannels);
  __syncthreads();
  layer<2, kChannels, kChannels>(weights, at(planes[1]), p.shift[2], into(planes[0]));
  weights += tuned_words(kChannels, kChannels);
  __syncthreads();
  signed char* const features = view == 0 ? p.features[0] : p.features[1];
  const long pitch = view == 0 ? p.features_pitch[0] : p.features_pitch[1];
  layer<3, kChannels, tuned_components>(weights, at(planes[0]), p.shift[3], [&](int pixel, int half, uint word) {
    const int column = pixel % block_pitch, x = first_x + column, y = first_y + pixel / block_pitch;
    if (column < block_columns && x < p.width && y < p.height)
      *reinterpret_cast<uint*>(features + y * pitch + x * tuned_components + half * 16 + quarter) = word;
  });
}

extern "C" __global__ void __launch_bounds__(threads, blocks) features_n16(Problem p) { features_of_block<16>(p); }
extern "C" __global__ void __launch_bounds__(threads, blocks) features_n32(Problem p) { features_of_block<32>(p); }
