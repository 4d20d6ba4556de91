// Compiled OpenCL programs on disk, in $XDG_CACHE_HOME/stereopsis or ~/.cache/stereopsis.
//
// An entry holds the complete key that it was made for (source, options, device, driver) and a checksum of the program.
// A corrupt entry or one of another key is ignored. Every failure is silent: the program is built again.
#pragma once

#include <optional>
#include <string>

namespace stereopsis::opencl {

std::optional<std::string> load_program(const std::string& key);
void store_program(const std::string& key, const std::string& binary);

// Returns the path of a key's entry, or an empty string if there is no cache folder.
std::string program_path(const std::string& key);

}  // namespace stereopsis::opencl
