// Learned costs and the costs of census with gradient, added cell by cell as they are computed. The result equals the
// composition of stages/learned_features, stages/census_gradient, stages/cost_volume and stages/sum, bit for bit. The
// stages write three volumes and read two; the fused step writes one and reads none. The CPU computes one row of
// features and of learned costs at a time.
//
// Cost: the cost of the learned costs, plus one population count per cell.
#pragma once

#include "device/gpu/view.hpp"
#include "stages/cost/cost.hpp"
#include "stages/learned_features/learned_features.hpp"
#include "stages/sum/sum.hpp"

namespace stereopsis::learned_sum {

struct Parameters {
  learned_features::Parameters learned;
  cost::CensusGradient plus;
  sum::Parameters sum;
};

// `T` is the type of the pixels. `scratch` holds at least cpu_scratch_bytes(), and starts at a multiple of 64 bytes.
std::size_t cpu_scratch_bytes(const Parameters&, Size, int disparities, int threads);
template <class T>
void cpu(const Parameters&, const std::array<ImageView<const std::uint8_t>, 2>& grey8,
         const std::array<ImageView<const T>, 2>& grey, int min_disparity, VolumeView<std::uint8_t> sums,
         std::span<std::byte> scratch, Threads&);

// `weights` comes from learned_features::gpu_weights(). `scratch` holds at least
// gpu_scratch_bytes().
std::size_t gpu_scratch_bytes(const Parameters&, Size);
template <class T>
void gpu(const Parameters&, gpu::Array<const std::int32_t> weights,
         const std::array<gpu::View<const std::uint8_t>, 2>& grey8, const std::array<gpu::View<const T>, 2>& grey,
         int min_disparity, gpu::Volume<std::uint8_t> sums, gpu::Span scratch, gpu::Queue&);

}  // namespace stereopsis::learned_sum
