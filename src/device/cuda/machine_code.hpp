// The kernels compiled by nvcc: one fat binary for each .cl file and for each variant of a .cu file. The build packs
// the binaries into the library with zstd. nvcc packs each architecture separately, although the code of eight
// architectures differs little.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace stereopsis::cuda {

struct MachineCode {
  std::string_view file;  // file name without its suffix, such as rank
  std::span<const unsigned char> packed;
};
const std::vector<MachineCode>& machine_code();

// Returns a fat binary, which the driver can load. Throws Error if the library has no code for the file.
std::vector<unsigned char> fat_binary(std::string_view file);

// The architectures for which kernels were compiled; 90 is compute capability 9.0.
struct Architectures {
  std::vector<int> machine_code, ptx;

  // Returns the architecture whose code a device of this capability runs, or 0. Machine code runs on devices with the
  // same major version, PTX on its own version and later ones.
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
const Architectures& tuned_architectures();  // architectures of tuned kernels, 8.0 and later

}  // namespace stereopsis::cuda
