// Given matching costs: a volume that comes with the pair replaces the computed costs.
//
// A cost of 65535 in 16 bits, and a cost that is infinite or NaN, marks an absent candidate. Aggregation and
// optimisation read 8-bit costs, which have no such value. Two steps therefore pass the absent candidates around these
// stages:
//
//   candidates(p) = 255 if p is usable and at least one of its costs is a candidate, else 0
//   holes         a pixel that the selection marks masked, although the pair's mask allows it, becomes no_candidate
//
// The selection reads `candidates` instead of the mask. A pixel without a candidate is therefore invalid, and no pixel
// of the right view gets its disparity from it.
//
// Input: 16-bit or float costs; the mask may be empty.
// Required input: the pixel alone.
// Cost: reads the costs of a pixel up to its first candidate.
#pragma once

#include <limits>
#include <type_traits>

#include "stages/shared/stage.hpp"

namespace stereopsis::volume {

struct Parameters {
  static constexpr const char* stage = "volume";
  double largest = 0;

  static void describe(auto& p, auto&& visit) {
    visit("largest", p.largest, between(0, 1e9),
          "largest possible cost: stages with 8-bit costs scale costs by it, and path costs are limited to it (the "
          "fastest kernels require at most 95); 0: the largest value of the integer type, or 1 for float");
  }
};

template <class T>
bool is_candidate(T cost) {
  if constexpr (std::is_same_v<T, float>)
    return cost < std::numeric_limits<float>::infinity();
  else
    return cost != 65535;
}

template <class T>
void candidates_oracle(VolumeView<const T> costs, ImageView<const std::uint8_t> mask,
                       ImageView<std::uint8_t> candidates);
template <class T>
void candidates_cpu(VolumeView<const T> costs, ImageView<const std::uint8_t> mask, ImageView<std::uint8_t> candidates,
                    Threads&);
template <class T>
void candidates_gpu(gpu::Volume<const T> costs, gpu::View<const std::uint8_t> mask, gpu::View<std::uint8_t> candidates,
                    gpu::Queue&);

void holes_oracle(ImageView<const std::uint8_t> mask, ImageView<std::uint8_t> validity);
void holes_cpu(ImageView<const std::uint8_t> mask, ImageView<std::uint8_t> validity, Threads&);
void holes_gpu(gpu::View<const std::uint8_t> mask, gpu::View<std::uint8_t> validity, gpu::Queue&);

#define STEREOPSIS_FOR_EACH_VOLUME_WITH_HOLES(INSTANCE) INSTANCE(std::uint16_t) INSTANCE(float)

}  // namespace stereopsis::volume
