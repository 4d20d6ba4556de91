// The kernels compiled by nvcc: a fat binary for each .cl file and for each variant of a .cu file, which the build puts
// into the library, packed by zstd: eight architectures' code differs little, and nvcc packs each by itself.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace stereopsis::cuda {

struct MachineCode {
  std::string_view file;  // rank
  std::span<const unsigned char> packed;
};
const std::vector<MachineCode>& machine_code();

// What the driver loads. Throws Error where the library has none for the file.
std::vector<unsigned char> fat_binary(std::string_view file);

// What kernels were compiled for: 90 is compute capability 9.0.
struct Architectures {
  std::vector<int> machine_code, ptx;

  // The one that a device of this capability runs; 0: none. Machine code serves within a major version, PTX from its own
  // on.
  int run_by(int capability) const {
    int best = 0;
    for (const int made_for : machine_code)
      if (made_for / 10 == capability / 10 && made_for <= capability) best = std::max(best, made_for);
    if (best > 0) return best;
    for (const int made_for : ptx)
      if (made_for <= capability) best = std::max(best, made_for);
    return best;
  }
};
const Architectures& portable_architectures();
const Architectures& tuned_architectures();  // 8.0 and later

}  // namespace stereopsis::cuda
