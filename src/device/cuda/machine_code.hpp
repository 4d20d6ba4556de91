// The portable kernels compiled by nvcc: one fat binary for each .cl file, which the build puts into the library.
#pragma once

#include <string_view>
#include <vector>

namespace stereopsis::cuda {

struct MachineCode {
  std::string_view file;  // rank
  const unsigned char* image;
};
const std::vector<MachineCode>& machine_code();

}  // namespace stereopsis::cuda
