// The destinations of results: files in folders that are created on demand, and standard output.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "stereopsis/io.hpp"

namespace stereopsis::command {

// Return and set whether missing folders of results are created; --no-create switches this off.
bool creates_folders();
void set_creates_folders(bool);

// The functions of jobs/folders.hpp with this setting, and with the names that sentences show.
bool is_result_folder(const std::filesystem::path& path);
void check_result(const std::filesystem::path& file,
                  const std::function<void(const std::filesystem::path&)>& check = check_writable);
void check_output(const std::filesystem::path& file, std::span<const char* const> extensions,
                  const std::string& option);
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
  const std::filesystem::path& file() const { return file_; }
  // Throws an Error if a format is given and no result is named `-`.
  void check_use(const std::string& format) const;
  void deliver();

 private:
  std::filesystem::path file_;
};

}  // namespace stereopsis::command
