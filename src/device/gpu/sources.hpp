// The source text of the portable kernels, which the build embeds in the library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stereopsis::gpu {

struct SourceFile {
  std::string_view path;  // path relative to src/
  std::string_view text;
};
const std::vector<SourceFile>& source_files();

struct Program {
  std::string source;   // source text with all includes inserted
  std::string options;  // constants of the instance, as -D… options
};
// Returns the program that OpenCL compiles for one instance of a kernel file.
Program program(std::string_view file, std::string_view instance);

}  // namespace stereopsis::gpu
