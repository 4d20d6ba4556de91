// Makes files outlive a loss of power; file.cpp uses it. Everything here is specific to an operating system.
#pragma once

#include <cstdio>
#include <filesystem>

namespace stereopsis::io {

// Returns once the disk holds what was written to `stream`, which must be flushed. Returns 0 or an error number; a file
// system that cannot synchronise is no error.
int sync_file(std::FILE* stream);

// Does the same for the names in a folder, and ignores errors: the file itself is whole by then.
void sync_folder(const std::filesystem::path& folder);

}  // namespace stereopsis::io
