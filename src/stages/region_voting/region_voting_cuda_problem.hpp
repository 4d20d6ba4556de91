// What the host and the tuned kernels agree on.
#pragma once

namespace stereopsis::region_voting {

inline constexpr int warps = 8;            // of a group
inline constexpr int tuned_groups = 1056;  // what an H100 has at work at a time
inline constexpr int tile = 16;            // pixels wide and high, of which it is known when one of them was filled

}  // namespace stereopsis::region_voting
