// Constants and arguments shared by the host code and the tuned CUDA kernels.
#pragma once

namespace stereopsis::region_voting {

inline constexpr int warps = 8;            // per group
inline constexpr int tuned_groups = 1056;  // number of groups that an H100 runs concurrently
inline constexpr int tile = 16;            // side of the tiles for which the kernel records whether a pixel was filled

}  // namespace stereopsis::region_voting
