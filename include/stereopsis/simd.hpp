// Selects the SIMD instructions of the CPU that the process uses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stereopsis {

// Returns the SIMD targets that this CPU and this build of the library support, the best one first: avx512, avx2, sse4
// or neon. Returns an empty list if the build has no SIMD code, or if the CPU has no SSE4.2: the scalar oracles run then.
std::vector<std::string> simd_targets();

// Makes all matchers of the process use one of simd_targets(), or the best one for "auto". Results do not depend on the
// target. Call this function before plans are made, because the memory of a plan may depend on the target. Throws
// Error(call) for an unknown name, and Error(unsupported) for a target that this CPU or this build lacks.
void use_simd(std::string_view target);

}  // namespace stereopsis
