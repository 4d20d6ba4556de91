#include "device/cuda/machine_code.hpp"

#include <zstd.h>

#include "core/text.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::cuda {

std::vector<unsigned char> fat_binary(std::string_view file) {
  const auto& all = machine_code();
  const auto found = std::find_if(all.begin(), all.end(), [&](const MachineCode& code) { return code.file == file; });
  const char* fault = "no CUDA kernels for ";
  if (found != all.end()) {
    const auto packed = found->packed;
    fault = "damaged CUDA kernels for ";
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR) {
      std::vector<unsigned char> image(size);
      if (ZSTD_decompress(image.data(), image.size(), packed.data(), packed.size()) == image.size()) return image;
    }
  }
  throw Error(ErrorCategory::device,
              text("this build has ", fault, file, "; this is an error in the library, so report it"));
}

}  // namespace stereopsis::cuda
