#include "command/result_files.hpp"

#include <fmt/core.h>
#include <fstream>

#include "command/interrupts.hpp"
#include "command/options.hpp"
#include "command/terminal.hpp"
#include "device/system/system.hpp"
#include "jobs/folders.hpp"

namespace stereopsis::command {
namespace {

namespace fs = std::filesystem;

bool creates = true;
fs::path piped;  // the temporary file of the result that is named `-`

// A folder that nobody else prepared: another user could put a link into one.
fs::path new_temporary_folder() {
  for (int i = 0;; ++i) {
    const fs::path folder = fs::temp_directory_path() / fmt::format("stereopsis-{}-{}", system::process_id(), i);
    if (fs::create_directory(folder)) return folder;
  }
}

}  // namespace

bool creates_folders() { return creates; }
void set_creates_folders(bool on) { creates = on; }

bool is_result_folder(const fs::path& path) { return jobs::is_result_folder(path, creates); }

void check_output(const fs::path& file, std::span<const char* const> extensions, const std::string& option) {
  jobs::check_extension(file, extensions, option);
  check_result(file);
}

void check_result(const fs::path& file, const std::function<void(const fs::path&)>& check) {
  jobs::check_result(file, shown_name(file), creates, check);
}

void create_folder_of(const fs::path& file) {
  if (!creates) return;
  if (const auto folder = jobs::create_folder_of(file)) detail("the folder {} was created", folder->string());
}

std::string shown_name(const fs::path& file) { return !file.empty() && file == piped ? "-" : file.string(); }

void resolve_input(fs::path& file) {
  if (file == "-") file = "/dev/stdin";
}

void PipedResult::resolve(fs::path& file, const std::string& option, const std::string& format) {
  if (file != "-") return;
  if (used())
    refuse(
        fmt::format("{} - is the second result for standard output, which can hold one; give it a file name", option));
  if (format.empty())
    refuse(fmt::format("{} - requires the format of the result; give it with --format, such as --format pfm", option));
  if (system::is_terminal(stdout))
    refuse(fmt::format("{} - writes binary data, and standard output is a terminal; redirect it to a file or a program",
                       option));
  file_ = new_temporary_folder() / ("result." + format);
  remove_if_interrupted(file_.parent_path());
  file = piped = file_;
  divert_text_to_stderr();
}

void PipedResult::check_use(const std::string& format) const {
  if (!format.empty() && !used())
    refuse(
        fmt::format("--format {} applies to a result whose name is -; other names have an extension, so leave "
                    "--format out",
                    format));
}

void PipedResult::deliver() {
  std::ifstream result(file_, std::ios::binary);
  for (std::string block(1 << 20, '\0'); used() && result.good();) {
    result.read(block.data(), static_cast<std::streamsize>(block.size()));
    write_data({block.data(), static_cast<std::size_t>(result.gcount())});
  }
}

PipedResult::~PipedResult() {
  std::error_code ignored;
  if (used()) fs::remove_all(file_.parent_path(), ignored);
}

}  // namespace stereopsis::command
