// The destinations of results: files in folders that are created on demand, and standard output.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stereopsis/io.hpp"

namespace stereopsis::command {

// Return and set whether missing folders of results are created; --no-create switches this off.
bool creates_folders();
void set_creates_folders(bool);

// Returns whether this path is a folder of results: one that exists or, if folders are created, a name without
// extension.
bool is_result_folder(const std::filesystem::path& path);
// Throws an Error for a file that could not be written, by a function that throws for a file in a folder that exists. If
// the folder is created later, the function is called for a file of the same name in the nearest folder that exists.
void check_result(const std::filesystem::path& file,
                  const std::function<void(const std::filesystem::path&)>& check = check_writable);
// Creates the missing folders of a file that is about to be written.
void create_folder_of(const std::filesystem::path& file);

// Returns the name under which messages show a result: `-` for the one that is piped, else the path.
std::string shown_name(const std::filesystem::path& file);

// Replaces the name `-` of an input by that of standard input.
void resolve_input(std::filesystem::path& file);

// Results named `-` are written to a temporary file in a folder of the process, and then to standard output. Meanwhile,
// text for people goes to standard error.
class PipedResult {
 public:
  PipedResult() = default;
  ~PipedResult();
  PipedResult(const PipedResult&) = delete;
  PipedResult& operator=(const PipedResult&) = delete;

  // Replaces `-` by the name of the temporary file, with the extension `format`. Throws an Error for a second `-`,
  // without a format, and if standard output is a terminal.
  void resolve(std::filesystem::path& file, const std::string& option, const std::string& format);
  bool used() const { return !file_.empty(); }
  // Throws an Error if a format is given and no result is named `-`.
  void check_use(const std::string& format) const;
  void deliver();

 private:
  std::filesystem::path file_;
};

}  // namespace stereopsis::command
