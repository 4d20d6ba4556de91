// Says whether the kernels of the CPU run on this processor. The callers run the scalar oracles if not.
#pragma once

namespace stereopsis {

// Returns false only on a processor of x86-64 without SSE4.2, where a build whose compiler may use no SSE4.2 runs.
bool has_simd();

}  // namespace stereopsis
