// Compiled OpenCL programs on disk, in $XDG_CACHE_HOME/stereopsis or ~/.cache/stereopsis.
//
// An entry holds a checksum of the program, and the complete key (source, options, device, driver). Corrupt entries,
// and entries with another key, are ignored. Every failure is silent, because the program can be built again.
#pragma once

#include <optional>
#include <string>

namespace stereopsis::opencl {

std::optional<std::string> load_program(const std::string& key);
void store_program(const std::string& key, const std::string& binary);

// Returns the path of the entry for a key, or an empty string if there is no cache folder.
std::string program_path(const std::string& key);

}  // namespace stereopsis::opencl
