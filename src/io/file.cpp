#include "io/file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "core/memory_text.hpp"
#include "device/system/system.hpp"
#include "stereopsis/io.hpp"

namespace stereopsis {
namespace io {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File open(const fs::path& file, const char* mode) { return File(system::open_file(file, mode)); }

[[noreturn]] void fail(const fs::path& file, const char* what, int code = errno) {
  throw Error(ErrorCategory::file, text(file.string(), " cannot be ", what, ": ", std::strerror(code)));
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

void check_target(const fs::path& given) {
  std::error_code ignored;
  if (const auto status = fs::status(given, ignored); ignored && status.type() == fs::file_type::none)
    fail(given, "written", ignored.value());
  const fs::path file = follow_links(given);
  if (file.empty()) throw Error(ErrorCategory::call, "the name of the file to write is empty; give a file name");
  if (!file.has_filename() || fs::is_directory(file, ignored))
    throw Error(ErrorCategory::file, text(file.string(), " is a folder; give the name of a file"));
  if (!fs::is_directory(folder_of(file), ignored))
    throw Error(ErrorCategory::file, text(file.string(), " cannot be written, because there is no folder ",
                                          folder_of(file).string(), "; create it first"));
  if (fs::is_regular_file(file, ignored) && !open(file, "ab")) fail(file, "written");
}

bool replaceable(const fs::path& file) {
  std::error_code ignored;
  return !fs::exists(file, ignored) || fs::is_regular_file(file, ignored);
}

constexpr int most_temporaries = 1000;
constexpr std::string_view ending = ".tmp";

// Returns the n-th candidate for the name of the temporary file next to the target:
// ".NAME.HOST.PROCESS.NUMBER.tmp" and the extension, if the writer needs one.
fs::path temporary_name(const fs::path& target, int n, std::string_view extension) {
  return name_beside(target, text('.', system::host_name(), '.', system::process_id(), '.', n, ending, extension));
}

// Removes ".NUMBER" from the end of a name. Returns the number, or −1 if the name ends in another way.
long long take_number(std::string_view& name) {
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  long long number = -1;
  const char *const first = name.data() + std::min(dot + 1, name.size()), *const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(first, last, number);
  name = name.substr(0, dot);
  return error == std::errc() && end == last ? number : -1;
}

// Returns the process of this machine that made a temporary file; 0 for other files.
long long process_of(std::string_view name) {
  if (!name.starts_with('.')) return 0;
  if (!name.ends_with(ending)) name = name.substr(0, name.rfind('.'));  // the extension that a writer needs
  if (!name.ends_with(ending)) return 0;
  name.remove_suffix(ending.size());
  const long long number = take_number(name), process = take_number(name);
  return number >= 0 && process > 0 && name.ends_with('.' + system::host_name()) ? process : 0;
}

// The temporary files that exist. A thread must hold the lock while it creates, renames or removes such a file.
struct Temporaries {
  std::mutex mutex;
  std::set<fs::path> names;
};
Temporaries& temporaries() {
  static auto* const all = new Temporaries;  // the object is never destroyed, because threads may outlive main()
  return *all;
}

// Creates a file next to the target, under a new name.
std::pair<fs::path, File> new_temporary(const fs::path& target, std::string_view extension = "") {
  const std::lock_guard lock(temporaries().mutex);
  for (int n = 0;; ++n) {
    fs::path name = temporary_name(target, n, extension);
    if (File stream = open(name, "wbx")) {
      temporaries().names.insert(name);
      return {std::move(name), std::move(stream)};
    }
    if (errno != EEXIST || n == most_temporaries) fail(target, "written");
  }
}

// Renames a complete temporary file to the target, which keeps its permissions. Synchronises first, because a power
// loss could otherwise leave the new name without contents.
void replace(const fs::path& name, File stream, const fs::path& target) {
  if (const int code = system::sync_file(stream.get()); code != 0) fail(target, "written", code);
  if (std::fclose(stream.release()) != 0) fail(target, "written");
  std::error_code error;
  const fs::file_status old = fs::status(target, error);
  if (fs::exists(old)) fs::permissions(name, old.permissions(), error);
  const std::lock_guard lock(temporaries().mutex);
  fs::rename(name, target, error);
  if (error) fail(target, "written", error.value());
  temporaries().names.erase(name);
  system::sync_folder(folder_of(target));
}

// A new file next to the target. Unless it has been renamed to the target, the destructor removes it.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) : target_(target) { std::tie(name_, stream_) = new_temporary(target); }
  ~Temporary() {
    if (name_.empty()) return;
    std::error_code ignored;
    stream_.reset();
    const std::lock_guard lock(temporaries().mutex);
    fs::remove(name_, ignored);
    temporaries().names.erase(name_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  std::FILE* stream() { return stream_.get(); }

  void rename() {
    replace(name_, std::move(stream_), target_);
    name_.clear();
  }

 private:
  fs::path target_;
  fs::path name_;
  File stream_;
};

void grow(std::string& contents, std::size_t size, const fs::path& file) try {
  contents.resize(size);
} catch (const std::bad_alloc&) {
  throw Error(ErrorCategory::memory, text(file.string(), " does not fit in memory, because it needs ",
                                          needed_memory(size), "; use a smaller file"));
}

void write_all(std::FILE* stream, std::string_view contents, const fs::path& file) {
  if (std::fwrite(contents.data(), 1, contents.size(), stream) != contents.size() || std::fflush(stream) != 0)
    fail(file, "written");
}

}  // namespace

std::string read_file(const fs::path& file, std::uintmax_t limit) {
  std::error_code error;
  if (fs::is_directory(file, error))
    throw Error(ErrorCategory::file, text(file.string(), " is a folder; give the name of a file"));
  const File stream = open(file, "rb");
  if (!stream) fail(file, "opened");
  // A pipe has no size, and is read in blocks. Requesting one byte more than expected detects the end with a single
  // read.
  const std::uintmax_t size = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
  std::string contents;
  for (std::size_t filled = 0;;) {
    if (std::max<std::uintmax_t>(filled, size) > limit)
      throw Error(ErrorCategory::format, text(file.string(), " is larger than the ", limit,
                                              " bytes that such a file may have; check that this is the right file"));
    grow(contents, std::max<std::size_t>(2 * filled, std::max<std::size_t>(size, 65535) + 1), file);
    filled += std::fread(contents.data() + filled, 1, contents.size() - filled, stream.get());
    if (std::ferror(stream.get()) != 0) fail(file, "read");
    if (filled < contents.size()) {
      contents.resize(filled);
      return contents;
    }
  }
}

void write_file(const fs::path& file, std::string_view contents) {
  check_target(file);
  const fs::path target = follow_links(file);
  if (replaceable(target)) {
    Temporary temporary(target);
    write_all(temporary.stream(), contents, file);
    temporary.rename();
  } else {
    const File stream = open(target, "wb");
    if (!stream) fail(file, "written");
    write_all(stream.get(), contents, file);
  }
}

std::string lower_extension(const fs::path& file) {
  std::string extension = file.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

}  // namespace io

std::filesystem::path follow_links(const std::filesystem::path& file) {
  constexpr int longest_chain = 40;  // the limit of Linux; a longer chain of links is a cycle
  std::filesystem::path target = file;
  std::error_code error;
  for (int links = 0; links < longest_chain && std::filesystem::is_symlink(target, error); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) return file;
    target = target.parent_path() / next;  // if `next` is absolute, it replaces the whole path
  }
  return target;
}

std::filesystem::path name_beside(const std::filesystem::path& file, const std::string& ending) {
  constexpr std::size_t longest_name = 255;  // bytes, of the usual file systems
  std::string name = file.filename().string();
  if (name.size() + ending.size() + 1 > longest_name) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    name = text("stereopsis-", hash);
  }
  return io::folder_of(file) / text('.', name, ending);
}

std::filesystem::path unfinished_file(const std::filesystem::path& file) {
  io::check_target(file);
  return io::new_temporary(follow_links(file), file.extension().string()).first;
}

void finish_file(const std::filesystem::path& unfinished, const std::filesystem::path& file) {
  io::File stream = io::open(unfinished, "rb+");
  if (!stream) io::fail(file, "written");
  io::replace(unfinished, std::move(stream), follow_links(file));
}

void check_writable(const std::filesystem::path& file) {
  io::check_target(file);
  if (const auto target = follow_links(file); io::replaceable(target)) io::Temporary{target};
}

void abandon_writing() {
  io::temporaries().mutex.lock();  // never released
  std::error_code ignored;
  for (const std::filesystem::path& name : io::temporaries().names) std::filesystem::remove(name, ignored);
}

void remove_leftovers(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const std::filesystem::path& there :
       std::filesystem::directory_iterator(io::folder_of(follow_links(file)), ignored)) {
    const long long process = io::process_of(there.filename().string());
    if (process > 0 && !system::is_running(process)) std::filesystem::remove(there, ignored);
  }
}

void write_text(const std::filesystem::path& file, std::string_view contents) { io::write_file(file, contents); }

std::string read_text(const std::filesystem::path& file) {
  constexpr std::uintmax_t largest_text = 64 << 20;
  std::string text = io::read_file(file, largest_text);
  if (text.starts_with(io::byte_order_mark)) text.erase(0, io::byte_order_mark.size());
  return text;
}

}  // namespace stereopsis
