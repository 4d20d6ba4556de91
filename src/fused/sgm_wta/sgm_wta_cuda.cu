// Kernels of semi-global matching without a cost or sum volume, for disparities up to STEREOPSIS_RANGE.
// docs/notes/sgm-on-cuda.md describes their design and their limits.
//
// variant 64: STEREOPSIS_RANGE=64
// variant 128: STEREOPSIS_RANGE=128
// variant 256: STEREOPSIS_RANGE=256
// variant 512: STEREOPSIS_RANGE=512
// variant 1024: STEREOPSIS_RANGE=1024
#include "fused/sgm_wta/sgm_wta_cuda_borders.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_features.cuh"
#include "fused/sgm_wta/sgm_wta_cuda_tiles.cuh"

using namespace stereopsis::sgm_wta;

using T = Layout<STEREOPSIS_RANGE, tile_words(STEREOPSIS_RANGE)>;
template <int kPaths>
using Rank = Variant<RankCost, AllCosts, ConstantPenalty, kPaths, true>;
template <int kPaths>
using RankKept = Variant<RankCost, AllCosts, ConstantPenalty, kPaths, true, RankCost, true>;
template <int kPaths>
using RankPadded = Variant<RankCost, PaddedCosts, ConstantPenalty, kPaths>;
template <int kPaths>
using RankAdaptive = Variant<RankCost, PaddedCosts, GradientPenalty, kPaths>;
template <int kPaths>
using Volume = Variant<VolumeCost, AllCosts, ConstantPenalty, kPaths>;
using VolumeEarly8 = Variant<VolumeCost, AllCosts, ConstantPenalty, 8, true>;
template <int kPaths>
using VolumeAdaptive = Variant<VolumeCost, AllCosts, GradientPenalty, kPaths>;
// Census costs that fit in six bits, with as many disparities as the range. Early minima are faster if rows load little
// data.
using SixBitCensus4 = Variant<SixBitCost, AllCosts, ConstantPenalty, 4, (T::range < 256)>;
using SixBitCensus8 = Variant<SixBitCost, AllCosts, ConstantPenalty, 8, false, SixBitColumns>;

template <class V>
constexpr int blocks_of = border_form_of<V, T::range>.blocks();

extern "C" {

__global__ void __launch_bounds__(feature_threads) lay_out_rank_all(const __grid_constant__ Problem p, int slopes) {
  lay_out_rank<T>(p, slopes);
}
__global__ void __launch_bounds__(volume_threads<T>, volume_blocks) volume_census32(const __grid_constant__ Problem p) {
  fill_volume<T, Census32>(p);
}
__global__ void __launch_bounds__(volume_threads<T>, volume_blocks) volume_census64(const __grid_constant__ Problem p) {
  fill_volume<T, Census64>(p);
}
__global__ void __launch_bounds__(volume_threads<T>, volume_blocks)
    volume_census32_six(const __grid_constant__ Problem p) {
  fill_volume<T, Census32, true>(p);
}
__global__ void __launch_bounds__(volume_threads<T>, volume_blocks)
    volume_census64_six(const __grid_constant__ Problem p) {
  fill_volume<T, Census64, true>(p);
}
__global__ void __launch_bounds__(volume_threads<T>, volume_blocks)
    volume_census_gradient(const __grid_constant__ Problem p) {
  fill_volume<T, CensusGradient>(p);
}
__global__ void __launch_bounds__(volume_threads<T>, volume_blocks) volume_given(const __grid_constant__ Problem p) {
  order_given_costs<T>(p);
}
__global__ void __launch_bounds__(volume_threads<T>, volume_blocks) volume_given_six(const __grid_constant__ Problem p) {
  order_given_costs<T, true>(p);
}
__global__ void __launch_bounds__(256)
    penalties_all(const __grid_constant__ Problem p, const __grid_constant__ PenaltyTable table) {
  fill_penalties(p, table);
}
__global__ void right_all(const __grid_constant__ Problem p) { write_right(p); }

// Instantiates both passes under the names by which the host finds them.
#define STEREOPSIS_PASSES(name, V)                                      \
  __global__ void __launch_bounds__(32 * border_warps, blocks_of<V>)    \
      borders_##name(const __grid_constant__ Problem p) {               \
    follow_paths<T::range, V>(p);                                       \
  }                                                                     \
  __global__ void __launch_bounds__(tile_threads<T>, tile_blocks<T, V>) \
      tiles_##name(const __grid_constant__ Problem p) {                 \
    sum_and_select<T, V>(p);                                            \
  }
STEREOPSIS_PASSES(rank_4, Rank<4>)
STEREOPSIS_PASSES(rank_8, Rank<8>)
// Variants with bulk copies, which need compute capability 9.0.
#if (STEREOPSIS_RANGE == 128 || STEREOPSIS_RANGE == 256) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#if STEREOPSIS_RANGE == 256
STEREOPSIS_PASSES(rank_kept_4, RankKept<4>)
#endif
STEREOPSIS_PASSES(rank_kept_8, RankKept<8>)
#endif
STEREOPSIS_PASSES(rank_padded_4, RankPadded<4>)
STEREOPSIS_PASSES(rank_padded_8, RankPadded<8>)
STEREOPSIS_PASSES(rank_adaptive_4, RankAdaptive<4>)
STEREOPSIS_PASSES(rank_adaptive_8, RankAdaptive<8>)
STEREOPSIS_PASSES(volume_4, Volume<4>)
STEREOPSIS_PASSES(volume_8, Volume<8>)
STEREOPSIS_PASSES(six_bits_4, SixBitCensus4)
#if STEREOPSIS_RANGE >= 256
STEREOPSIS_PASSES(six_bits_8, SixBitCensus8)
#else
STEREOPSIS_PASSES(volume_early_8, VolumeEarly8)
#endif
STEREOPSIS_PASSES(volume_adaptive_4, VolumeAdaptive<4>)
STEREOPSIS_PASSES(volume_adaptive_8, VolumeAdaptive<8>)

}  // extern "C"
