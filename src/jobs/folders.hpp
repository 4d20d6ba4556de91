// The folders of results, which are created on demand.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "sources/frames.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis::jobs {

// Returns the extension in lower case, with its dot.
std::string extension_of(const std::filesystem::path& file);

// Returns whether this path is a folder of results: one that exists or, if missing folders are created (`creates`), a
// name without extension.
bool is_result_folder(const std::filesystem::path& path, bool creates);

// Returns whether the name of an output has a *, which stands for the name of a frame's results.
bool has_star(const std::filesystem::path& given);

// Returns the output file of frame i. For a sequence, `given` is a pattern with %d or *, or a directory in which the
// file gets the stem of the left file and `extension`. `name` is that of the output in errors.
std::filesystem::path output_file(const std::filesystem::path& given, const sources::Frames& left, std::size_t i,
                                  const std::string& extension, const std::string& name, bool creates);

// Throws an Error for a file name with another extension, and as io::check_can_write. `name` is that of the output in
// errors.
void check_extension(const std::filesystem::path& file, std::span<const char* const> extensions,
                     const std::string& name);

// Throws an Error for a file that could not be written, by a function that throws for a file in a folder that exists. If
// the folder is created later, the function is called for a file of the same name in the nearest folder that exists.
// Sentences name the file as `shown`.
void check_result(const std::filesystem::path& file, const std::string& shown, bool creates,
                  const std::function<void(const std::filesystem::path&)>& check = check_writable);

// Creates the missing folders of a file that is about to be written. Returns the folder, if it did not exist.
std::optional<std::filesystem::path> create_folder_of(const std::filesystem::path& file);

}  // namespace stereopsis::jobs
