// Makes files survive a power loss, for file.cpp. Everything in this file is specific to an operating system.
#pragma once

#include <cstdio>
#include <filesystem>

namespace stereopsis::io {

// Returns once the disk holds everything written to `stream`, which must be flushed. Returns 0 or an error number; a
// file system that cannot synchronise is not an error.
int sync_file(std::FILE* stream);

// Does the same for the names in a folder, and ignores errors: the file's contents are already safe.
void sync_folder(const std::filesystem::path& folder);

}  // namespace stereopsis::io
