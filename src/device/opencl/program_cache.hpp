// Compiled OpenCL programs on disk, in $XDG_CACHE_HOME/stereopsis or ~/.cache/stereopsis.
//
// An entry holds the whole key that it was made for (source, options, device, driver) and a checksum of the program.
// One that is corrupt, or of another key, is as good as none. Whatever fails, fails silently: the program is built
// again.
#pragma once

#include <optional>
#include <string>

namespace stereopsis::opencl {

std::optional<std::string> load_program(const std::string& key);
void store_program(const std::string& key, const std::string& binary);

// Where the entry of a key is, empty where there is no place for a cache.
std::string program_path(const std::string& key);

}  // namespace stereopsis::opencl
